# SPDX-License-Identifier: CC0-1.0
"""Plots about quiet days: a newcomer, a seed, a noise in the night, a long way, a sleepless night, a dull day."""

from .words import THINGS

NEWCOMER = [
    ["One day someone new came to {valley}. It was {f.intro}.", "A new family moved in {place}. Their youngest was {f.intro}.",
     "{F.intro} was new in {valley} and knew nobody."],
    ["{F} sat alone {place} and [did not speak|looked at the ground].", "At school nobody sat next to {f}.", "{F} was so shy that {f.he} hid behind a {noun}."],
    ["\"{F.he} is strange,\" said the {o.kind}.", "\"Why does {f.he} not play with us?\" asked the {o.kind}.", "The others [ran past|played without {f.him}].", ""],
    ["But {h} remembered how it was to be alone.", "{H} thought, \"Maybe {f.he} is only shy.\"", "{H} saw it and felt sorry for {f.him}."],
    ["So {h} took {h.his} {thing} and went to {f}.", "{H} made {food} and knocked at {f.his} door.", "\"Hello,\" said {h}. \"Do you want to see my {noun}?\""],
    ["At first {f} said nothing.", "{F} looked up. \"For me?\" {f.he} asked.", "\"Yes, please,\" said {f} [very softly|in a tiny voice]."],
    ["Then {f} showed {h.him} how to [whistle|make a paper boat|stand on one leg].", "Soon they were playing {place2}.",
     "It turned out that {f} knew [a hundred songs|the best jokes|all the stars]."],
    ["The next day the others came too. \"Can we play?\" asked the {o.kind}.", "\"You are fun!\" said the {o.kind} to {f}.", "When the others heard them laugh, they all came running."],
]

SEED = [
    ["One day {h} found a little seed {place}.", "{F.intro} gave {h} a tiny seed. \"Put it in the ground,\" said {f}.", "The wind blew a seed through the window."],
    ["{H} [put it in the earth|planted it {place2}] and gave it water.", "{H} made a small hole and laid the seed inside."],
    ["The next day {h} looked. Nothing!", "{H} waited one day, two days, three days. Nothing grew.", "\"Grow!\" said {h} to the seed. But it did not grow."],
    ["\"Maybe it is asleep,\" said {h}, and {h.he} sang to it.", "{H} danced around it and played the {noun}.", "{H} wanted to dig it up to see what was wrong."],
    ["\"Wait,\" said {f}. \"A seed needs [sun, rain, and time|time].\"", "\"Be patient,\" said {f}. \"Good things take time.\"",
     "{F} laughed kindly. \"You cannot pull it up. You must wait.\""],
    ["So {h} waited. [The sun shone, and the rain fell.|The moon came and went.|]", "Every morning {h} gave it water. Every evening {h.he} said good night to it.",
     "{H} put a {colour} {noun} next to it, so that nobody would step on it."],
    ["Then one morning there was a small green leaf.", "And one day something green came out of the ground.", "After the rain, {h} saw a tiny leaf. \"Look!\" {h.he} cried."],
    ["It grew and grew, until it was [a tall flower|taller than {h}|a fine young tree].", "In summer it had {colour} flowers.", "In autumn there were [red apples|sweet plums] on it."],
    ["{H} took one flower to {f}. \"You were right,\" {h.he} said.", "All the bees came, and everyone was glad.", "{H} and {f} sat in its shade and ate {food}."],
]

NOISE = [
    ["One night {h} heard a strange noise. [Tap, tap, tap.|Boo, boo, boo.|Scratch, scratch.|Hum, hum, hum.]",
     "In the middle of the night something went [bump|bang|tap, tap] {place}.", "\"What is that?\" whispered {h}. There was a noise outside."],
    ["\"Is it a monster?\" {h.he} thought.", "{H} pulled the blanket over {h.his} head.", "{H.his} heart beat fast."],
    ["{H.he} ran to {f.intro}. \"There is a monster!\" {h.he} said.", "{F.intro} heard it too. \"Maybe it is a ghost,\" said {f}.",
     "{H} woke up {h.his} friend, {f.intro}."],
    ["\"Let us go and look,\" said {f}.", "They took a {thing} and went to see.", "Holding hands, they went out into the dark."],
    ["The noise came from {place2}. They went nearer and nearer.", "Step by step they came closer. The noise grew louder.", "{H} wanted to run away, but {f} held {h.his} hand."],
    ["It was only the {o.kind}, who was [singing in the bath|looking for the {noun}|mending a roof|asleep and snoring].",
     "And what did they see? A {noun} that moved in the wind!", "There sat the {o.kind}, playing with a {noun}.", "It was a loose branch on the window."],
    ["They looked at each other and laughed.", "\"A fine monster!\" said {f}, and they laughed until they cried.", "\"I am sorry that I woke you,\" said the {o.kind}."],
    ["Then they all had {food} in the moonlight.", "After that {h} slept well.", "The next night, when it went bump, {h} only smiled."],
]

JOURNEY = [
    ["{H} wanted to see [the sea|the end of the river|the top of the mountain|the big city].", "\"What is behind the hills?\" {h} asked. Nobody knew.",
     "{H} dreamed of [the sea|far places|the high mountain] every night."],
    ["So {h.he} packed {food} and a {thing} and left.", "One morning {h.he} put a {noun} in {h.his} bag and set off.", "\"I will go and see it,\" said {h}, and off {h.he} went."],
    ["{H.he} walked all day. {Place} {h.he} met {f.intro}.", "On the road {h.he} met {f.intro}. \"Where are you going?\" asked {f}."],
    ["\"May I come with you?\" asked {f}. \"Yes,\" said {h}, \"two are better than one.\"", "\"It is far,\" said {f}. \"I will come along.\""],
    ["They came to a wide river. There was no bridge. [{F} found a log, and they sailed across.|The {o.kind} carried them over.]",
     "It rained, and they slept {place2}.", "They lost the way and had to ask the old {o.kind}.", "{H} was tired and wanted to go home. \"Only a little more,\" said {f}."],
    ["At last they were there. It was [big and blue and wide|more beautiful than a dream].", "And then they saw it. {H} could not say a word.",
     "They climbed the last hill. The whole world lay before them."],
    ["They sat there until the sun went down.", "\"Now I have seen it,\" said {h}. \"And now I miss my bed.\"", "{H} found a {thing2} there and kept it."],
    ["Then they went home and told everyone about it.", "Back in {valley}, everyone wanted to hear the story.", "When they came home, the {o.kind} had made {food2}."],
]

SLEEPLESS = [
    ["It was late, but {h} could not sleep.", "The moon was high. {H} lay awake.", "\"I am not tired,\" said {h}."],
    ["{H.he} turned left. {H.he} turned right. No sleep came.", "{H.he} counted sheep, but the sheep [ran away|would not stand still].", "{H.he} drank some warm milk. It did not help."],
    ["So {h.he} went outside. {Place} sat {f.intro}.", "{H.he} looked out of the window and saw {f.intro}.", "Outside {h.he} met {f.intro}, who was awake too."],
    ["\"Why are you not in bed?\" asked {f}. \"I cannot sleep,\" said {h}.", "\"Sleep has forgotten me,\" said {h}.", "\"I cannot sleep without my {noun},\" said {h}."],
    ["\"Let us listen to the night,\" said {f}.", "\"Come, I will show you something,\" said {f}.", "\"I know a song for that,\" said {f}."],
    ["They heard the river and the wind in the leaves.", "Together they looked at the stars. One of them fell. \"Make a wish!\" said {f}.",
     "{F} sang softly about [the moon and a small boat|a bird in a warm nest]."],
    ["{H.his} eyes grew heavy.", "Soon {h} began to yawn.", "{H} wanted to say something, but {h.he} was already half asleep."],
    ["{F} took {h} home and put the blanket over {h.him}.", "{H} said good night and went back to bed.", "\"Good night, little {h.kind},\" whispered {f}."],
]

DULL = [
    ["\"I am bored,\" said {h}.", "It rained, and {h} did not know what to do.", "{H} had played every game and sung every song."],
    ["Then {h} found a {thing} in an old box.", "Under the bed there was a {thing}.", "{H} looked at the {thing} on the table."],
    ["\"What if this {noun} were a [ship|castle|star]?\" thought {h}.", "\"Today,\" said {h}, \"I am a [king|pirate|painter].\"", "{H} put the {noun} on {h.his} head and laughed."],
    ["{F.intro} came in out of the rain. \"What are you doing?\" asked {f}.", "There was a knock. {F.intro} stood at the door, wet from ears to toes."],
    ["\"We are on the wide sea,\" said {h}. \"Come on board!\"", "\"I am looking for treasure,\" said {h}. \"Do you want to help?\"", "\"I am making a play,\" said {h}. \"You can be the dragon.\""],
    ["They sailed over the carpet and under the table.", "They built a tower of boxes and climbed to the top.", "{F} made the sound of the wind, and {h} held on tight."],
    ["Then the {o.kind} came, and the {o.kind} was the storm.", "\"Land!\" cried {f}. It was the kitchen.", "They fought with spoons, and nobody won."],
    ["When they looked out, the rain was over.", "\"Is it evening already?\" asked {f}.", "Nobody had seen that the sun was shining again."],
    ["\"Tomorrow we will sail again,\" said {h}.", "They ate {food} on their island.", "And the {noun} went back into its box, until the next rainy day."],
]

PLOTS = [(plot, THINGS) for plot in (NEWCOMER, SEED, NOISE, JOURNEY, SLEEPLESS, DULL)]
