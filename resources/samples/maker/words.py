# SPDX-License-Identifier: CC0-1.0
"""The small world of the nest stories: who lives there, what they own, where they go."""

ANIMALS = (
    "fox hare mouse badger otter hedgehog squirrel mole rabbit bear duck goose frog toad wren robin "
    "sparrow crow owl heron deer goat lamb pony kitten puppy beaver snail tortoise bee").split()

# Animals that are at ease in the air or in water; a few plots need to know.
FLIERS = set("duck goose wren robin sparrow crow owl heron bee".split())
SWIMMERS = set("otter frog toad duck goose beaver heron".split())

SHE_NAMES = "Pip Tilly Wanda Nell Momo Bella Rosie Fern Hattie Luna Poppy Minna Dot Ivy Suki Olive".split()
HE_NAMES = "Bram Tom Otto Finn Milo Rusty Benno Jasper Toby Kip Oscar Hugo Nico Pepper Barley Moss".split()

ADJECTIVES = "little small young kind brave shy curious clever gentle cheerful quiet merry".split()

# What can be carried, lost, found, mended, and given.
THINGS = (
    "lantern key bell kite shell button ribbon basket map whistle spoon blanket drum feather marble "
    "mirror scarf cup stone acorn book ball hat mitten bucket umbrella flute boat rope coin").split()
# What can break, and what small paws can make.
FRAGILE = "lantern kite drum mirror cup boat flute umbrella whistle shell bell spoon basket".split()
HANDMADE = "kite drum scarf hat boat basket blanket whistle flute spoon book ball bell ribbon".split()
THING_ADJECTIVES = "red blue green yellow silver golden tiny old shiny round pretty bright".split()

PLACES = (
    "by the old oak|by the pond|in the tall reeds|under the stone bridge|at the foot of the hill|"
    "in the berry patch|in the quiet meadow|on the sandy shore|behind the mill|by the garden gate|"
    "near the hollow log|at the bend of the river|in the pine wood|under the hedge|behind the empty barn|"
    "beside the mossy wall|on the windy hill|near the waterfall|by the apple tree|in the dark cave").split("|")

VALLEYS = "Hazel Hollow|Willow Bend|Fern Valley|Mossy Green|Clover Hill|Pebble Creek|Maple Glen".split("|")

HOMES = (
    "a cosy burrow|a tiny house with a round door|a house made of stones|an old tree|a warm nest of straw|"
    "a little hut by the water|a hole under the roots|a house with a blue roof").split("|")

FOODS = (
    "berry pie|honey cake|warm soup|nut bread|apple cake|plum jam|mint tea|pancakes|carrot soup|"
    "cherry pie|oat cookies|pumpkin soup").split("|")

MORALS = (
    "kind words open many doors|a friend makes every load lighter|it is never too late to say sorry|"
    "small paws can do big things|sharing makes joy grow|good things take time|"
    "asking for help is a brave thing to do|the truth is lighter than a lie|"
    "even the dark has its own small lights|home is where your friends are|"
    "you do not have to be first to be happy|a new friend may be just around the corner|"
    "being careful is better than being fast|a mistake is a good teacher").split("|")
