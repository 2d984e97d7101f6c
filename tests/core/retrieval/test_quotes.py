"""Quoted passages found in the texts they come from."""

import re
from unicodedata import normalize

import pytest
import regex
from groundkit_core import Span
from groundkit_core.retrieval.quotes import (
    MIN_QUOTE_LETTERS,
    MIN_QUOTE_WORDS,
    Attribution,
    QuoteMatch,
    attribute_quote,
    locate_quote,
)
from groundkit_core.retrieval.typography import tokens
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.core.strategies import BLANKS, BREAKS, INVISIBLE, texts, unhurried
from tests.core.timing import check_linear, repeated

PUMP = "The eﬃcient pump was re-\nbuilt in May."

# Text, quote, and the part of the text that is found.
EXACT: dict[str, tuple[str, str, str]] = {
    "a sentence": ("Go on. The pump is on. Go.", "The pump is on.", "The pump is on."),
    "the whole": ("The pump is on.", "The pump is on.", "The pump is on."),
    "without its stop": ("The pump is on.", "The pump is on", "The pump is on"),
    "typography as it stands": (PUMP, PUMP, PUMP),
    "blanks around it": ("The pump is on.", "\n The pump is \t", "The pump is"),
    "marks around it": ("The pump is on.", "“The pump is on.”", "The pump is on."),
    "marks of the text": ("A “good” pump is on.", "“good” pump is on", "“good” pump is on"),
    "corner brackets around it": ("厨房在一楼的左边。", "「厨房在一楼的左边」", "厨房在一楼的左边"),
    "ellipses around it": ("Now the pump is on.", "... the pump is on ...", "the pump is on"),
    "after a hyphen": ("a well-known fact here", "known fact here", "known fact here"),
    "before a hyphen": ("it is not well-known", "is not well", "is not well"),
    "behind a place within a word": ("a sump is on; ump is on", "ump is on", "ump is on"),
    "after one that looks like it": ("a pump is only a pump is on", "pump is on", "pump is on"),
    "behind ten of them": ("a sump is on, " * 10 + "ump is on", "ump is on", "ump is on"),
    "after a dash": ("he said—5 people came", "5 people came", "5 people came"),
    "after an elision": ("tout l’homme est né", "homme est né", "homme est né"),
    "a joiner at its end": ("वह सब यह क्\u200d है", "वह सब यह क्\u200d", "वह सब यह क्\u200d"),
    "within Chinese": ("茶壶在厨房里面吗", "壶在厨房里面", "壶在厨房里面"),
    "within Thai": ("ภาษาไทยง่ายมาก", "ไทยง่ายมาก", "ไทยง่ายมาก"),
    "before a Korean particle": ("서울 시청 광장에서 만나자", "서울 시청 광장", "서울 시청 광장"),
    "Devanagari": ("यह हिन्दी में है।", "यह हिन्दी में है", "यह हिन्दी में है"),
    "a lone surrogate": ("the \ud800 pump is on", "\ud800 pump is on", "\ud800 pump is on"),
}  # fmt: skip

# Text, all of which is found, and quote.
NORMALIZED: dict[str, tuple[str, str]] = {
    "ligature and line end": (PUMP, "The efficient pump was rebuilt in May."),
    "ligatures": ("ﬁve oﬀers ﬂy by ﬆarlight", "five offers fly by starlight"),
    "ligature in the quote": ("five offers of it", "ﬁve oﬀers of it"),
    "soft hyphens": ("the pump re\xadbuilt in May", "the pump rebuilt in May"),
    "soft hyphen at a line end": ("was re\xad\nbuilt in", "was rebuilt in"),
    "soft hyphen seen as a hyphen": ("was re\xad\nbuilt in", "was re-built in"),
    "CRLF and indent": ("was re-\r\n    built in", "was rebuilt in"),
    "blanks before the line end": ("was re- \nbuilt in", "was rebuilt in"),
    "at a page end": ("was re-\n\n\x0cbuilt in", "was rebuilt in"),
    "U+2010 at a line end": ("was re\u2010\nbuilt in", "was rebuilt in"),
    "U+2011 at a line end": ("was re\u2011\nbuilt in", "was rebuilt in"),
    "a real hyphen at a line end": ("a well-\nknown fact", "a well-known fact"),
    "the same without it": ("a well-\nknown fact", "a wellknown fact"),
    "each as it is meant": ("a well-\nknown fact re-\nbuilt", "a well-known fact rebuilt"),
    "two hyphens, one at a line end": ("state-of-\nthe-art pumps", "state-of-the-art pumps"),
    "a word over three lines": ("a multi-\nmil-\nlion deal", "a multimillion deal"),
    "in parts and whole": ("a multi-\nmil-\nlion deal", "a multi-million deal"),
    "in parts in another way": (
        "a multi-\nmil-\nlion million deal",
        "a multimil-lion million deal",
    ),
    "a name with a number": ("of COVID-\n19 cases", "of COVID-19 cases"),
    "line end in the quote": ("was rebuilt in May", "was re-\nbuilt in May"),
    "real hyphen in the quote": ("a well-known fact", "a well-\nknown fact"),
    "line end in both": ("was  re-\nbuilt in", "was re-\r\nbuilt in"),
    "numbers keep it": ("pages 5-\n7 of it", "pages 5–7 of it"),
    "curly quotes": ("the “hot” pump’s ‘on’ now", "the \"hot\" pump's 'on' now"),
    "guillemets": ("il dit «oui» et part", 'il dit "oui" et part'),
    "French blanks": ("il dit : «\u202foui\u202f» !", "il dit: «oui»!"),
    "primes": ("a 5′ 10″ tall man", "a 5' 10\" tall man"),
    "modifier apostrophe": ("у неї пʼять книжок", "у неї п'ять книжок"),
    "no-break space": ("a\u00a0limit\u202fof 7\u2009bar", "a limit of 7 bar"),
    "line ends": ("a limit\r\n\tof   7\nbar", "a limit of 7 bar"),
    "dashes": ("from 5–7 bar — or −3 °C", "from 5-7 bar - or -3 °C"),
    "double hyphen": ("the pump -- hot -- is", "the pump — hot — is"),
    "no-break hyphen": ("a well\u2011known fact", "a well-known fact"),
    "ellipsis": ("so … it is on", "so ... it is on"),
    "four dots": ("it is over…. So be", "it is over.... So be"),
    "decomposed text": ("un cafe\u0301 noir ici", "un café noir ici"),
    "decomposed quote": ("un café noir ici", "un cafe\u0301 noir ici"),
    "order of marks": ("the a\u0323\u0302 sound here", "the ậ sound here"),
    "zero width": ("the\u200b pu\u200bmp\u2060 is\ufeff on", "the pump is on"),
    "fullwidth": ("ＡＢＣ　１２．５ bar here", "ABC 12.5 bar here"),
    "mathematical letters": ("the 𝐩𝐮𝐦𝐩 is on", "the pump is on"),
    "Roman numerals": ("Louis Ⅳ was king", "Louis IV was king"),
    "units": ("5㎏ at 20℃ or 3 µm", "5kg at 20°C or 3 μm"),
    "variation selector": ("we ❤\ufe0f this pump", "we ❤ this pump"),
    "Chinese over lines": ("茶壶在\n厨房\r\n  里面。", "茶壶在厨房里面。"),
    "Chinese and Latin": ("使用Python编程语言", "使用 Python 编程语言"),
    "Chinese punctuation": ("茶壶，在厨房！真的", "茶壶,在厨房!真的"),
    "a blank after fullwidth": ("茶壶， 在厨房；真的", "茶壶，在厨房; 真的"),
    "halfwidth kana": ("ｶﾞｷﾞの台所です", "ガギの台所です"),
    "decomposed kana": (normalize("NFD", "ガギの台所です"), "ガギの台所です"),
    "decomposed Korean": (normalize("NFD", "한국어는 좋은 말"), "한국어는 좋은 말"),
    "decomposed Korean quote": ("한국어는 좋은 말", normalize("NFD", "한국어는 좋은 말")),
    "Thai over lines": ("ภาษา\nไทยง่ายมาก", "ภาษาไทยง่ายมาก"),
    "Thai am": ("ดื่มน้ำทุกวัน", "ดื่มน้ํา" + "ทุกวัน"),
    "Arabic presentation forms": ("ﻣﺮﺣﺒﺎ ﺑﺎﻟﻌﺎﻟﻢ ﻛﻠﻪ", "مرحبا بالعالم كله"),
    "Arabic ligature": ("قال ﻻ يوجد هنا", "قال لا يوجد هنا"),
    "tatweel": ("مرحبـــا بالعالم كله", "مرحبا بالعالم كله"),
    "Persian joiner": ("او می\u200cخواهد برود", "او میخواهد برود"),
    "Devanagari nukta": ("यह \u0958लम है बस", "यह \u0915\u093cलम है बस"),
    "Devanagari joiner": ("यह क्\u200dष है बस", "यह क्ष है बस"),
}  # fmt: skip

# Text and quote.
NOT_FOUND: dict[str, tuple[str, str]] = {
    "another word": (PUMP, "The efficient pump was rebuilt in June."),
    "another order": ("The pump is on.", "is the pump on"),
    "words left out": ("The old pump is now on.", "The pump is on."),
    "words left out with an ellipsis": ("The old pump is now on.", "The old ... is now on."),
    "words added": ("The pump is on.", "The old pump is on."),
    "another stop": ("The pump is on, then off.", "The pump is on."),
    "another case": ("The pump is on.", "the pump is on."),
    "longer than the text": ("The pump is on.", "The pump is on. So"),
    "nothing": ("", "The pump is on."),
    "end within a word": ("We met in Mayor Hall.", "We met in May"),
    "start within a word": ("unable to pump now", "able to pump"),
    "start within a word, blanks differ": ("unable  to pump now", "able to pump"),
    "end in a number": ("the limit is 7.5 bar", "the limit is 7"),
    "end in a range": ("the limit is 5–7 bar", "the limit is 5"),
    "start in a number": ("up to 1,500 bar here", "500 bar here"),
    "without its sign": ("at −15 °C in May", "15 °C in May"),
    "start in a name with a number": ("COVID-19 cases rose", "19 cases rose"),
    "end in a name with a number": ("we use model X-5 here", "we use model X"),
    "a name and a number": ("of COVID-\n19 cases", "of COVID19 cases"),
    "end in a negation": ("so we can’t do it", "so we can"),
    "words joined": ("the pump is on", "thepump is on now"),
    "word parted": ("the pump is rebuilt", "pump is re built"),
    "hyphen left out": ("please re-sign it now", "please resign it now"),
    "hyphen put in": ("please resign it now", "please re-sign it now"),
    "numbers joined at a line end": ("pages 19-\n90 of it", "pages 1990 of it"),
    "a dash is no hyphen of a word": ("was re –\nbuilt in", "was rebuilt in"),
    "superscript": ("about 10² pumps here", "about 102 pumps here"),
    "fraction": ("about 1½ pumps here", "about 11⁄2 pumps here"),
    "accent left out": ("un café noir ici", "un cafe noir ici"),
    "sharp s": ("die lange Straße hier", "die lange Strasse hier"),
    "dotless i": ("Diyarbakır çok güzel", "Diyarbakir çok güzel"),
    "dotted capital I": ("İstanbul çok güzel", "Istanbul çok güzel"),
    "Arabic marks left out": ("مَرْحَبًا بالعالم كله", "مرحبا بالعالم كله"),
    "Arabic clitic": ("وبالعالم كله هنا", "بالعالم كله هنا"),
    "Hindi vowel sign left out": ("यह हिन्दी में है।", "यह हिन्द में है"),
    "Thai tone left out": ("ดื่มน้ำทุกวัน", "ดืมน้ำทุกวัน"),
    "Chinese brackets": ("他说「茶壶在厨房」了", "他说“茶壶在厨房”了"),
    "traditional for simplified": ("茶壶在厨房里面", "茶壺在廚房裡面"),
    "Cyrillic look-alikes": ("the pump is on", "the рumр is on"),
    "a syllable's part": (normalize("NFD", "각 좋은 한국말"), "\u11a8 좋은 한국말"),
    "half of an emoji": ("so 👩\u200d🔬 is a scientist", "🔬 is a scientist"),
    "half of a ligature": ("the eﬃcient pump is", "icient pump is"),
    "without the mark on it": ("see cafe\u0301", "do see cafe"),
    "a dash without the mark on it": ("so the pump -\u0338 is", "so the pump -"),
    "letters without their mark": ("I do see cafe\u0301", "I do see cafe"),
}  # fmt: skip

TOO_SHORT = [
    "",
    " ",
    "\n",
    "“”",
    "...",
    "!?;",
    "bar",
    "7 bar",
    "a b c",
    "is 9",
    "茶",
    "茶壶在厨",
    "\u200b",
]


def part(text: str, match: QuoteMatch) -> str | None:
    return None if match.span is None else text[match.span.start : match.span.end]


@pytest.mark.parametrize("case", EXACT)
def test_a_quote_as_the_text_has_it(case: str) -> None:
    text, quote, found = EXACT[case]
    match = locate_quote(text, quote)

    assert (match.status, part(text, match)) == ("exact", found)


@pytest.mark.parametrize("case", NORMALIZED)
def test_a_quote_that_differs_in_typography(case: str) -> None:
    text, quote = NORMALIZED[case]
    around = f"x {text} x"
    match = locate_quote(around, quote)

    assert (match.status, part(around, match)) == ("normalized", text)


def test_direction_marks_at_its_ends_are_not_in_the_span() -> None:
    text = "\u202bמשאבה\u200f חדשה מאוד\u202c."

    assert part(text, locate_quote(text, "משאבה חדשה מאוד")) == text[1:-2]


def test_a_quote_may_begin_after_a_line_end_that_divides_a_compound() -> None:
    for text in ("a well-\nknown fact is", "a well-\nknown  fact is"):
        assert part(text, locate_quote(text, "known fact is")) == text[8:]


@pytest.mark.parametrize("case", NOT_FOUND)
def test_a_quote_that_the_text_does_not_have(case: str) -> None:
    assert locate_quote(*NOT_FOUND[case]) == QuoteMatch(status="not_found")


@pytest.mark.parametrize("quote", TOO_SHORT)
def test_a_quote_that_proves_nothing(quote: str) -> None:
    assert locate_quote(f"a {quote} z", quote) == QuoteMatch(status="too_short")
    assert attribute_quote(quote, {"a": quote}, {}) == Attribution(status="too_short")


def test_the_shortest_quotes() -> None:
    words = ["ab"] * MIN_QUOTE_WORDS
    letters = "茶壶在厨房里"

    assert len(letters) == MIN_QUOTE_LETTERS == 2 * MIN_QUOTE_WORDS
    assert locate_quote(" ".join(words), " ".join(words)).status == "exact"
    assert locate_quote("state-of-the-art", "state-of-the-art").status == "exact"
    assert locate_quote(letters, letters).status == "exact"


def test_a_span_counts_code_points_of_the_text_as_it_is() -> None:
    match = locate_quote(PUMP, "The efficient pump was rebuilt in May.")

    assert match == QuoteMatch(status="normalized", span=Span(start=0, end=38))
    assert len(PUMP) == 38


def test_the_first_of_several_places_is_given() -> None:
    text = "the  pump is on, the pump is on, the pump is on"

    assert locate_quote(text, "the pump is on").span == Span(start=17, end=31)
    assert locate_quote(text, "the\npump is on").span == Span(start=0, end=15)


# Attribution

A, B = "Hose limit is 7 bar.", "Hose limit is 9 bar."


@pytest.mark.parametrize(
    ("quote", "cited", "others", "expected"),
    [
        ("limit is 9 bar", {"A": A}, {"B": B}, ("misattributed", "B", 5, 19)),
        ("limit is 7 bar", {"A": A}, {"B": B}, ("exact", "A", 5, 19)),
        ("limit is\n7 bar", {"A": A}, {"B": B}, ("normalized", "A", 5, 19)),
        ("limit is 9 bar", {"A": A, "B": B}, {}, ("exact", "B", 5, 19)),
        ("limit is 9 bar", {}, {"A": A, "B": B}, ("misattributed", "B", 5, 19)),
        ("limit is\n9 bar", {"A": A}, {"B": B}, ("misattributed", "B", 5, 19)),
        ("Hose limit is", {"A": A}, {"B": B}, ("exact", "A", 0, 13)),
        ("Hose limit is", {"C": "Hose  limit is", "A": A}, {}, ("exact", "A", 0, 13)),
        ("Hose limit is", {}, {"C": "Hose  limit is", "A": A}, ("misattributed", "A", 0, 13)),
    ],
)
def test_whose_words_a_quote_is(
    quote: str,
    cited: dict[str, str],
    others: dict[str, str],
    expected: tuple[str, str, int, int],
) -> None:
    status, key, start, end = expected

    assert attribute_quote(quote, cited, others) == Attribution.model_validate(
        {"status": status, "found_in": key, "span": Span(start=start, end=end)}
    )


def test_a_quote_of_nobody() -> None:
    nobody = Attribution(status="not_found")

    assert attribute_quote("limit is 8 bar", {"A": A}, {"B": B}) == nobody
    assert attribute_quote("limit is 8 bar", {}, {}) == nobody


# Properties


few = settings(unhurried, max_examples=100)
UNSEEN = "".join([*INVISIBLE, *BLANKS, *BREAKS])


@few
@given(texts)
def test_tokens_tile_the_text(text: str) -> None:
    assert "".join(tokens(text)) == text


@few
@given(texts, st.data())
def test_whatever_stands_between_blanks_is_found_as_it_is(text: str, data: st.DataObject) -> None:
    pieces = list(re.finditer(r"\S+", text))
    assume(pieces)
    first = data.draw(st.integers(0, len(pieces) - 1))
    last = data.draw(st.integers(first, len(pieces) - 1))
    quote = text[pieces[first].start() : pieces[last].end()]
    match = locate_quote(text, quote)

    assume(match.status != "too_short")
    assert match.status == "exact"
    assert (part(text, match) or "").strip(UNSEEN) == quote.strip(UNSEEN)


LETTERS = st.text("abcdefilostuvxzé", min_size=3, max_size=9)
LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ", "st": "ﬆ"}
BLANK = st.sampled_from(
    [" ", "  ", "\n", "\r\n", "\r\n   ", "\u00a0", "\u2009", "\t", " \u200b", "\u2028"]
)
HYPHEN = st.sampled_from(["\xad", "-\n", "-\r\n  ", "\u2010\n", "\xad\n", "\u200b", "\u2060"])


@st.composite
def damaged(draw: st.DrawFn, word: str) -> str:
    """A word as a typesetter may leave it."""
    at = draw(st.integers(1, len(word) - 1))
    kind = draw(st.sampled_from(["none", "ligature", "hyphen", "decomposed"]))
    if kind == "ligature":
        return re.sub("|".join(LIGATURES), lambda found: LIGATURES[found[0]], word)
    if kind == "hyphen":
        return word[:at] + draw(HYPHEN) + word[at:]
    return normalize("NFD", word) if kind == "decomposed" else word


@few
@given(st.lists(LETTERS, min_size=6, max_size=20, unique=True), st.data())
def test_damage_by_typesetting_is_looked_through(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 4))
    last = data.draw(st.integers(first + 3, len(words)))
    written, spans = "", []
    for word in words:
        piece = data.draw(damaged(word))
        spans.append((len(written), len(written) + len(piece)))
        written += piece + data.draw(BLANK)
    quote = " ".join(words[first:last])
    match = locate_quote(written, quote)

    assert match.span == Span(start=spans[first][0], end=spans[last - 1][1])
    assert match.status == ("exact" if part(written, match) == quote else "normalized")
    wrapped = locate_quote(quote, part(written, match) or "")
    assert wrapped.span == Span(start=0, end=len(quote))


@few
@given(st.lists(LETTERS, min_size=4, max_size=12), st.data())
def test_another_letter_is_never_found(words: list[str], data: st.DataObject) -> None:
    plain = " ".join(words)
    written = data.draw(BLANK).join([data.draw(damaged(word)) for word in words])
    at = data.draw(st.integers(0, len(plain) - 1))
    letter = data.draw(st.sampled_from("abcdefilostuvxzéw.7"))
    quote = plain[:at] + letter + plain[at + 1 :]
    assume(letter != plain[at] and plain[at] != " ")

    assert locate_quote(written, quote).status in ("not_found", "too_short")


ANY = st.text(st.characters(exclude_categories=()), max_size=40)


@few
@given(texts | ANY, st.data())
@example("\ud800 a b c d e f \udfff", None)
def test_any_strings_are_taken_and_a_span_is_of_whole_characters(
    text: str, data: st.DataObject | None
) -> None:
    start, end = 4, 12
    if data:
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        locate_quote(text, data.draw(texts | ANY))
    match = locate_quote(text, text[start:end])

    assert (match.span is None) == (match.status in ("not_found", "too_short"))
    if match.span is not None:
        clusters = {found.start() for found in regex.finditer(r"\s|\X", text)} | {len(text)}
        assert 0 <= match.span.start < match.span.end <= len(text)
        assert {match.span.start, match.span.end} <= clusters


HOSTILE = [
    "a",
    "-\n",
    "a-\n",
    "e\u0301\u0323",
    "\u0301\u0323",
    " ",
    "\xad",
    "茶",
    "ab ",
    "'",
    "1-",
    "ﬃ",
    "…",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_grows_with_the_text_and_the_quote(unit: str) -> None:
    check_linear(
        lambda text: [
            locate_quote(text, "one two three four"),
            locate_quote(text, text[1 : len(text) // 3] + "x y z x y z"),
            locate_quote(text, "x y z x y z " + text[: len(text) // 3]),
        ],
        lambda size: repeated(unit, size),
        60_000,
    )


def test_many_places_that_end_within_a_word_cost_no_more() -> None:
    check_linear(
        lambda text: locate_quote(text, text[: len(text) // 3 * 3 // 9] + "a"),
        lambda size: "ab " * (size // 3),
        300_000,
    )
