# SPDX-License-Identifier: Apache-2.0
"""The thousand strings that tokenizers get wrong: written out by hand, then mixed by a seeded generator.

No code point here changed its letter, number or space class between Unicode 13 and 16, so that two libraries with
different tables must agree.
"""

import random

COUNT = 1000

PHRASES = [
    "The quick brown fox jumps over 13 lazy dogs.", "She sells sea shells; he doesn't.", "Größe, Übermut und Straße",
    "déjà vu à l'œuvre", "El niño comió piñas en Año Nuevo", "Zażółć gęślą jaźń", "Příliš žluťoučký kůň",
    "İstanbul'da ılık ığdır", "Съешь ещё этих мягких булок", "Їжак єсть ґанок", "Ελληνικά: ταχύς ἀλώπηξ ᾧ",
    "আমি বাংলায় গান গাই", "একটি ছোট্ট পাখি ডালে বসে আছে।", "রাষ্ট্রপতি ক্ষুদ্র জ্ঞান কৃষ্ণচূড়া", "১২৩৪৫ টাকা ৬৭ পয়সা",
    "हिन्दी में लिखा हुआ वाक्य", "क्षत्रिय त्रिशूल ज्ञान", "தமிழ் மொழி அழகானது", "తెలుగు భాష", "ಕನ್ನಡ ನುಡಿ", "മലയാളം വാക്യം",
    "ગુજરાતી લખાણ", "ਪੰਜਾਬੀ ਲਿਖਤ", "සිංහල අකුරු", "ภาษาไทยไม่มีเว้นวรรค", "ພາສາລາວ", "မြန်မာစာ", "ភាសាខ្មែរ",
    "中文分词很难，不是吗？", "繁體中文與標點「引號」", "日本語のテキスト、カタカナとひらがな", "ｶﾀｶﾅ ＡＢＣ１２３", "한국어 문장입니다", "한글",
    "שלום עולם", "שָׁלוֹם", "مرحبا بالعالم", "اَلْعَرَبِيَّةُ", "فارسی می‌نویسم", "اردو زبان", "ქართული ენა", "Հայերեն լեզու",
    "አማርኛ ቋንቋ", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ᠮᠣᠩᠭᠣᠯ", "བོད་ཡིག", "ⵜⴰⵎⴰⵣⵉⵖⵜ", "Tiếng Việt có dấu", "Yorùbá ẹ̀kọ́", "ʻŌlelo Hawaiʻi",
    "𝔉𝔯𝔞𝔨𝔱𝔲𝔯 𝒮𝒸𝓇𝒾𝓅𝓉 𝟙𝟚𝟛", "𐍈𐌰𐌹𐍂𐌸", "𒀀𒁀𒂠", "𓀀𓂀𓃠", "㍿㌔㎏㏒", "ﬁ ﬂ ﬃ ǆ ŉ", "①②③ ⅳ Ⅻ ½ ¾ ⅞ ²³ ₁₂", "x² + y² = z²",
]

EMOJI = [
    "😀", "👍🏽", "👩‍💻", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇧🇩🇫🇷", "1️⃣#️⃣", "❤️", "❤", "☺︎", "🧑🏿‍🤝‍🧑🏻", "👁️‍🗨️", "🫶🏼", "🤷🏽‍♀️", "🐈‍⬛",
]

SPACES = [
    " ", "  ", "   ", "    ", "\t", "\t\t", " \t", "\n", "\n\n", "\r\n", "\r", "\n \n", " \n", "\n ", "\r\n\r\n", "\v", "\f", "\u0085",
    "\u00a0", "\u1680", "\u180e", "\u2000", "\u2003", "\u2009", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f", "\u205f", "\u2060",
    "\u3000", "\ufeff", " \u00a0 ", "\u3000\u3000", "          ", " " * 17, " " * 64, "\n" * 9, "\t" * 5,
]

CONTRACTIONS = [
    "I'm you're he's we've they'll I'd don't", "I'M YOU'RE HE'S WE'VE THEY'LL I'D DON'T", "I'Re it'Ll we'vE o'clock", "'s 's's 'S'T 're're",
    "'ſ it'ſ 'ſ's", "x'ſt", "rock'n'roll 'tis 'Twas", "it’s don’t ‘quoted’", "l'l' 'll'll", "can't've y'all'd've", "''s '''", "'d'D'm'M",
    "a's1's_'s", "ſ ſ'S \u212a \u212b", "isn`t isn´t",
]

NUMBERS = [
    "1", "12", "123", "1234", "12345", "123456", "1234567", "3.14159", "1,000,000", "0x1F", "1e-10", "2024-02-29T23:59:59Z", "+1 555 0100",
    "٣٤٥", "๑๒๓", "１２３４", "1 2 3", "12ab34", "v1.2.3-rc4", "Ⅷ", "½1", "10²", "⁴⁵⁶", "𝟏𝟐𝟑𝟒", "౧౨౩", "100%", "$9.99", "€12,50", "৳৫০০", "0" * 30, "1" * 64,
]

CODE = [
    "def f(x):\n    return x**2  # square\n", "for (int i = 0; i < n; ++i) {\n\tsum += a[i];\n}", "SELECT * FROM t WHERE a='b' AND c!=\"d\";",
    "<div class=\"x\">&nbsp;</div>", "if x==1:\r\n\tprint('a')\r\n", "std::vector<std::unique_ptr<T>>&&", "#include <stdio.h>\n\n\nint main(){}",
    "{\"key\": [1, 2.5, null, \"\\u00e9\"]}", "a->b::c.d()[e]{f}", "$HOME/.config/*.{a,b}", "https://example.org/a?b=c&d=%20#e", "foo_bar-baz.QUX",
    "\\begin{align} x &= y \\\\ \\end{align}", "/* comment */ // more", "x = y ? z : w;;", "lambda λ: λ+1", "camelCaseAndHTTPServer", "===>>><<<!!!???...",
    "`code` **bold** _it_ ~~no~~", "| a | b |\n|---|---|\n", "key:\tvalue  # two spaces", "rm -rf ./tmp && echo \"done\"", "0b1010|0o17^~5", "@user #tag",
]

SPECIALS = [
    "<s>", "</s>", "<unk>", "<pad>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>",
    "<|end_header_id|>", "<|finetune_right_pad_id|>", "<|reserved_special_token_7|>", "<repo_name>", "<file_sep>", "<|user|>", "<|assistant|>", "[INST]",
    "[/INST]", "<<SYS>>", "<0x0A>", "<0xE2><0x82>", "▁", "▁▁", "▁the", "Ġ", "Ċ", "ĠHello", "<|im_start|", "|im_end|>", "< s >", "<S>", "<|ENDOFTEXT|>",
    "<|endoftext|><|endoftext|>", "<s></s><s>", "<<s>>", "</s", "/s>", "<|im_start|>user\nHi<|im_end|>\n", "<think>", "<tool_call>",
]

MARKS = [
    "e\u0301", "e\u0301\u0323", "a\u030a\u0301", "\u0301", "\u0301a", "q\u0307\u0323", "q\u0323\u0307", "o\u0302\u0303\u0304\u0305\u0306", "\u1100\u1161\u11a8",
    "\u0915\u093c", "\u09a1\u09bc", "\u09af\u09bc", "\u09c7\u09be", "\u09cb", "\u0958", "\u212b", "\u2126", "\u1e9b\u0323", "\ufb01", "\u00c5 A\u030a",
    "Z\u0351\u036b\u0343a\u0300\u0316l\u0329g\u0334o\u0362", "\u200d", "\u200c", "a\u200db", "\u202eabc\u202c", "a\u00adb", "\ufe0f", "\u20e3", "क्\u200dष", "র\u200d্য",
]

ODD = [
    "\u0000", "a\u0000b", "\u0001\u0002\u0003", "\u001b[31mred\u001b[0m", "\u007f", "\u0080\u0081", "\u009f", "\u001c\u001d\u001e\u001f", "a\u001cb", "\u0378", "a\u0378b",
    "\ufdd0", "\uffff", "\ufffe", "\ufffd", "\ufffd\ufffd", "\ufffc", "\ue000", "\uf8ff", "\U000e0001", "\U000e0041", "\U0010ffff", "\U0001fffe", "\U000f0000", "\U00100000",
    "\u00ad", "\u061c", "\u2066a\u2069", "\u200e\u200f", "\ufff9\ufffa\ufffb", "\u00ff\u0100\u0141\u0142\u0143", "\u00a1\u00ac\u00ad\u00ae", "\u07ff\u0800", "\ud7ff\ue000",
    "\uffff\U00010000", "\u007f\u0080", "\b\b", "a\bb",
]

LONG = [
    "a" * 300, "ab" * 120, "abcdefghij" * 30, "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", "ha" * 77 + "!",
    "অ" * 40, "漢" * 50, "😀" * 20, "." * 100, "-=" * 40, "_" * 65, "!?" * 33, "\u0301" * 30, "x1" * 40, "A" * 63, "the" * 50, "  x" * 30, "supercalifragilistic" * 5, "🇧🇩" * 12,
    "0123456789" * 9,
]

WORDS = [
    "hello", "Hello", "HELLO", "world", "the", "and", "Lorikeet", "tokenization", "naïve", "don't", "e.g.", "42", "2nd", "x_y", "C++", "বাংলা", "ক্ষ", "中文", "かな", "слово", "λόγος",
    "😀", "👩‍💻", "e\u0301", "(", ")", "\"", "'", ",", ".", "...", "—", "–", "“q”", "//", "&&", "<s>", "<|im_end|>", "\u00a0", "▁", "ſ", "1234", "3.5%", "A1b2", "@", "#",
]


def trimmed_variants(text: str) -> list[str]:
    return [" " + text, text + " ", "  " + text + "  ", "\n" + text + "\n"]


def mixture(rng: random.Random) -> str:
    """Two to nine words joined by spaces of any kind, or by none."""
    parts = []
    for _ in range(rng.randint(2, 9)):
        parts.append(rng.choice(WORDS))
        parts.append(rng.choice(["", " ", " ", " ", rng.choice(SPACES[:34])]))
    return "".join(parts)


def scatter(rng: random.Random) -> str:
    """Code points from all blocks that have been full for long."""
    ranges = [(0x20, 0x7e), (0x00, 0x7f), (0xa0, 0x24f), (0x300, 0x36f), (0x391, 0x3a1), (0x410, 0x44f), (0x5d0, 0x5ea), (0x621, 0x64a), (0x905, 0x939),
              (0x995, 0x9a8), (0xe01, 0xe30), (0x2010, 0x2027), (0x2190, 0x21ff), (0x3041, 0x3093), (0x4e00, 0x9f00), (0xac00, 0xd7a3), (0x1f600, 0x1f64f)]
    return "".join(chr(rng.randint(*rng.choice(ranges))) for _ in range(rng.randint(1, 12)))


def hard_strings() -> list[str]:
    """COUNT different strings, the same ones every time."""
    rng = random.Random(20250)
    found = dict.fromkeys([""])
    for group in (PHRASES, EMOJI, SPACES, CONTRACTIONS, NUMBERS, CODE, SPECIALS, MARKS, ODD, LONG):
        found |= dict.fromkeys(group)
    for text in rng.sample(PHRASES + CODE + SPECIALS + CONTRACTIONS, 40):
        found |= dict.fromkeys(trimmed_variants(text))
    for left, right in zip(rng.sample(SPECIALS, 30), rng.choices(WORDS, k=30)):
        found |= dict.fromkeys([f"{right}{left}{right}", f"{right} {left} {right}"])
    while len(found) < COUNT - 150:
        found[mixture(rng)] = None
    while len(found) < COUNT:
        found[scatter(rng)] = None
    return list(found)
