import ast
import json
import re
from pathlib import Path

import pytest
from groundkit_core.index.bm25s_bridge import stop_words
from groundkit_core.terms import LANGUAGES, Analyzer
from pydantic import TypeAdapter

from scripts import cli_page, schemas
from tests.cli.shell import Shell

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTED = ["--chat-provider", "scripted", "--chat-script", "replies.json"]
REPLIES = [
    "There is no hose [1].",
    '{"faithful": false, "unsupported_claims": ["no hose"], "reasoning": "No."}',
]
REFUSALS = "how-to/why-it-refused.md"
REFRESH = "run: hatch run python -m scripts.refresh_docs"


def table(page: str) -> list[list[str]]:
    """Cells of the first table on a page, the heading left out."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows[1:]]


def test_the_command_line_page_is_current() -> None:
    assert cli_page.PAGE.read_text(encoding="utf-8") == cli_page.page(), REFRESH


def test_the_schemas_are_current() -> None:
    written = {path.name: path.read_text("utf-8") for path in schemas.FOLDER.iterdir()}
    assert written == schemas.schemas(), REFRESH


def test_every_schema_is_linked() -> None:
    page = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\(schemas/(.+?)\)", page)) == sorted(schemas.schemas())


@pytest.mark.parametrize(
    ("schema", "command", "code"),
    [
        ("ingest", ["ingest", "folder"], 1),
        ("search", ["search", "hose"], 0),
        ("verify", ["verify"], 1),
        ("verify", ["verify", "saved.json"], 1),
        ("answer", ["answer", "hose", *SCRIPTED, "--judge"], 0),
        ("answer", ["answer", "pumps", *SCRIPTED], 0),
        ("answer-dry-run", ["answer", "hose", "--dry-run"], 0),
        ("doctor", ["doctor"], 0),
        ("doctor", ["doctor", "--repair"], 0),
        ("collections-list", ["collections", "list"], 0),
        ("collections-show", ["collections", "show"], 0),
        ("collections-show", ["collections", "reindex"], 0),
        ("collections-show", ["collections", "compact"], 0),
        ("collections-delete", ["collections", "delete", "default", "--yes"], 0),
        ("error", ["search", "hose", "--collection", "other"], 3),
        ("error", ["search", " "], 2),
        ("error", ["answer", "hose", "--chat-provider", "scripted"], 4),
        ("error", ["answer", "zeppelin", *SCRIPTED], 5),
    ],
    ids=str,
)
def test_output_is_what_the_schema_says(
    tmp_path: Path, schema: str, command: list[str], code: int
) -> None:
    grk = Shell(tmp_path)
    grk.write("folder/a.md", "# Hoses\n\nA hose holds 7 bar.\n\n# Pumps\n\nNo hose here.\n")
    grk.write("folder/b.pptx", "slides")
    grk.write("replies.json", json.dumps(REPLIES))
    grk("ingest", "folder", code=1)
    grk.write("saved.json", grk("search", "hose", "--json").out)
    grk.write("folder/a.md", "# Hoses\n\nA hose holds 9 bar.\n\n# Pumps\n\nNo hose here.\n")

    done = grk(*command, "--json", code=code)
    adapter = TypeAdapter(schemas.PRINTED[schema])
    printed = adapter.validate_json(done.out)
    assert adapter.dump_python(printed, mode="json") == done.json


def test_a_shown_passage_is_what_the_schema_says(tmp_path: Path) -> None:
    grk = Shell(tmp_path)
    grk.write("a.md", "# Hoses\n\nSeven bar.\n\n# Pumps\n\nNo hose here.\n")
    grk("ingest", "a.md")
    [found, *_] = grk("search", "pumps", "--json").json["results"]
    done = grk("show", found["citation"]["chunk_id"], "--before", "1", "--json")
    adapter = TypeAdapter(schemas.PRINTED["show"])
    printed = adapter.validate_json(done.out)
    assert adapter.dump_python(printed, mode="json") == done.json
    assert (printed.at, len(printed.passages), printed.verification.status) == (1, 2, "verified")


def test_the_settings_table_lists_what_may_be_set(tmp_path: Path) -> None:
    names = [row[0].strip("`") for row in table("reference/settings.md")]
    told = Shell(tmp_path)("search", "x", env={"GROUNDKIT__INDEX__COLOUR": "red"}, code=2).err
    listed = told.partition("it may set ")[2].strip().split(", ")
    assert sorted(names) == sorted(listed)


def test_the_settings_table_names_the_environment_variables() -> None:
    for name, variable, *_ in table("reference/settings.md"):
        section, key = name.strip("`").upper().split(".")
        assert variable == f"`GROUNDKIT__{section}__{key}`"


@pytest.mark.parametrize(("text", "terms"), table("explanation/terms.md"))
def test_text_becomes_the_terms_in_the_table(text: str, terms: str) -> None:
    assert Analyzer("english").terms(text.strip("`")) == re.findall("`(.+?)`", terms)


def test_the_listed_languages_exist() -> None:
    page = (DOCS / "how-to" / "language.md").read_text(encoding="utf-8")
    listed = re.findall("`([a-z_]+)`[,.]", page.partition("The languages are")[2])
    assert len(listed) > 30
    assert set(listed) <= set(LANGUAGES)


def test_the_languages_said_to_have_stop_words_have_them() -> None:
    page = (DOCS / "how-to" / "language.md").read_text(encoding="utf-8")
    said = re.search(r"Stop words exist for ([\w, \n]+)\.", page)
    assert said is not None
    names = re.findall("[A-Z][a-z]+", said[1])
    assert len(names) > 10
    assert [name for name in names if not stop_words(name.lower())] == []


def said(node: ast.AST) -> str:
    """A string that a program writes, with `…` for what it fills in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(said(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "…"


def test_every_refusal_that_is_explained_is_one_that_the_program_makes() -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for package in ("providers", "cli")
        for path in (DOCS.parent / "packages" / f"groundkit-{package}" / "src").rglob("*.py")
    ]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    strings = [said(node) for node in nodes if isinstance(node, ast.JoinedStr | ast.Constant)]
    tables = re.findall(
        r"^\| message \|.*\n(?:\|.*\n)+", (DOCS / REFUSALS).read_text("utf-8"), re.M
    )
    rows = [line.split(" | ")[0] for part in tables for line in part.splitlines()[2:]]
    messages = [message for row in rows for message in re.findall("`(.+?)`", row)]
    assert len(tables) == 6
    assert [one for one in messages if not any(one in string for string in strings)] == []
