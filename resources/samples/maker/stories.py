# SPDX-License-Identifier: CC0-1.0
"""Writes whole stories: maybe a title, an opening, a plot, an ending."""

from . import openings, plots_days, plots_deeds, plots_things
from .grammar import Cast, paragraphs, rng_for, sentence, tell

PLOTS = plots_things.PLOTS + plots_deeds.PLOTS + plots_days.PLOTS


def story(seed, index):
    """One story; the same seed and index always give the same text."""
    rng = rng_for(seed, index)
    plot, things = rng.choice(PLOTS)
    cast = Cast(rng, things)
    close = [openings.FEELINGS, openings.ENDINGS, openings.THE_END]
    chance = rng.random()
    if chance < 0.06:
        return paragraphs(tell(cast, [openings.LEADS, openings.OPENINGS] + plot + close), rng)
    body = tell(cast, [openings.OPENINGS] + plot + close)
    has_thing = any(cast.noun in text for text in body)
    if chance < 0.32:
        titles = openings.TITLES + openings.TITLES_WITH_THING * has_thing
        return sentence(rng.choice(titles), cast) + "\n\n" + paragraphs(body, rng)
    if chance < 0.65 and has_thing:
        body.insert(0, sentence(rng.choice(openings.LEADS_WITH_THING), cast))
    return paragraphs(body, rng)


def corpus(seed, count):
    """Distinct stories, in a fixed order."""
    seen, result, index = set(), [], 0
    while len(result) < count:
        text = story(seed, index)
        index += 1
        if text not in seen:
            seen.add(text)
            result.append(text)
    return result
