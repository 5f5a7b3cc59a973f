# SPDX-License-Identifier: CC0-1.0
"""Titles, first sentences and last sentences that fit every plot."""

TITLES = [
    "{h.kind_t} and {f.kind_t}", "The {h.kind_t} and the {f.kind_t}", "{h.name} and {f.name}",
    "The {h.kind_t}", "A day in {valley}",
]

TITLES_WITH_THING = ["The {h.kind_t} and the {noun_t}", "The {noun_t}", "The {colour} {noun}", "A {noun} for {f.name}"]

LEADS = [
    "This is the story of {h.intro} and a {thing}.", "Listen to the story of the {h.kind} and the {f.kind}.",
    "Here is a story about {h.intro}.",
]
# These name both hero and thing, so that the model learns to keep to what was said before the story.
LEADS_WITH_THING = [
    "This is a story about a {h.kind} and a {noun}.", "A story about a {h.kind} and a {noun}.",
    "Tonight's story has a {h.kind} and a {noun} in it.", "Do you know the story of the {h.kind} and the {noun}?",
    "The story of a {h.kind} who had a {noun}.", "\"Tell me a story about a {h.kind} and a {noun},\" said the little one.",
    "This story is about a {h.kind}. There is also a {noun} in it.", "The {o.kind} told this story about a {h.kind} and a {noun}.",
    "Once I heard about a {h.kind} and a {noun}.", "A {h.kind}, a {noun}, and a friend: that is our story.",
]

OPENINGS = [
    "Once upon a time, there [was|lived] {h.intro}. [{H.he} lived in {home}.|{H.he} lived in {home} in {valley}.|]",
    "Once upon a time, {h.intro} lived in {home}[ {place}|].",
    "Once upon a time, in {valley}, there [was|lived] {h.intro}.",
    "Once upon a time there was {h.intro} who loved [{food}|long walks|to sing|to help|quiet days|rainy days].",
    "In {valley} there lived {h.intro}. [{H.he} had a friend, a {f.kind} named {f.name}.|Everyone there knew {h.him}.|]",
    "Long ago, when [the hills were young|the winters were long|the trees were small], {h.intro} lived in {home}.",
    "There was once {h.intro}, who [lived in {home}|was a friend to all|had {food} every morning].",
    "One [bright|cold|windy|misty|warm|quiet] [morning|day|evening], {h.intro} [woke up early|went for a walk|looked out of the window].",
    "It was a [warm|cold|grey|sunny|snowy] day in {valley}. {H.intro} [was sweeping the floor|sat in the grass|was making {food}].",
    "{H.intro} lived in {home} with [two brothers|an old aunt|a big family|a very loud clock].",
    "[On a hill|Near a river|Beyond the woods], in {home}, lived {h.intro}.",
    "\"What a [fine|lovely|strange] day!\" said {h.intro}, and {h.he} [stepped outside|opened the door|jumped out of bed].",
]

FEELINGS = [
    "", "", "", "{h} felt [happy|proud|warm inside|very glad|light as a feather].",
    "{h} [laughed|smiled] and [danced in a circle|clapped {h.his} paws|hugged {f}].",
    "Never had {h} been so [happy|proud|glad].",
]

ENDINGS = [
    "From that day on, {h} [knew|remembered|never forgot] that {moral}.",
    "That night {h} [fell asleep|went to bed|lay down] with a smile[, for {moral}|].",
    "And they [shared|ate] {food} together until the [stars came out|sun went down|moon rose].",
    "{h} and {f} were [best friends|good friends] from then on.",
    "\"[You see|Now I know],\" said {h}, \"{moral}.\"",
    "\"[Remember|You see],\" said {f}, \"{moral}.\" And {h} [never forgot it|nodded|smiled].",
    "And if you go to {valley}, you may [still see them there|still hear them laugh|meet them one day].",
    "Then they all went home, [tired and happy|full of {food}|singing all the way].",
    "[At home|Back home], {h} [made {food}|lit a small fire] and [told everyone the story|thought about the day|slept very well].",
    "{h} lived happily [ever after|for many years] in {valley}.",
    "After that, {h} was never [lonely|sad|alone] again.",
    "The [stars|moon] shone over {valley}, and all was well.",
]
THE_END = ["", "", "", "The end."]
