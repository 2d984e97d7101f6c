"""Gold as quotes: where they stand, and what each broken set is refused with."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from groundkit_core import Span
from groundkit_evals import load_dataset
from groundkit_evals.golden import Judgment, Quote, is_golden, judgments, load_golden
from groundkit_evals.schema import Expected, QueryRecord

from tests.evals.sets import SECRET, golden, jsonl, judgment, refusal

FILES: dict[str, str | bytes] = {
    "pump.md": "# Pumps\n\nThe pump stops at 7 bar.\n",
    "parts/valve.txt": "The valve opens.\r\nThe valve closes.\r\n",
}
JUDGMENTS = jsonl(
    judgment("g1", ("pump.md", "stops at 7 bar"), kind="ambiguous"),
    judgment("g2", ("parts/valve.txt", "valve closes"), ("pump.md", "The pump")),
    judgment("g3", kind="no_answer"),
)


def quoted(source: str, start: int, quote: str) -> Expected:
    end = start + len(quote)
    return Expected(
        unit=f"corpus/{source}:{start}-{end}",
        source=f"corpus/{source}",
        span=Span(start=start, end=end),
        excerpt=quote,
    )


def one(tmp_path: Path, files: Mapping[str, str | bytes], *gold: tuple[str, str]) -> Path:
    """A set with one judgment."""
    return golden(tmp_path / "x", files, jsonl(judgment("g1", *gold)))


def test_each_quote_has_its_place(tmp_path: Path) -> None:
    folder = golden(tmp_path / "set", FILES, JUDGMENTS)
    dataset = load_dataset(folder)
    assert (dataset.name, dataset.folder, dataset.documents) == ("set", folder / "corpus", ())
    assert dataset.queries == (
        QueryRecord(
            id="g1",
            text=f"{SECRET} g1",
            kind="ambiguous",
            expected=(quoted("pump.md", 18, "stops at 7 bar"),),
        ),
        QueryRecord(
            id="g2",
            text=f"{SECRET} g2",
            expected=(
                quoted("parts/valve.txt", 22, "valve closes"),
                quoted("pump.md", 9, "The pump"),
            ),
        ),
        QueryRecord(id="g3", text=f"{SECRET} g3", kind="no_answer"),
    )


def test_places_are_counted_in_code_points(tmp_path: Path) -> None:
    text = "🚰👩‍🔧 é e\u0301: the pump"
    folder = one(tmp_path, {"a.txt": text}, ("a.txt", "the pump"), ("a.txt", "👩‍🔧 é e\u0301"))
    assert load_golden(folder).queries[0].expected == (
        quoted("a.txt", 11, "the pump"),
        quoted("a.txt", 1, "👩‍🔧 é e\u0301"),
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_files_in_any_known_encoding_are_read(tmp_path: Path, encoding: str) -> None:
    text = "Café, façade, the pump costs ten “marks”, naïve garçon. "
    folder = one(tmp_path, {"a.txt": text.encode(encoding)}, ("a.txt", "the pump"))
    assert load_golden(folder).queries[0].expected == (quoted("a.txt", 14, "the pump"),)


def test_a_quote_may_span_lines(tmp_path: Path) -> None:
    folder = one(tmp_path, FILES, ("parts/valve.txt", "opens.\r\nThe"))
    found = load_golden(folder).queries[0].expected
    assert found == (quoted("parts/valve.txt", 10, "opens.\r\nThe"),)


@pytest.mark.parametrize(
    ("source", "quote", "here", "in_all"),
    [
        ("parts/valve.txt", "The valve", 2, 2),
        ("pump.md", SECRET, 0, 0),
        ("pump.md", "valve opens", 0, 1),
        ("pump.md", "The ", 1, 3),
        ("valve.txt", "valve opens", 0, 1),
        ("../pump.md", "The pump", 0, 1),
        ("pump.md", "THE PUMP", 0, 0),
    ],
    ids=["twice", "never", "elsewhere", "also elsewhere", "no such file", "outside", "other case"],
)
def test_a_quote_that_does_not_stand_once_is_refused(
    tmp_path: Path, source: str, quote: str, here: int, in_all: int
) -> None:
    folder = golden(tmp_path, FILES, jsonl(judgment("g7", (source, quote))))
    assert refusal(lambda: load_dataset(folder)) == (
        f"query 'g7': its quote stands {here} times in {source} and {in_all} times in all, "
        "it must be once"
    )


BAD_LINES = {
    "no JSON": (f'{{"id": "{SECRET}"', "", "Invalid JSON: EOF while parsing"),
    "two objects": (jsonl(judgment("g2")).strip() * 2, "", "Invalid JSON: trailing characters"),
    "no object": (json.dumps([SECRET]), "", "Input should be an object"),
    "unknown kind": (
        jsonl(judgment("g2", kind=SECRET)),
        "kind",
        "Input should be 'normal', 'ambiguous', 'no_answer' or 'adversarial'",
    ),
    "unknown key": (jsonl(judgment("g2", note=SECRET)), "note", "Extra inputs are not permitted"),
    "missing key": (json.dumps({"id": "g2", "query": SECRET}), "kind", "Field required"),
    "number as id": (jsonl(judgment("g2", id=7)), "id", "Input should be a valid string"),
    "gold as text": (jsonl(judgment("g2", gold=SECRET)), "gold", "Input should be a valid array"),
    "no quote": (
        jsonl(judgment("g2", gold=[{"source": "pump.md"}])),
        "gold.0.quote",
        "Field required",
    ),
    "gold with a key too many": (
        jsonl(judgment("g2", gold=[{"source": "pump.md", "quote": SECRET, "page": 1}])),
        "gold.0.page",
        "Extra inputs are not permitted",
    ),
}


@pytest.mark.parametrize(("line", "where", "said"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_line_that_is_no_judgment_is_refused_by_its_number(
    tmp_path: Path, line: str, where: str, said: str
) -> None:
    folder = golden(tmp_path, FILES, jsonl(judgment("g1")) + line.strip() + "\n")
    message = refusal(lambda: load_dataset(folder))
    assert message.startswith(f"{folder / 'judgments.jsonl'}:2: ")
    assert (f"{where}: {said}" if where else said) in message


def test_an_id_given_twice_is_refused(tmp_path: Path) -> None:
    folder = golden(tmp_path / "x", FILES, jsonl(judgment("g1"), judgment("g2"), judgment("g2")))
    assert refusal(lambda: load_dataset(folder)) == "x: the query id 'g2' is given twice"


def test_a_set_without_a_judgment_is_refused(tmp_path: Path) -> None:
    folder = golden(tmp_path / "x", FILES, "")
    assert refusal(lambda: load_dataset(folder)) == "x: there is no query with a judgment"


def test_judgments_without_a_corpus_are_refused(tmp_path: Path) -> None:
    folder = golden(tmp_path, {}, jsonl(judgment("g1")))
    message = f"{folder}: there is no folder corpus/ beside judgments.jsonl"
    assert refusal(lambda: load_dataset(folder)) == message
    (folder / "corpus").write_bytes(b"a file")
    assert refusal(lambda: load_dataset(folder)) == message


def test_a_file_that_cannot_be_read_is_refused_by_its_path(tmp_path: Path) -> None:
    folder = one(tmp_path, {**FILES, "deep/x.bin": b"\0\1confidential"}, ("pump.md", "7 bar"))
    assert refusal(lambda: load_dataset(folder)) == (
        f"{folder / 'corpus/deep/x.bin'}: binary: it holds NUL bytes"
    )


def test_judgments_can_be_read_without_their_corpus(tmp_path: Path) -> None:
    folder = golden(tmp_path, {}, JUDGMENTS)
    first, second, third = judgments(folder)
    assert first == Judgment(
        id="g1",
        kind="ambiguous",
        query=f"{SECRET} g1",
        gold=(Quote(source="pump.md", quote="stops at 7 bar"),),
    )
    assert [each.source for each in second.gold] == ["parts/valve.txt", "pump.md"]
    assert third.gold == ()


def test_a_set_is_told_by_its_judgments(tmp_path: Path) -> None:
    assert not is_golden(tmp_path)
    assert is_golden(golden(tmp_path, FILES, JUDGMENTS))


def test_equal_files_have_equal_hashes_wherever_they_are(tmp_path: Path) -> None:
    first, second = (load_dataset(golden(tmp_path / name, FILES, JUDGMENTS)) for name in "ab")
    assert first.corpus_hash == second.corpus_hash
    assert first.judgments_hash == second.judgments_hash


@pytest.mark.parametrize(
    "changed",
    [
        {"pump.md": "# Pumps\n\nThe pump stops at 7 bar!\n"},
        {"more.txt": "More."},
        {"pump.md": "# Pumps\n\nThe pump stops at 7 bar.", "pump.md2": "\n"},
    ],
    ids=["text", "one more file", "text that moved to another file"],
)
def test_a_changed_corpus_changes_its_hash_alone(
    tmp_path: Path, changed: dict[str, str | bytes]
) -> None:
    before = load_dataset(golden(tmp_path / "a", FILES, JUDGMENTS))
    after = load_dataset(golden(tmp_path / "b", {**FILES, **changed}, JUDGMENTS))
    assert before.corpus_hash != after.corpus_hash
    assert before.judgments_hash == after.judgments_hash


def test_the_name_of_a_file_is_part_of_the_corpus(tmp_path: Path) -> None:
    before, after = (
        load_dataset(golden(tmp_path / name, {**FILES, f"{name}.txt": "More."}, JUDGMENTS))
        for name in ("y", "z")
    )
    assert before.corpus_hash != after.corpus_hash
    assert before.judgments_hash == after.judgments_hash


@pytest.mark.parametrize(
    ("old", "new"), [("stops at 7 bar", "stops at 7"), ("ambiguous", "normal"), (" g3", " g4")]
)
def test_a_changed_judgment_changes_its_hash_alone(tmp_path: Path, old: str, new: str) -> None:
    before = load_dataset(golden(tmp_path / "a", FILES, JUDGMENTS))
    after = load_dataset(golden(tmp_path / "b", FILES, JUDGMENTS.replace(old, new, 1)))
    assert before.judgments_hash != after.judgments_hash
    assert before.corpus_hash == after.corpus_hash


def test_a_moved_quote_changes_the_hash_of_judgments(tmp_path: Path) -> None:
    before = load_dataset(golden(tmp_path / "a", FILES, JUDGMENTS))
    moved: dict[str, str | bytes] = {"pump.md": "# Pump\n\nThe pump stops at 7 bar.\n"}
    after = load_dataset(golden(tmp_path / "b", {**FILES, **moved}, JUDGMENTS))
    assert before.judgments_hash != after.judgments_hash
