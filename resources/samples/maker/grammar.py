# SPDX-License-Identifier: CC0-1.0
"""Turns plots into text.

A plot is a list of beats; a beat is a list of sentences to choose from. In a sentence
  [one|two|three]  picks one part, parts may hold further choices;
  {slot}           is filled from the cast of this story: {h} hero, {f} friend, {o} stranger,
                   {h.he} {h.him} {h.his} {h.kind} {h.name}, {thing}, {place}, ...
Sentence starts become capitals and `a` becomes `an` by themselves.
"""

import random
import re

from . import words

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{([a-z_0-9.]+)\}", re.IGNORECASE)


class Character:
    """One animal of a story: its kind, its name, its pronouns."""

    def __init__(self, kind, name, female):
        self.kind, self.name, self.kind_t = kind, name, kind.capitalize()
        self.he, self.him, self.his = ("she", "her", "her") if female else ("he", "him", "his")


class Cast:
    """Everything that stays the same within one story."""

    def __init__(self, rng, things):
        self.rng = rng
        self.known = set()
        kinds = rng.sample(words.ANIMALS, 3)
        girls, boys = rng.sample(words.SHE_NAMES, 3), rng.sample(words.HE_NAMES, 3)
        self.h, self.f, self.o = (
            Character(k, g if female else b, female)
            for k, g, b, female in zip(kinds, girls, boys, [rng.random() < 0.5 for _ in kinds]))
        # In some stories the hero has no name and is only called by kind.
        self.named = rng.random() < 0.75
        self.adjective = rng.choice(words.ADJECTIVES)
        self.noun, self.noun2 = (rng.choice(things), rng.choice(words.THINGS))
        colour, colour2 = rng.sample(words.THING_ADJECTIVES, 2)
        self.words = {
            "adj": self.adjective, "noun": self.noun, "noun2": self.noun2, "colour": colour,
            "thing": f"{colour} {self.noun}", "thing2": f"{colour2} {self.noun2}",
            "valley": rng.choice(words.VALLEYS), "home": rng.choice(words.HOMES),
            "moral": rng.choice(words.MORALS), "noun_t": self.noun.capitalize(),
        }
        self.words["place"], self.words["place2"], self.words["place3"] = rng.sample(words.PLACES, 3)
        self.words["food"], self.words["food2"] = rng.sample(words.FOODS, 2)

    def mention(self, who):
        """A hero is called by name or by kind, the others mostly by kind."""
        if who not in self.known:
            return self.intro(who)
        by_name = self.named and self.rng.random() < (0.7 if who is self.h else 0.3)
        return who.name if by_name else f"the {who.kind}"

    def intro(self, who):
        """First mention: a little fox named Bram. Later ones are short."""
        if who in self.known:
            return self.mention(who)
        self.known.add(who)
        adjective = self.adjective if who is self.h else self.rng.choice(words.ADJECTIVES)
        if not self.named:
            return f"a {adjective} {who.kind}"
        return self.rng.choice((f"a {adjective} {who.kind} named {who.name}",
                                f"a {who.kind} called {who.name}",
                                f"{who.name} the {who.kind}",
                                f"a {adjective} {who.kind} called {who.name}"))

    def slot(self, key):
        if key in self.words:
            return self.words[key]
        if key.lower() in self.words:
            text = self.words[key.lower()]
            return text[:1].upper() + text[1:]
        who, _, part = key.partition(".")
        capital = who.isupper()
        character = getattr(self, who.lower())
        if part == "intro":
            text = self.intro(character)
        else:
            text = getattr(character, part) if part else self.mention(character)
        return text[:1].upper() + text[1:] if capital else text


def choose(text, rng):
    """Resolves every [a|b], innermost first."""
    while True:
        match = _CHOICE.search(text)
        if not match:
            return text
        text = text[:match.start()] + rng.choice(match.group(1).split("|")) + text[match.end():]


def polish(text):
    """Capitals at sentence starts, a or an, single spaces."""
    text = re.sub(r"[ ]+", " ", text).strip()
    text = re.sub(r" ([.,!?])", r"\1", text)
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
    text = re.sub(r"(^\"?|[.!?] \"?|\.\" \"?|\n\"?)([a-z])", lambda m: m.group(1) + m.group(2).upper(), text)
    return text


def sentence(template, cast):
    text = choose(template, cast.rng)
    return polish(_SLOT.sub(lambda m: cast.slot(m.group(1)), text))


def tell(cast, beats):
    """A story's sentences, one chosen from every beat; an empty choice leaves the beat out."""
    return [s for s in (sentence(cast.rng.choice(beat), cast) for beat in beats) if s]


def paragraphs(sentences, rng):
    """Groups sentences into short paragraphs."""
    rows, row = [], []
    for text in sentences:
        row.append(text)
        if len(row) >= rng.choice((2, 3, 3, 4)):
            rows.append(" ".join(row))
            row = []
    if row:
        rows.append(" ".join(row))
    return "\n".join(rows)


def rng_for(seed, index):
    """An own random stream for every story, so that one changed story does not move the others."""
    return random.Random(f"{seed}/{index}")
