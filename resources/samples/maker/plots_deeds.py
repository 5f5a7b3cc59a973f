# SPDX-License-Identifier: CC0-1.0
"""Plots about deeds: rescue, courage, storm, cooking, race."""

from .words import THINGS

STUCK = [
    ["One day {h} was walking {place}.", "{H} was on {h.his} way home from {valley}.", "{H} went out to get [water|wood|berries]."],
    ["\"Help! Help!\" called a [small|sad] voice.", "Suddenly {h.he} heard a cry.", "Then {h} heard someone [crying|calling]."],
    ["It was {f.intro}, stuck in [the mud|a hole|a bush full of thorns|an old net].",
     "{F.intro} had fallen into [a deep hole|the cold water|a muddy ditch].",
     "{Place2} sat {f.intro} with one foot under a [big stone|heavy branch]."],
    ["\"I cannot get out,\" said {f}.", "\"Please help me!\" cried {f}.", "\"Do not be afraid,\" said {h}. \"I am here.\""],
    ["{H} pulled and pulled, but {h.he} was [too small|not strong enough].", "{H} tried to help, but it was [too hard|no use].",
     "First {h} tried it alone. It did not work."],
    ["Then {h} [had an idea|saw a {noun}]. {H.he} ran home and got a [long rope|strong stick|big basket].",
     "\"Wait here,\" said {h}, and {h.he} ran to get the {o.kind}.", "\"I will be back soon,\" {h.he} said and ran to the {o.kind}."],
    ["Together they [counted|pulled]. One, two, three! And {f} was free.", "They pulled once more, and [out came {f}|{f} was free].",
     "Slowly, slowly, {f} came out."],
    ["\"Thank you,\" said {f}. \"You [saved me|are a true friend].\"", "{F} was wet and cold, so {h} gave {f.him} a {colour} scarf.",
     "{F} was so glad that {f.he} [cried a little|could not speak]."],
    ["{H} took {f} home and made {food}.", "The next day {f} brought a {thing} as a gift.", "\"If you ever need help, call me,\" said {f}.", ""],
]

AFRAID = [
    ["But {h} was afraid of [the dark|thunder|deep water|high places|loud noises].",
     "{H} had a secret. {H.he} was afraid of [the dark|the wind|big animals].",
     "Everyone thought {h} was brave, but at night {h.he} was afraid."],
    ["When the others played {place}, {h} stayed at home.", "{H.he} never went out in the evening.", "{H} hid under the blanket and held {h.his} {noun}."],
    ["One night {h.his} friend {f.name} the {f.kind} did not come home.", "One evening the {f.kind} was lost {place}.",
     "Then one night, {h} heard {f.intro} calling for help {place}."],
    ["\"Someone has to go,\" said the old {o.kind}.", "{H} looked out. It was very dark.", "{H.his} knees were shaking."],
    ["{H} took a {thing} and went out.", "\"I am afraid,\" said {h}, \"but I will go.\"", "{H} took a deep breath and opened the door."],
    ["The trees [creaked|whispered]. The wind was cold. {H} sang a little song.", "Step by step {h.he} went on.",
     "{H.he} heard a strange sound, but it was only [a leaf|the rain|an old gate]."],
    ["{Place2} {h.he} found {f}.", "There sat {f}, cold and scared.", "At last {h.he} saw {f} {place2}."],
    ["\"You came!\" said {f}. \"Were you not afraid?\" \"I was,\" said {h}, \"but you are my friend.\"",
     "\"I knew you would come,\" said {f}.", "{H} took {f} by the hand, and they walked home together."],
    ["On the way they saw [a thousand stars|the moon on the water|tiny lights in the grass]. \"The night is pretty,\" said {h}.",
     "When they came home, everyone cheered.", "And {h} saw that the dark was not so bad."],
]

STORM = [
    ["One night a big storm came. [The wind howled.|The rain fell and fell.|]", "Dark clouds came over {valley}. Then it began to [rain|snow].",
     "The wind grew stronger and stronger."],
    ["It blew the roof off {h.his} house.", "The water ran into {h.his} house.", "In the morning {h.his} house was broken."],
    ["\"Where shall I sleep now?\" said {h}.", "{H} was wet and sad.", "{H} saved only a {thing}."],
    ["{H.he} knocked at the door of the {o.kind}. \"My house is too small,\" said the {o.kind}.",
     "\"May I come in?\" {h.he} asked the {o.kind}. But the {o.kind} did not hear {h.him}.", "", ""],
    ["Then came {f.intro}. \"Come in,\" said {f}. \"There is room for two.\"", "{F.intro} opened the door. \"You are wet! Come to the fire.\"",
     "\"Stay with me,\" said {f.intro}."],
    ["{F} gave {h} {food} and a warm bed.", "They ate {food} and listened to the rain.", "All night they told stories."],
    ["The next day all the animals came to help.", "In the morning the sun came out. \"Let us build a new house,\" said {f}.",
     "When the storm was over, {f} called all the friends."],
    ["The {o.kind} brought wood. {F} brought stones. {H} made a door.", "They worked for three days.", "They sang and worked until it was done."],
    ["The new house was [even better|warm and dry]. It had a {colour} door.", "\"It is beautiful!\" said {h}.", "Soon {h} had a house again, with a {thing} above the door."],
]

COOK = [
    ["{H} wanted to make {food}.", "\"Today I will make {food},\" said {h}.", "{H} was hungry and wished for {food}."],
    ["But {h.he} had no [flour|honey|sugar|salt|pot].", "But the pot was empty.", "But something was missing. {H.he} had no [butter|honey|apples]."],
    ["{H.he} went to {f.intro}. \"Do you have some?\" {h.he} asked.", "{H} asked {f.intro} for help.", "\"Maybe {f.name} the {f.kind} can help,\" thought {h}."],
    ["\"I have a little,\" said {f}. \"May I come and eat with you?\"", "\"Yes,\" said {f}, \"but I have no spoon.\"", "\"Take what you need,\" said {f}."],
    ["On the way they met the {o.kind}. \"I have [nuts|berries|milk],\" said the {o.kind}. \"Can I come too?\"",
     "The {o.kind} heard it and brought [berries|a big pot|milk].", "Soon the {o.kind} came with a basket."],
    ["They [stirred|mixed] and [baked|cooked]. It smelled [wonderful|so good].", "{H} stirred, {f} made the fire, and the {o.kind} sang.",
     "There was flour on the floor, on the table, and on {h.his} nose."],
    ["But oh! The {food} was [burnt|too salty|too sweet].", "Then the cake fell on the floor. Everyone was quiet.", "", "", ""],
    ["\"It does not matter,\" said {f}, and they laughed[ and began again|].", "Everybody got a big piece.", "They sat {place} and ate it all."],
    ["\"It tastes better with friends,\" said {h}.", "There was even some left for the next day.", "\"We should do this every week,\" said the {o.kind}."],
]

RACE = [
    ["There was a race in {valley}. Everyone wanted to win the {thing}.", "\"Who is the fastest?\" asked the {o.kind}. \"Let us have a race!\"",
     "Every summer there was a race from the old oak to the river."],
    ["{H} wanted to win. {H.he} [ran every day|got up early to train].", "\"I will win,\" said {f.intro}. \"You are too slow, {h.kind}.\"",
     "\"I am not fast,\" said {h}, \"but I will try.\""],
    ["One, two, three, go! They all ran.", "The {o.kind} blew a whistle, and off they went.", "At the start {f.intro} was first."],
    ["{F} ran so fast that {f.he} did not look, and fell {place}.", "{Place}, {f} slipped and hurt {f.his} foot.", "Then {f} got lost {place}."],
    ["{H} could win now! But {h.he} stopped.", "{H} saw it. {H.he} looked at the road, and then at {f}.", "\"Ouch!\" cried {f}. {H} turned back."],
    ["\"Lean on me,\" said {h}.", "\"Come, we will walk together,\" said {h}.", "{H} helped {f} to stand up."],
    ["They came in last, but everyone clapped.", "The others were there long before them, but nobody laughed.", "Side by side they came to the end, [very slowly|singing]."],
    ["\"You did not win,\" said the {o.kind}, \"but you did the best thing.\"", "\"You could have won,\" said {f}. \"Why did you stop?\" \"Because you are my friend,\" said {h}.",
     "And the {o.kind} gave them both a {thing}."],
]
PLOTS = [(plot, THINGS) for plot in (STUCK, AFRAID, STORM, COOK, RACE)]
