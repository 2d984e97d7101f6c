import re
from collections.abc import Callable
from itertools import pairwise
from unicodedata import category, normalize

import pytest
from groundkit_core.errors import ConfigurationError
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.terms import LANGUAGES, Analyzer, count_words, term_hash, word_spans, words
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import ascii_texts, spaced_texts, texts, unhurried
from tests.core.strategies import words as any_words
from tests.core.timing import HOSTILE, check_linear, repeated

ENGLISH = Analyzer("english", stop_words("english"))
GERMAN = Analyzer("german", stop_words("german"))
PLAIN = Analyzer("none")
TICKET = "Ticket ZQ-0054 sets retry_limit in src/app/conf.py for @acme/tools v2026.4.10"


def shared(document: str, query: str, analyzer: Analyzer = ENGLISH) -> set[str]:
    return set(analyzer.terms(document)) & set(analyzer.query_terms(query))


@pytest.mark.parametrize(
    ("document", "query"),
    [
        # A9
        ("茶壶在厨房的架子上", "厨房"),
        ("茶壶在厨房的架子上", "厨房 飞机"),
        ("茶壶在厨房的架子上", "茶"),
        # A10
        (TICKET, "ZQ-0054"),
        (TICKET, "retry_limit"),
        (TICKET, "src/app/conf.py"),
        (TICKET, "@acme/tools"),
        (TICKET, "2026.4.10"),
        (TICKET, "conf.py"),
        ("The R and C manuals", "R"),
        # A42, A54
        ("बोली हिन्दी में", "हिन्दी"),
        ("cafe\u0301", "café"),
        ("서울에서 만났다", "서울"),
        ("그는 한국어를 배운다", "한국어"),
        ("الكتاب على الطاولة", "الكتاب"),
        ("كِتَابٌ جديد", "كتاب"),
        ("台所の棚に急須がある", "急須"),
        ("キッチンの棚", "ｷｯﾁﾝ"),
        ("ガスの元栓", "ｶﾞｽ"),
        ("กาน้ำชาอยู่ในครัว", "ครัว"),
        ("กาน้ำชาอยู่ในครัว", "น้ำ"),
        ("ខ្មែរជាភាសា", "ភាសា"),
        ("שָׁלוֹם", "שלום"),
        # Spelling
        ("Straße", "STRASSE"),
        ("ﬁnd", "find"),
        ("Ⅳ", "IV"),
        ("ＡＢＣ", "abc"),
        ("İstanbul", "istanbul"),
        ("ΟΔΟΣ", "οδος"),
        ("Ångström", "angstrom"),
        ("K and Å", "K"),
        ("co\u00adoperate", "cooperate"),
        ("non\u2011breaking", "non-breaking"),
        ("don’t", "don't"),
        # Names
        ("parseHTTPResponse", "http"),
        ("HTTPServer", "server"),
        ("__init__", "init"),
        ("C++ and C#", "C"),
        ("x86_64", "64"),
        ("utf8", "utf-8"),
        ("ISO8601", "iso-8601"),
    ],
)
def test_a_query_finds_the_document(document: str, query: str) -> None:
    assert shared(document, query)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # A42
        ("timeout", "timeouts"),
        ("configure", "configuration"),
        ("username", "getUserName"),
        ("chunks", "get_chunks_since"),
        ("email", "e-mail"),
        ("cafe", "café"),
        ("5 GB", "5GB"),
        # The same name in other conventions
        ("retry_limit", "retryLimit"),
        ("retry-limit", "RetryLimit"),
        ("retrylimit", "RETRY_LIMIT"),
        ("naive", "naïve"),
        ("file name", "fileName"),
        ("filename", "file-name"),
    ],
)
def test_two_spellings_find_one_another(one: str, other: str) -> None:
    assert shared(one, other)
    assert shared(other, one)


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("red kite", "zebra"),
        ("钥匙挂在门后", "厨房"),
        ("茶壶", "茶叶"),
        ("บ้าน", "ครัว"),
        ("हवा", "हिन्दी"),
        ("हिम", "हिन्दी"),
        ("cart", "car"),
        ("resume_at", "x9"),
        ("", "kite"),
        ("kite", "?!"),
    ],
)
def test_a_query_does_not_find_what_has_none_of_its_words(document: str, query: str) -> None:
    assert shared(document, query) == set()


def test_another_number_shares_less_of_an_identifier() -> None:  # A10
    other = TICKET.replace("ZQ-0054", "ZQ-0055")
    assert shared(other, "ZQ-0054") < shared(TICKET, "ZQ-0054")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("kite", ["kite"]),
        ("Kite", ["kite"]),
        ("R", ["r"]),
        ("retry_limit", ["retry", "limit", "retrylimit"]),
        ("ZQ-0054", ["zq", "0054", "zq0054"]),
        ("src/app/conf.py", ["src", "app", "conf", "py", "src/app/conf.py"]),
        ("@acme/tools", ["acme", "tools", "acme/tools"]),
        ("2026.4.10", ["2026", "4", "10", "2026.4.10"]),
        ("2026-04-10", ["2026", "04", "10", "2026-04-10"]),
        ("getUserName", ["get", "user", "name", "getusername", "getuser", "username"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("5GB", ["5", "gb", "5gb"]),
        ("__init__", ["init"]),
        ("_", ["_"]),
        ("e-mail", ["e", "mail", "email"]),
        ("厨房", ["厨", "房", "厨房"]),
        ("한국어", ["한", "국", "어", "한국", "국어"]),
        ("น้ำใจ", ["น้ํ", "า", "ใ", "จ", "น้ํา", "าใ", "ใจ"]),
        ("हिन्दी", ["हिन्दी"]),
        ("café", ["café", "cafe"]),
        ("茶tea5個", ["茶", "tea", "5", "tea5", "個"]),
    ],
)
def test_a_word_gives_these_terms(word: str, expected: list[str]) -> None:
    assert PLAIN.terms(word) == expected


def test_terms_come_in_order_and_keep_repeats() -> None:
    assert ENGLISH.terms("go on, Go on. Going") == ["go", "on", "go", "on", "go"]


def test_the_query_leaves_out_stop_words_where_others_remain() -> None:  # A8
    assert set(ENGLISH.query_terms("the state of the kitchen")) == {"state", "kitchen"}
    assert set(ENGLISH.query_terms("the of")) == {"the", "of"}
    assert set(ENGLISH.query_terms("The OF")) == {"the", "of"}
    assert shared("the end of it", "the of") == {"the", "of"}
    assert ENGLISH.query_terms("") == ENGLISH.query_terms(" ?! ") == {}


def test_words_that_turn_a_question_are_no_stop_words() -> None:
    assert {"not", "no", "it", "or"} <= set(ENGLISH.query_terms("not no it or kitchen"))


def test_a_document_keeps_its_stop_words() -> None:
    assert ENGLISH.terms("the state of it") == ["the", "state", "of", "it"]


def test_a_repeated_query_word_weighs_as_often_as_it_stands() -> None:
    assert ENGLISH.query_terms("kite kite red") == {"kite": 2, "red": 1}


def test_spellings_of_one_word_weigh_as_one() -> None:
    assert sum(PLAIN.query_terms("café").values()) == PLAIN.query_terms("cafe")["cafe"] == 1


@pytest.mark.parametrize("analyzer", [ENGLISH, GERMAN, PLAIN], ids=lambda each: each.language)
@unhurried
@given(st.lists(any_words | st.text(max_size=12) | st.sampled_from(["für", "über"]), max_size=12))
def test_composed_and_decomposed_text_give_equal_terms(
    analyzer: Analyzer, found: list[str]
) -> None:
    composed, decomposed = (normalize(form, " ".join(found)) for form in ("NFC", "NFD"))
    assert analyzer.terms(composed) == analyzer.terms(decomposed)
    assert analyzer.query_terms(composed) == analyzer.query_terms(decomposed)


def test_a_decomposed_stop_word_is_one_too() -> None:
    query = "für Küche"
    assert GERMAN.query_terms(normalize("NFD", query)) == GERMAN.query_terms(query)


@unhurried
@given(texts)
def test_a_document_is_found_by_each_of_its_words(text: str) -> None:
    for word in words(text):
        assert shared(text, word, PLAIN)


@pytest.mark.parametrize(("filler", "pair"), [("一", "厨房"), ("가", "나다"), ("ก", "ขค")])
def test_two_neighbours_are_found_wherever_they_stand_in_a_run(filler: str, pair: str) -> None:
    missing = [n for n in range(600) if not shared(filler * n + pair + filler * 300, pair)]
    assert missing == []


# The three patterns: plain ASCII, spaced scripts, and any script.
@unhurried
@given(ascii_texts)
def test_ascii_text_has_the_same_words_beside_other_scripts(text: str) -> None:
    found = words(text)
    assert [*found, "é"] == words(f"{text} é")
    assert [*found, "茶"] == words(f"{text} 茶")
    spans = list(word_spans(text))
    assert [text[start:end] for start, end in spans] == found
    for beside in ("é", "茶"):
        assert [*spans, (len(text) + 1, len(text) + 2)] == list(word_spans(f"{text} {beside}"))


@unhurried
@given(spaced_texts)
def test_spaced_text_has_the_same_words_beside_unspaced_scripts(text: str) -> None:
    assert [*words(text), "茶"] == words(f"{text} 茶")
    beside = list(word_spans(f"{text} 茶"))
    assert [*word_spans(text), (len(text) + 1, len(text) + 2)] == beside


@pytest.mark.parametrize(
    "word", ["getUserName", "HTTPServer2Go", "a1B2c3", "x_y-Z.9/w", "__A__b__", "ABCdEF"]
)
def test_an_identifier_has_the_same_parts_in_wide_letters(word: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in word)
    assert PLAIN.terms(wide) == PLAIN.terms(word)


@pytest.mark.parametrize("word", ["getUserName", "HTTPServer2Go", "a1B2c3", "x_y-Z.9/w", "ABCdEF"])
def test_an_identifier_has_the_same_parts_with_accents(word: str) -> None:
    accented = re.sub("[aeiouAEIOUcC]", "\\g<0>\u0301", word)
    bare = {normalize("NFD", term).replace("\u0301", "") for term in PLAIN.terms(accented)}
    assert bare == set(PLAIN.terms(word))


@unhurried
@given(texts)
def test_word_spans_rise_and_hold_every_letter_and_digit(text: str) -> None:
    spans = list(word_spans(text))
    assert len(spans) == count_words(text)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert all(start < end for start, end in spans)
    inside = {at for start, end in spans for at in range(start, end)}
    letters = {at for at, char in enumerate(text) if category(char)[0] in "LN"}
    assert letters <= inside


@unhurried
@given(texts)
def test_words_hold_every_letter_and_digit_once(text: str) -> None:
    kept = [char for word in words(text) for char in word if category(char)[0] in "LN"]
    assert kept == [char for char in text if category(char)[0] in "LN"]


@given(texts, st.integers(0, 300), st.integers(0, 300))
def test_word_spans_of_a_part_are_offsets_in_the_whole(text: str, start: int, length: int) -> None:
    part = text[start : start + length]
    shifted = [(start + a, start + b) for a, b in word_spans(part)]
    assert list(word_spans(text, start, start + length)) == shifted


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("--- !!", 0),
        ("one two", 2),
        ("src/app/conf.py", 1),
        ("茶壶在厨房", 5),
        ("हिन्दी में", 2),
        ("cafe\u0301 café", 2),
        ("茶 tea", 2),
        ("한국어를", 4),
        ("a" * 129, 2),
    ],
)
def test_words_are_counted_as_written(text: str, count: int) -> None:
    assert count_words(text) == count


@unhurried
@given(texts, texts)
def test_emphasis_stands_on_words_that_give_the_terms(text: str, query: str) -> None:
    wanted = list(ENGLISH.query_terms(query))
    spans = list(ENGLISH.matches(text, wanted))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    for start, end in spans:
        assert set(ENGLISH.terms(text[start:end])) & set(wanted)


@unhurried
@given(texts, st.data())
def test_a_passage_that_was_found_has_something_to_emphasise(
    text: str, data: st.DataObject
) -> None:
    found = words(text)
    query = data.draw(st.sampled_from(found)) if found else ""
    wanted = list(ENGLISH.query_terms(query))
    spans = list(ENGLISH.matches(text, wanted))
    assert bool(spans) == bool(set(ENGLISH.terms(text)) & set(wanted))


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("One kite, two Kites.", "kite", ["kite", "Kites"]),
        ("set retry_limit now", "limit", ["retry_limit"]),
        ("茶壶在厨房的架子上", "厨房", ["厨房"]),
        ("茶壶在厨房的架子上", "厨房的", ["厨房的"]),
        ("the kitchen", "the kitchen", ["kitchen"]),
        ("cafe\u0301 noir", "café", ["cafe\u0301"]),
        ("🚰 kite 🚰", "kite", ["kite"]),
        ("안녕 한국어를", "한국어", ["한국어"]),
        (normalize("NFD", "안녕 한국어를"), "한국어", [normalize("NFD", "한국어")]),
        ("これはｷｯﾁﾝです", "キッチン", ["ｷｯﾁﾝ"]),
        ("ｶﾞｽの元栓", "ガス", ["ｶﾞｽ"]),
        ("อยู่ในครัว", "ครัว", ["ครัว"]),
        ("กาน้ำชา", "น้ำ", ["น้ำ"]),
    ],
)
def test_emphasis_is_on_these_words(text: str, query: str, expected: list[str]) -> None:
    spans = ENGLISH.matches(text, list(ENGLISH.query_terms(query)))
    assert [text[start:end] for start, end in spans] == expected


def test_the_identity_says_what_decides_the_terms() -> None:
    identities = [Analyzer(language).identity for language in LANGUAGES]
    assert len(set(identities)) == len(LANGUAGES)
    assert Analyzer("english").identity == ENGLISH.identity
    assert re.fullmatch(r"terms@\d+:english:snowball\d+", ENGLISH.identity)
    assert re.fullmatch(r"terms@\d+:none:none", PLAIN.identity)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_finds_a_word_by_itself(language: str) -> None:
    analyzer = Analyzer(language, stop_words(language))
    for word in ("kite", "Küche", "хлеб", "σπίτι", "كتاب", "हिन्दी", "茶"):
        assert shared(word, word, analyzer)


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"klingon.*english"):
        Analyzer("klingon")


def test_term_keys_never_change() -> None:
    """Segments on disk hold them."""
    assert term_hash("valv") == 14723310836881676740
    assert term_hash("茶") == 3804419968879761507


@given(texts)
def test_term_keys_fit_64_bits(text: str) -> None:
    assert 0 <= term_hash(text) < 2**64


JOBS: dict[str, Callable[[str], object]] = {
    "words": words,
    "count_words": count_words,
    "terms": lambda text: Analyzer("english").terms(text),
    "query_terms": lambda text: Analyzer("english").query_terms(text),
    "matches": lambda text: list(Analyzer("english").matches(text, ["zebra"])),
}


@pytest.mark.parametrize("unit", [*HOSTILE, "aB", "_", "a-", "é", "a\u00ad", "Aa1"])
@pytest.mark.parametrize("job", JOBS)
def test_a_megabyte_of_one_unit_is_read_in_linear_time(job: str, unit: str) -> None:  # A51
    check_linear(JOBS[job], lambda size: repeated(unit, size), 1_000_000)


@pytest.mark.parametrize("letter", ["e", "茶"])
@pytest.mark.parametrize("job", JOBS)
def test_a_letter_under_a_megabyte_of_marks_is_read_in_linear_time(job: str, letter: str) -> None:
    check_linear(JOBS[job], lambda size: letter + repeated("\u0301", size), 1_000_000)
