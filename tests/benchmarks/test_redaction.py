import pytest
from groundkit_providers.redaction import RedactionConfig, find_spans

from benchmarks.redaction import is_right, rows, survives, with_figures
from benchmarks.redaction_texts import LABEL_END, Gold, Text, generated, luhn
from benchmarks.report import Table

TEXT = Text("made", "Ann, +1 2, a@b.c", (Gold("person", 0, 3), Gold("phone", 5, 9)))


@pytest.mark.parametrize(
    ("spans", "left"),
    [
        ([], True),
        ([(5, 9, "PHONE")], False),
        ([(6, 7, "X"), (8, 20, "Y")], False),
        ([(6, 8, "X")], True),
        ([(0, 6, "X"), (8, 9, "Y")], True),
    ],
)
def test_a_value_survives_while_a_letter_or_digit_of_it_does(
    spans: list[tuple[int, int, str]], left: bool
) -> None:
    assert survives(TEXT.text, TEXT.gold[1], spans) is left


@pytest.mark.parametrize(
    ("span", "right"),
    [
        ((8, 12, "EMAIL"), True),
        ((9, 12, "EMAIL"), False),
        ((0, 3, "EMAIL"), False),
        ((0, 3, "PERSON"), True),
        ((5, 9, "PERSON"), False),
    ],
)
def test_a_detection_is_right_on_an_identifier_and_a_person_on_a_person(
    span: tuple[int, int, str], right: bool
) -> None:
    assert is_right(TEXT, span) is right


def test_rows_hold_recall_and_precision_of_each_kind() -> None:
    texts = [TEXT, Text("made", "b", ())]
    found = [[(5, 9, "PHONE")], [(0, 1, "PHONE")]]
    phone, person = rows(texts, found)
    assert phone | {"recall 95 %": "", "precision 95 %": ""} == {
        "kind": "phone", "n": 1, "recall": "1.000", "recall 95 %": "",
        "detected": 2, "precision": "0.500", "precision 95 %": "",
    }  # fmt: skip
    assert (person["n"], person["recall"], person["precision"]) == (1, "0.000", "-")


def test_the_figures_replace_what_stands_between_the_comments() -> None:
    begin, end = "<!-- figures: hatch run bench redaction --write -->", "<!-- end of figures -->"
    page = f"before\n{begin}\nold\n{end}\nafter\n"
    figures = "All:\n\n| kind | n |\n| --- | --- |\n| x | 1 |"
    written = with_figures(page, [Table("all", [{"kind": "x", "n": 1}])])
    assert written == f"before\n{begin}\n\n{figures}\n\n{end}\nafter\n"


@pytest.mark.parametrize(
    ("number", "valid"), [("4111111111111111", True), ("4111111111111112", False), ("18", True)]
)
def test_luhn(number: str, valid: bool) -> None:
    assert luhn(number) is valid


def test_no_made_value_holds_its_separator() -> None:
    texts = generated(30)
    assert texts == generated(30)
    assert not any(LABEL_END in text.text for text in texts)
    config = RedactionConfig()
    kept = [
        text
        for text in texts
        if any(survives(text.text, g, find_spans(text.text, config)) for g in text.gold)
    ]
    assert len(kept) < 0.05 * len(texts)
