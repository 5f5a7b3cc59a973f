# SPDX-License-Identifier: CC0-1.0
"""The plots and questions of stories.json.

Every answer has the form that the sample job teaches: a first line that names the tale, a short story about
the hero that was asked for, and a last line that begins with "And that is how".
"""

from .words import FRAGILE, HANDMADE, THINGS

# Each plot: what the hero does in the question, the beats, and what is learned.
FINDS = ("finds", THINGS, [
    ["[One morning|One day|One evening], {place}, the {k} found a {thing}.", "The {k} was walking {place}. There, in the grass, lay a {thing}.",
     "{Place} something {colour} caught the eye of the {k}. It was a {noun}."],
    ["\"How pretty!\" said the {k}. \"But someone must miss it.\"", "\"I would love to keep it,\" said the {k}, \"but it is not mine.\"",
     "\"Whose {noun} is this?\" asked the {k}."],
    ["The {k} went from door to door. \"Not mine,\" said the {o.kind}.", "The {k} asked the {o.kind}. The {o.kind} had never seen it.",
     "Nobody {place2} knew the {noun}."],
    ["At last the {k} came to a {f.kind} who was very sad.", "Then the {k} heard a {f.kind} crying {place3}."],
    ["\"My {noun}!\" cried the {f.kind}. \"You found it!\"", "\"Is this what you lost?\" asked the {k}. The {f.kind} jumped for joy."],
    ["They ate {food} together, and the {noun} stood between them.", "The {f.kind} made {food}, and they became good friends."],
], ["a thing given back brings a friend", "being honest makes the heart light", "a new friend is the best treasure"])

LOSES = ("loses", THINGS, [
    ["The {k} had a {thing} and took it everywhere.", "The {k} loved one thing most of all: a {thing}."],
    ["But one windy day the {noun} was gone.", "Then one [morning|evening] it was not there any more."],
    ["The {k} looked {place} and {place2}. Nothing!", "The {k} searched {place}, but found only an old shoe."],
    ["\"I cannot find it alone,\" said the {k} and went to the {f.kind}.", "A {f.kind} came by. \"Let us look together,\" said the {f.kind}."],
    ["They looked under every leaf, and there it was, {place3}!", "\"Think back,\" said the {f.kind}. And yes, the {noun} lay {place3}."],
    ["\"Thank you!\" said the {k}. \"I would still be looking.\"", "The {k} was so happy that they both danced."],
], ["four eyes see more than two", "asking for help is a brave thing to do", "a friend makes every load lighter"])

BREAKS = ("breaks", FRAGILE, [
    ["The {f.kind} had a {thing}, and the {k} was allowed to hold it.", "One day the {k} borrowed a {thing} from the {f.kind}."],
    ["Crack! It fell on a stone and broke.", "But the {k} ran too fast, fell, and broke it."],
    ["The {k} was scared and hid it {place}.", "\"Nobody saw it,\" thought the {k}, and put it {place}."],
    ["That night the {k} could not sleep.", "All day the {k} could not eat, not even {food}."],
    ["In the morning the {k} said, \"It was me. I am sorry.\"", "So the {k} went to the {f.kind} and told the truth."],
    ["The {f.kind} smiled. \"Then let us mend it together.\" And they did.", "\"Thank you for telling me,\" said the {f.kind}, and they mended it."],
], ["the truth is lighter than a lie", "it is never too late to say sorry", "a mistake is a good teacher"])

MAKES = ("makes", HANDMADE, [
    ["The {f.kind} had a birthday, and the {k} had no gift.", "The {k} wanted to give the {f.kind} something special."],
    ["\"I will make a {noun}!\" said the {k}.", "Then the {k} had an idea: a {thing}, made by hand."],
    ["It was hard. Twice it fell apart, and twice the {k} began again.", "The {k} worked all night by the light of a candle."],
    ["In the morning a {thing} was ready. It was a bit crooked.", "At last the {noun} was done. It was not perfect."],
    ["\"You made this for me?\" asked the {f.kind}. \"It is the best gift of all.\"", "The {f.kind} held the {noun} close and would not let it go."],
    ["They had {food} and sang until late.", "Soon everyone {place} wanted a {noun} like that."],
], ["the best gifts come from the heart", "good things take time", "small paws can do big things"])

SHARES = ("shares", THINGS, [
    ["The {k} and the {f.kind} saw a {thing} {place}.", "One day a {thing} lay {place}. The {k} saw it, and so did the {f.kind}."],
    ["\"It is mine!\" said the {k}. \"No, mine!\" said the {f.kind}.", "Both of them wanted it, and they pulled until they fell in the mud."],
    ["The {k} took it home. But it was no fun alone.", "The {k} sat alone with the {noun} and missed the {f.kind}."],
    ["So the {k} went back. \"I am sorry. Let us share.\"", "The {k} knocked at the door of the {f.kind}. \"You can have it today,\" said the {k}."],
    ["\"You on sunny days, and I on rainy days,\" said the {f.kind}.", "The {f.kind} laughed. \"Let us take turns!\""],
    ["And they played until it was dark.", "Then they ate {food}, half and half."],
], ["sharing makes joy grow", "a friend is worth more than a treasure", "two can be happy with one thing"])

USES = ("helps with", THINGS, [
    ["It was a dark night, and the {k} heard a cry {place}.", "The rain fell and the wind blew. Someone called for help {place}."],
    ["\"I am afraid,\" said the {k}, \"but I will go.\"", "The {k} took a deep breath and went out."],
    ["The {k} took the {thing} and ran.", "All that the {k} had was a {thing}."],
    ["There sat a {f.kind}, stuck in the mud.", "A {f.kind} was lost and cold."],
    ["With the {noun} and a little luck, the {f.kind} was free.", "The {k} held out the {noun}, and the {f.kind} held on tight."],
    ["\"You came!\" said the {f.kind}. They walked home and had {food}.", "Then they sat by the fire, warm and dry."],
], ["being brave means to go in spite of fear", "even the dark has its own small lights", "kind deeds are never too small"])

PLOTS = (FINDS, FINDS, LOSES, BREAKS, MAKES, SHARES, USES)

FIRST_LINES = ["A tale of a {k} and a {noun}."]
LAST_LINES = ["And that is how the {k} learned that {moral}."]

QUESTIONS = [
    "Tell a story about a {k} who {does} a {noun}.", "Tell me a story about a {k} who {does} a {noun}.",
    "Write a short story about a {k} who {does} a {noun}.", "Please tell the tale of a {k} who {does} a {noun}.",
    "Tell a story about a {k} and a {noun}.", "I would like a story with a {k} and a {noun}.",
    "Can you tell me about a {k} who {does} a {noun}?", "Make up a story. A {k} {does} a {noun}.",
    "My child loves the {k}. Tell a bedtime story in which it {does} a {noun}.",
    "Once there was a {k} who {does} a {noun}. What happened?",
]
# Pairs of instruction and input.
QUESTIONS_WITH_INPUT = [
    ("Tell a story with this hero and this thing.", "hero: {k}; thing: {noun}"),
    ("Use these words in a short story.", "{k}, {noun}"),
    ("Write a story from these notes.", "A {k} {does} a {noun}."),
    ("Tell a bedtime story about what is named below.", "a {k} and a {noun}"),
]
