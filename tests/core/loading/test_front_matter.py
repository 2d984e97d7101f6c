import json
import sys
import time
from itertools import pairwise
from typing import Any

import pytest
import yaml
from groundkit_core.errors import MetadataError
from groundkit_core.loading import front_matter as module
from groundkit_core.loading.detect import decode
from groundkit_core.loading.front_matter import FrontMatter, body_start, front_matter
from groundkit_core.loading.markdown import blocks
from groundkit_core.metadata import Metadata, normalised
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import unhurried

LINE_ENDS = pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])

READ: dict[str, Metadata] = {
    # A blog's
    "---\nlayout: post\ntitle:  'It is here: 1.0'\ndate: 2020-06-13 15:37:57 +02:00\n"
    "categories: [news, release]\npublished: yes\n---\n\n# Text\n": {
        "layout": "post",
        "title": "It is here: 1.0",
        "date": "2020-06-13T13:37:57Z",
        "categories": ("news", "release"),
        "published": True,
    },
    # A notebook's
    "---\naliases: []\nup: [[Index]]\ntags:\n- a\n- b/c\nrating: 4\ncreated: 2024-01-02\n---\n": {
        "up": "Index",
        "tags": ("a", "b/c"),
        "rating": 4,
        "created": "2024-01-02",
    },
    # A paper's
    "---\ntitle: |\n  One\n  two\nauthor:\n  - name: A B\n    place: X\n  - name: C D\n...\nText": {
        "title": "One\ntwo\n",
        "author.name": ("A B", "C D"),
        "author.place": "X",
    },
    # A site's, in TOML
    '+++\ntitle = "A page"\nweight = 10\ndate = 1979-05-27T07:32:00-08:00\n[params]\n'
    'tags = ["a", "b"]\nratio = 0.5\n[[params.people]]\nname = "A"\n+++\nText': {
        "title": "A page",
        "weight": 10,
        "date": "1979-05-27T15:32:00Z",
        "params.tags": ("a", "b"),
        "params.ratio": 0.5,
        "params.people.name": "A",
    },
    # What YAML makes of it
    "---\na: 0o17\nb: 1_000\nc: 12:30\nd: no\ne: 1.10\nf: ~\ng: 2020-06-13 15:37 +0200\n---": {
        "a": "0o17",
        "b": 1000,
        "c": 750,
        "d": False,
        "e": 1.1,
        "g": "2020-06-13 15:37 +0200",
    },
    "---\na: &x [1, 2]\nb: *x\n2024: c\n---": {"a": (1, 2), "b": (1, 2), "2024": "c"},
    '---\n{"title": "x", "n": [1]}\n---': {"title": "x", "n": 1},
    "---\n\n# a comment\na: 1\n---": {"a": 1},
    "---  \na: 1\n---\t\nb: 2\n---\n": {"a": 1},
    "---\t\na: 1\n---": {"a": 1},
    "---\na: 1\n---": {"a": 1},
    # Nothing
    "---\n---\nText": {},
    "---\n\n \n---\nText": {},
    "+++\n+++\n": {},
    "+++\n# a comment\n+++\n": {},
}
NONE = [
    "",
    "---",
    "---\na: 1\n",
    "+++\na = 1\n---\n",
    "\n---\na: 1\n---\n",
    " ---\na: 1\n---\n",
    "----\na: 1\n----\n",
    "--- a: 1\n---\n",
    "---\na: 1\n--- b\n",
    # Prose between thematic breaks
    "---\nThe valve stays shut.\n---\n",
    "---\n\nThe valve: it stays shut.\nAnd more.\n\n---\n",
    "---\n\n**Subject: Hello**\n\nText.\n\n---\n\n> End\n",
    "---\n\n# Heading\n\n---\n",
    "---\n\n# Heading\n\nNote: text\nand more\n\n---\n",
    "---\n- one\n- two\n---\n",
    "---\n| a: | b |\n|----|---|\n---\n",
    "---\nhttps://example.org\n---\n",
    "---\n[a](b): c: d\n---\n",
    "---\n`a`: `b`\n---\n",
    "---\n{{ page }}\n---\n",
    "---\n" + "Much prose.\n" * 10_000 + "---\n",
    "+++\nThe valve stays shut.\n+++\n",
]
SECRET = "Sesame"
NO_YAML = "no valid YAML at line "
UNREADABLE = {
    "---\ntitle: {{ Sesame }}\n---": NO_YAML + "2",
    "---\na: 1\nb: {{ Sesame }}\n---": NO_YAML + "3",
    "---\na: 1\nb: {% Sesame %}\n---": NO_YAML + "3",
    "---\n# one\na:\n\tb: Sesame\n---": NO_YAML + "4",
    "---\na: Sesame: b\n---": NO_YAML + "2",
    "---\na: @Sesame\n---": NO_YAML + "2",
    "---\na: *Sesame\n---": NO_YAML + "2",
    "---\na: !Sesame b\n---": NO_YAML + "2",
    "---\na: 'Sesame\n---": NO_YAML + "3",
    "---\na: [Sesame\nb: 1\n---": NO_YAML + "3",
    "---\na: 1\n--- Sesame\n---": NO_YAML + "3",
    "---\na: b\x85c: d\u2028e: @Sesame\nf: 1\n---": NO_YAML + "2",
    "---\na: 1\nb: Se\x07same\n---": NO_YAML + "3",
    "---\na: 1\nb: Se\udc80same\n---": NO_YAML + "3",
    "---\na: 1\nb: 2024-13-45\n---": NO_YAML + "3",
    "---\na: 1\nb: [x,\n 2024-02-30]\n---": NO_YAML + "4",
    "---\na: 2024-01-01 25:00:00\n---": NO_YAML + "2",
    "---\na: !!bool Sesame\n---": NO_YAML + "2",
    "---\na: !!int ''\n---": NO_YAML + "2",
    "---\na: !!int Sesame\n---": NO_YAML + "2",
    "---\na: !!timestamp Sesame\n---": NO_YAML + "2",
    "---\na: !!binary U2VzYW1l\n---": NO_YAML + "2",
    "---\na: !!set {Sesame}\n---": NO_YAML + "2",
    "---\na: !!omap [b: Sesame]\n---": NO_YAML + "2",
    "---\na: !!pairs [b: Sesame]\n---": NO_YAML + "2",
    "---\na: !!python/name:os.system\n---": NO_YAML + "2",
    "---\na: 1\n[b]: Sesame\n---": NO_YAML + "3",
    "---\na: 1\n=: Sesame\n---": NO_YAML + "3",
    f"---\na: {'9' * 5000}\n---": NO_YAML + "2",
    f"---\na: 1{':59' * 1000}.5\n---": NO_YAML + "2",
    "---\na: 1\nb: 2\na: Sesame\n---": "the same key again at line 4",
    "---\na:\n  yes: 1\n  on: 2\n---": "the same key again at line 4",
    "---\na: &x {b: Sesame}\n<<: *x\n---": "the merge key << is not supported at line 3",
    "---\n<<: {a: Sesame}\n---": "the merge key << is not supported at line 2",
    "---\na: " + "[" * 60 + "]" * 60 + "\n---": "nested more than 50 levels deep at line 2",
    "---\na: &x [*x]\n---": "metadata is nested more than 50 levels deep",
    "---\na: 18446744073709551616\n---": "'a': a whole number beyond 64 bits",
    "---\na: {b: .nan}\n---": "'a.b': a number that is not finite",
    "---\nyes: Sesame\n---": "a key: bool is not text",
    "---\na: 0001-01-01 00:00:00 +14:00\n---": "'a': a time outside the years 1 to 9999",
    "+++\na = 1\nb = Sesame\n+++": "no valid TOML at line 3",
    "+++\na = 1\na = 'Sesame'\n\n+++": "no valid TOML at line 3",
    "+++\n\na = [\n+++": "no valid TOML at line 3",
    "+++\na = {{ Sesame }}\n+++": "no valid TOML at line 2",
    "+++\na = 2024-13-45\n+++": "no valid TOML at line 2",
    "+++\n[Sesame\n+++": "no valid TOML at line 2",
    f"+++\na = {'9' * 5000}\n+++": "no valid TOML",
    f"+++\na = {'[' * 5000}\n+++": "nested more than 50 levels deep",
    f"+++\n\na{'.a' * 50} = 1\n+++": "nested more than 50 levels deep at line 3",
    "+++\na = nan\n+++": "'a': a number that is not finite",
}


@LINE_ENDS
@pytest.mark.parametrize("text", READ)
def test_front_matter_is_metadata(text: str, line_end: str) -> None:
    found = front_matter(text.replace("\n", line_end))
    assert found is not None
    assert (found.metadata, found.problem) == (READ[text], None)
    assert repr(found.metadata) == repr(READ[text])  # which tells 1 from True


@LINE_ENDS
@pytest.mark.parametrize("text", NONE, ids=lambda text: ascii(text[:40]))
def test_other_texts_have_none(text: str, line_end: str) -> None:
    ended = text.replace("\n", line_end)
    assert front_matter(ended) is None
    assert body_start(ended) == 0


@LINE_ENDS
@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: ascii(text[:40]))
def test_a_problem_is_told_by_its_line_and_quotes_nothing(text: str, line_end: str) -> None:
    found = front_matter(text.replace("\n", line_end))
    assert found == FrontMatter({}, None, f"front matter: {UNREADABLE[text]}")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("title: One", "One"),
        ("title: |\n  One\n\n    two\t three\n", "One two three"),
        ("title: ''", None),
        ('title: "\\t"', None),
        ("title: [One, two]", None),
        ("title: [One, One]", "One"),
        ("title: 2024", None),
        ("title: {a: One}", None),
        ("Title: One", None),
        ("a: One", None),
    ],
)
def test_a_title_is_one_text_on_one_line(text: str, title: str | None) -> None:
    found = front_matter(f"---\n{text}\n---\n")
    assert found is not None
    assert found.title == title


@LINE_ENDS
def test_the_body_starts_behind_the_line_of_the_closing_fence(line_end: str) -> None:
    for text in READ:
        ended = text.replace("\n", line_end)
        assert front_matter(ended[: body_start(ended)]) == front_matter(ended)
    front, body = "---\na: {{ b }}\n---\n", "\nText\n---\n"
    text = (front + body).replace("\n", line_end)
    assert text[body_start(text) :] == body.replace("\n", line_end)


def test_headings_between_thematic_breaks_are_headings_of_the_text() -> None:
    text = "---\n\n# One\n\nText\n\n---\n\n# Two\n"
    assert [block.title for block in blocks(text) if block.kind == "heading"] == ["One", "Two"]
    front = "---\na: {{ b }}\n# One\n---\n"
    found = [(block.kind, block.title, block.end) for block in blocks(front + "# Two\n")]
    assert found == [("lined", "", len(front)), ("heading", "Two", len(front) + 6)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_no_part_of_it(encoding: str) -> None:
    text = decode("---\ntitle: é\n---\n".encode(encoding)).text
    assert front_matter(text) == FrontMatter({"title": "é"}, "é")


def test_what_is_long_is_a_problem() -> None:
    line = "a: " + "x" * 60 + "\n"
    for fence, text in (("---", line.replace("a", "title")), ("+++", line.replace("a:", "a ="))):
        found = front_matter(f"{fence}\n{text * 1100}{fence}\n")
        assert found == FrontMatter(problem="front matter: longer than 65536 characters")
    fits = "a: 1\n" + "#" * (64 * 1024 - 7)
    assert front_matter(f"---\n{fits}\n---") == FrontMatter({"a": 1})
    assert front_matter(f"---\n{fits}#\n---") == FrontMatter(
        problem="front matter: longer than 65536 characters"
    )


def bomb(leaf: str, form: str) -> str:
    """A few lines in which every name stands for nine of the one before."""
    letters = "bcdefghijklm"
    lines = [f"b: &b {leaf}"]
    for last, name in pairwise(letters):
        parts = [f"*{last}"] * 9
        if form == "mapping":
            body = "{" + ", ".join(f"k{i}: {part}" for i, part in enumerate(parts)) + "}"
        else:
            body = f"[{', '.join(parts)}]" if form == "list" else f"{{<<: [{', '.join(parts)}]}}"
        lines.append(f"{name}: &{name} {body}")
    return "\n".join(lines)


ROOM = 64 * 1024 - 100
ENDLESS = {
    "flow lists": "---\na: " + "[" * ROOM,
    "flow mappings": "---\na: " + "{" * ROOM,
    "flow pairs": "---\na: " + '{"a":' * (ROOM // 5),
    "block lists": "---\na:\n  " + "- " * (ROOM // 2),
    "block keys": "---\na:\n  " + "? " * (ROOM // 2),
    "indentation": "---\n" + "\n".join(" " * i + "a:" for i in range(350)),
    "many keys": "---\n" + "\n".join(f"k{i}: 1" for i in range(ROOM // 10)),
    "many values": "---\na: [" + "b," * (ROOM // 3) + "]",
    "sixties": "---\na: 1" + ":1" * (ROOM // 2),
    "multiplied lists": "---\n" + bomb("[x]", "list"),
    "multiplied nothing": "---\n" + bomb("[]", "list"),
    "multiplied mappings": "---\n" + bomb("{}", "mapping"),
    "multiplied merges": "---\n" + bomb("{x: 1}", "merge"),
    "arrays": "+++\na = " + "[" * ROOM,
    "inline tables": "+++\na = " + "{a=" * (ROOM // 3),
    "dotted keys": "+++\na" + ".a" * (ROOM // 2) + " = 1",
    "quoted keys": "+++\na" + " . 'a'" * (ROOM // 6) + " = 1",
    "escaped keys": "+++\na" + '."\\""' * (ROOM // 5) + " = 1",
    "inline keys": "+++\nb = {a" + ".a" * (ROOM // 2) + " = 1}",
    "headers": "+++\n[a" + ".a" * (ROOM // 2) + "]",
    "many headers": "+++\n" + "[a.b.c.d]\n" * (ROOM // 10),
    "10 MB": "---\n" + "a: 1\n" * 2_000_000,
    "10 MB of comments": "---\n" + "# a\n" * 2_500_000 + "a: 1\n",
    "10 MB of brackets": "---\na: " + "[" * 10_000_000,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_could_take_long_or_break_the_reader_ends_at_once(name: str) -> None:
    text = ENDLESS[name] + "\n" + ENDLESS[name][:3] + "\n"
    start = time.process_time()
    found = front_matter(text)
    assert time.process_time() - start < 5
    assert (found is None) == (name == "10 MB of comments")
    assert found is None or found.problem


def test_aliases_of_a_deep_list_never_reach_the_stack() -> None:
    deep = "\n".join(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, sys.getrecursionlimit()))
    found = front_matter(f"---\na0: &a0 [1]\n{deep}\n---\n")
    assert found == FrontMatter(problem="front matter: metadata is nested more than 50 levels deep")


names = st.sampled_from(["a", "b", "title", "yes", "1", "a b", "é", "<<", "="])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def expected(written: dict[str, Any]) -> Metadata | None:
    try:
        return normalised(written)
    except MetadataError:
        return None


@unhurried
@given(st.dictionaries(names, values, max_size=4), st.booleans())
def test_yaml_is_read_as_it_was_written(written: dict[str, Any], flow: bool) -> None:
    text = yaml.safe_dump(written, default_flow_style=flow, allow_unicode=True)
    found = front_matter(f"---\n{text}---\n")
    stored = expected(written)
    assert found is not None
    if stored is None:
        assert found.problem
    else:
        assert repr(found.metadata) == repr(expected(yaml.safe_load(text)))
        assert found.metadata == stored


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('aé🚰"\\\n\t:#- ', max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@unhurried
@given(st.dictionaries(names, json_values, max_size=4))
def test_json_is_read_as_it_was_written(written: dict[str, Any]) -> None:
    found = front_matter(f"---\n{json.dumps(written, ensure_ascii=False)}\n---\n")
    assert found is not None
    assert (found.metadata, found.problem) == (normalised(written), None)


PIECES = [
    *"abk01-+?:,[]{}&*!|>'\"%@`#=.~\\\t\n\r\x00\x07\x85\u2028\ud800\ufeffé",
    *("a: ", "title: ", "- ", "? ", "&a ", "*a ", "<<: ", "{{ a }}", "# c\n", "\n  ", "\n\t"),
    *("!!str ", "!!int ", "!!float ", "!!bool ", "!!null ", "!!timestamp ", "!!binary ", "!!set "),
    *("!!omap ", "!!pairs ", "!!map ", "!!seq ", "!a ", "!<b> ", "%YAML 9.9\n", "--- ", "\\ud800"),
    *("2024-13-45", "0001-01-01 00:00:00 +14:00", "2024-01-01t1:1:1.9999999z", "24:00:00"),
    *("1:2:3", "0x", "0b2", "09", "_", "-.inf", ".nan", "1e400", "9" * 30, "9" * 5000, "yes"),
    *("a = ", "[a]\n", "[[a.b]]\n", '"""', "'''", "nan", "1979-05-27T07:32:00-25:00", "{a=1}"),
]


@unhurried
@given(st.sampled_from(["---", "+++"]), st.lists(st.sampled_from(PIECES) | st.text(max_size=3)))
def test_whatever_stands_between_fences_is_read_or_a_problem(fence: str, parts: list[str]) -> None:
    text = f"{fence}\n{''.join(parts)}\n{fence}\n"
    found = front_matter(text)
    assert body_start(text) in ({0} if found is None else set(range(7, len(text) + 1)))
    if found is not None:
        assert repr(normalised(found.metadata)) == repr(found.metadata)
        assert not (found.metadata and found.problem)


def test_without_libyaml_front_matter_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = type("Loader", (module._Strict, yaml.SafeLoader), {})
    monkeypatch.setattr(module, "_Loader", loader)
    for text, metadata in READ.items():
        assert front_matter(text) == FrontMatter(metadata, _title(metadata))
    for text in NONE:
        assert front_matter(text) is None
    for text, problem in UNREADABLE.items():
        assert front_matter(text) == FrontMatter(problem=f"front matter: {problem}")


def _title(metadata: Metadata) -> str | None:
    title = metadata.get("title")
    return " ".join(str(title).split()) if title else None
