"""Control characters from documents and file names never reach a terminal."""

import json
import re
import unicodedata

import pytest
from groundkit_cli.output import printable
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.shell import Ran, Shell

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
KINDS = {
    "escape sequence": "\x1b[31m",
    "operating system command": "\x1b]0;title\x07",
    "bell": "\x07",
    "backspace": "\b\b",
    "carriage return": "\roverwritten",
    "form feed": "\f",
    "C1 sequence": "\x9b2J",
    "delete": "\x7f",
    "bidi override": "\u202eevil\u202c",
    "bidi isolate": "\u2066evil\u2069",
    "line separator": "\u2028",
}


def forbidden(text: str, *, breaks: str = "\n\t") -> list[str]:
    """What a terminal would obey: control characters, line separators, marks that reorder."""
    return [
        character
        for character in text
        if (unicodedata.category(character) in ("Cc", "Zl", "Zp") and character not in breaks)
        or character in BIDI
    ]


@given(st.text(st.characters(exclude_categories=())))
def test_printable_text_holds_no_control_character_but_newline_and_tab(text: str) -> None:
    shown = printable(text)
    assert forbidden(shown) == []
    shown.encode()
    assert printable(shown) == shown


@given(st.text(st.characters(categories=("L", "M", "N", "P", "S", "Zs"))))
def test_printable_leaves_other_text_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize("evil", KINDS.values(), ids=KINDS.keys())
def test_printable_names_what_it_escapes(evil: str) -> None:
    raw = printable(f"before{evil}after")
    assert raw.startswith("before")
    assert raw.endswith("after")
    assert "\\" in raw


def shown(ran: Ran) -> str:
    assert forbidden(ran.out) == []
    assert forbidden(ran.err) == []
    return ran.out


@pytest.fixture
def evil(grk: Shell) -> Shell:
    """Documents with every kind of control character in text, heading and file name."""
    everything = "".join(KINDS.values())
    in_name = everything.replace("\r", "\r\n") + "\n2. forged.md:1  [verified, score 9.99]"
    grk.write("docs/evil.md", f"# Head {everything} ing\n\nThe zebra {everything} crossing.\n")
    grk.write(f"docs/{in_name}.txt", f"The giraffe {everything} runs.\n")
    grk.write(f"docs/{in_name}.png", b"\x89PNG")
    grk.write(f"docs/{in_name}é.txt", b"caf\xe9 giraffe\n")
    grk("ingest", "docs", code=1)
    return grk


def test_documents_are_escaped_in_text_and_raw_in_json(evil: Shell) -> None:
    everything = "".join(KINDS.values())
    text = shown(evil("search", "zebra"))
    assert r"zebra \x1b[31m\x1b]0;title\x07\x07\x08\x08\roverwritten\x0c\x9b2J\x7f" in text
    assert r"Head \x1b[31m" in text.splitlines()[0]
    (result,) = evil("search", "zebra", "--json").json["results"]
    # The Markdown parser ends a line at a lone carriage return, so the heading stops there.
    assert result["content"].endswith(f"The zebra {everything} crossing.")


def test_a_terminal_gets_no_escape_sequence_but_bold_and_links(evil: Shell) -> None:
    text = evil.terminal("search", "zebra").out
    bare = re.sub(r"\x1b\]8;;(?:file:///[!-~]*)?\x1b\\", "", text)
    assert forbidden(bare.replace("\x1b[1m", "").replace("\x1b[0m", "")) == []
    assert "\x1b[1mzebra\x1b[0m" in text


def test_a_file_name_cannot_forge_a_result(evil: Shell) -> None:
    ran = evil("search", "giraffe zebra")
    response = evil("search", "giraffe zebra", "--json").json
    headings = [line for line in shown(ran).splitlines() if re.match(r"\d+\. ", line)]
    assert len(headings) == len(response["results"]) == 3
    assert all(re.search(r"  \[verified, score [\d.]+\]$", line) for line in headings)
    assert all(line.startswith("   ") or not line or line in headings for line in ran.lines)


def test_a_file_name_cannot_forge_a_line_of_a_report(evil: Shell) -> None:
    ran = evil("ingest", "docs", "--rehash", code=1)
    assert len(shown(ran).splitlines()) == 3
    evil.write("docs/evil.md", "Nothing.\n")
    for path in (evil.folder / "docs").iterdir():
        if path.name.endswith(".txt"):
            path.unlink()
    ran = evil("verify", code=1)
    count = len(evil("verify", "--json", code=1).json["not_verified"])
    assert len(shown(ran).splitlines()) == count + 1
    ran = evil("search", "zebra giraffe ledger")
    assert sum(line.startswith(("1. ", "2. ", "3. ", "4. ")) for line in ran.lines) == 4


def test_a_warning_about_a_file_is_one_line(evil: Shell) -> None:
    (guessed,) = (path for path in (evil.folder / "docs").iterdir() if path.name.endswith("é.txt"))
    guessed.write_bytes(b"another caf\xe9\n")
    ran = evil("ingest", "docs", code=1)
    shown(ran)
    assert len(ran.err.splitlines()) == 1


def test_a_heading_of_two_lines_stays_on_the_line_of_its_result(grk: Shell) -> None:
    grk.write("docs/two.md", "First\nsecond\n======\n\nThe zebra.\n")
    grk("ingest", "docs")
    first, *rest = grk("search", "zebra").lines
    assert re.fullmatch(r"1\. docs/two\.md:1-5  .*First.*second.*  \[verified, score .*\]", first)
    assert rest[0] == "   First"


def test_labels_paths_and_names_are_escaped_everywhere(grk: Shell) -> None:
    name = "a\x1b[31mb\u202e\nc"
    grk.write(f"{name}/page.txt", "A page.\n")
    ran = grk("ingest", name, "--index-dir", f"index {name}")
    shown(ran)
    assert len(ran.lines) == 2
    assert len(ran.err.splitlines()) == 1
    index = ("--index-dir", f"index {name}")
    lines = shown(grk("collections", "show", *index)).splitlines()
    assert sum(line.startswith("root ") for line in lines) == 1
    assert lines[-1].startswith("root ")
    label = next(iter(grk("collections", "show", *index, "--json").json["roots"]))
    assert label == name
    for args in (
        ("search", "x", "--root", f"no{name}=docs"),
        ("search", "x", "--collection", name),
    ):
        ran = grk(*args, *index, code=2)
        shown(ran)
        assert len(ran.err.splitlines()) == 1
    ran = grk("ingest", f"nowhere {name}", code=3)
    shown(ran)
    assert len(ran.err.splitlines()) == 1


def test_a_saved_response_cannot_forge_a_line(indexed: Shell) -> None:
    response = json.loads((indexed.folder / "saved.json").read_text())
    response["results"][0]["citation"]["source"] = "no/\x1b[2Ja\n0 drifted"
    response["results"][0]["citation"]["extractor"] = "x\n\x1b[31m"
    ran = indexed("verify", indexed.write("saved.json", json.dumps(response)), code=1)
    assert len(shown(ran).splitlines()) == 2
