import csv
import io

import pytest
from groundkit_core.chunking.blocks import Block
from groundkit_core.loading.csv import blocks
from groundkit_core.loading.rows import header_index, header_line
from hypothesis import given
from hypothesis import strategies as st

from tests.core.chunking.passages import chunks
from tests.core.strategies import unhurried
from tests.core.timing import check_linear, repeated
from tests.shared_data import shared


def found(text: str) -> list[tuple[str, str]]:
    return [(text[block.start : block.end], block.header) for block in blocks(text)]


def test_rows_stand_beneath_their_header() -> None:
    text = "part,limit\nhose,7\nvalve,9\n"
    assert blocks(text) == [
        Block(0, 11, "lined"),
        Block(11, len(text), "lined", header="part | limit"),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_divides_the_rows_alike(delimiter: str) -> None:
    rows = [["part", "limit", "note"], ["hose", "7", "a, b; c"], ["valve", "9", "d | e"]]
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    assert found(stream.getvalue())[1][1] == "part | limit | note"


def test_decimal_commas_do_not_divide_rows_with_semicolons() -> None:
    text = "part;limit\nhose;7,5\nvalve;9,5\n"
    assert found(text)[1] == ("hose;7,5\nvalve;9,5\n", "part | limit")
    assert found("a, in m;b, in m\n1,5;2,5\n")[1] == ("1,5;2,5\n", "a, in m | b, in m")


def test_a_first_line_may_name_the_delimiter() -> None:
    text = "sep=;\r\na, b;c\r\n1, 2;3\r\n"
    assert found(text) == [("a, b;c\r\n", ""), ("1, 2;3\r\n", "a, b | c")]


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n", "a | b"),
        (",a,b\n0,1,2\n", "a | b"),
        ("a,b,\n0,1,\n", "a | b"),
        ("a\nb\n", "a"),
        ("  a \t b ,c\n1,2\n", "a b | c"),
        ('"two\nlines",b\n1,2\n', "two lines | b"),
        ("Report\n\na,b\n1,2\n", "a | b"),
        ("1,2\n3,4\n", ""),
        ("a,2024\n3,4\n", ""),
        ("a,2024-01-02\n3,4\n", ""),
        ("a,true\n3,4\n", ""),
        ("a,a\n3,4\n", ""),
        ("a,,\n3,4,5\n", ""),
        ("a,b\n", ""),
        (f"a,{'b' * 101}\n1,2\n", ""),
        ("", ""),
    ],
)
def test_the_first_row_is_the_header_where_it_names_columns(text: str, header: str) -> None:
    assert [h for _, h in found(text) if h] == ([header] if header else [])


def test_a_long_header_is_cut() -> None:
    line = header_line([f"column {n:03}" for n in range(100)])
    assert len(line) == 300
    assert line.startswith("column 000 | column 001 | ")
    assert line.endswith("…")


def test_a_header_without_rows_is_none() -> None:
    assert header_index([]) is None
    assert header_index([["a", "b"]]) is None
    assert header_index([["title", ""], ["a", "b"], ["1", "2"]]) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_row_that_spans_lines_is_a_block_of_its_own(end: str) -> None:
    text = end.join(["a,b", '1,"x', "", 'y ""z"""', "2,3", "4,5", ""])
    assert found(text) == [
        (f"a,b{end}", ""),
        (f'1,"x{end}{end}y ""z"""{end}', "a | b"),
        (f"2,3{end}4,5{end}", "a | b"),
    ]


def test_quotes_that_are_never_closed_are_characters() -> None:
    rows = "".join(f"{n},x\n" for n in range(3000))
    text = f'a,b\n1,"open\n{rows}'
    parts = found(text)
    assert "".join(part for part, _ in parts) == text
    assert parts[1][0].startswith('1,"open\n0,x\n')
    assert {header for _, header in parts[1:]} == {"a | b"}
    assert {block.kind for block in blocks(text)} == {"lined"}


def test_a_cell_beyond_the_readers_limit_is_one_line() -> None:
    assert csv.field_size_limit() == 131_072
    text = f'a,b\n1,"{"x" * 200_000}"\n2,3\n'
    assert "".join(part for part, _ in found(text)) == text
    assert csv.field_size_limit() == 131_072


def test_many_rows_are_few_blocks() -> None:
    text = "name,number\n" + "".join(f"row,{n}\n" for n in range(100_000))
    assert len(blocks(text)) < 100
    assert "".join(part for part, _ in found(text)) == text


def test_every_passage_but_the_first_has_the_header_in_its_path() -> None:
    text = "part,limit\n" + "".join(f"hose {n},{n}\n" for n in range(100))
    first, *others = chunks(text, "csv", size=20)
    assert first.heading_path == ()
    assert first.content.startswith("part,limit\nhose 0,0\n")
    assert {chunk.heading_path for chunk in others} == {("part | limit",)}
    lines = [line for chunk in [first, *others] for line in chunk.content.split("\n")]
    assert lines == text.strip().split("\n")


cells = st.text(st.sampled_from('ab ,;|\t"\n\r1é茶'), max_size=8)


@unhurried
@given(st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=30))
def test_a_block_ends_where_a_row_does(rows: list[list[str]]) -> None:
    lines = []
    for row in rows:
        stream = io.StringIO()
        csv.writer(stream, quoting=csv.QUOTE_ALL, delimiter=",").writerow(row)
        lines.append(stream.getvalue())
    text = "sep=,\n" + "".join(lines)
    ends = {len(text)}
    position = len("sep=,\n")
    for line in lines:
        position += len(line)
        ends.add(position)
    assert {block.end for block in blocks(text)} <= ends


@pytest.mark.parametrize("unit", ['"', ",", '"\n', '""\n', '"a\n', ',"\n', 'a"b,"c\n', "\n", "a;"])
def test_hostile_rows_are_read_in_linear_time(unit: str) -> None:
    check_linear(blocks, lambda size: repeated(unit, size), 200_000)


def test_real_files_have_their_headers() -> None:
    headers = {}
    for path in shared("data", "docs_docling", "csv").glob("*.csv"):
        text = path.read_bytes().decode()
        headers[path.stem] = next((header for _, header in found(text) if header), "")
    customers = (
        "Index | Customer Id | First Name | Last Name | Company | City | Country | Phone 1"
        " | Phone 2 | Email | Subscription Date | Website"
    )
    assert headers == {
        **dict.fromkeys(("csv-comma", "csv-pipe", "csv-semicolon", "csv-tab"), customers),
        "csv-single-column": "Industry",
        **dict.fromkeys(("csv-comma-in-cell", "csv-inconsistent-header"), ""),
        **dict.fromkeys(("csv-too-few-columns", "csv-too-many-columns"), ""),
    }
