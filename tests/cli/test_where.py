"""`--where`, `--per-document` and `--near-duplicates`: what is written is what is asked."""

import json
from typing import Any

import pytest
from groundkit_cli.where import parse_where
from groundkit_core import Collection
from groundkit_core.errors import GroundkitError
from groundkit_core.retrieval.filters import AllOf, Condition, Filter, NoneOf, read

from tests.cli.answering_helpers import ask
from tests.cli.conftest import Invoke
from tests.cli.shell import Ran, Shell


def where(text: str) -> Filter:
    found = parse_where([text])
    assert found is not None
    return found


def one(key: str, **asked: Any) -> Condition:
    return Condition(key=key, **asked)


WRITTEN: dict[str, Condition] = {
    "year=2020": one("year", equals=2020),
    "year = 2020 ": one("year", equals=2020),
    "year<2020": one("year", below=2020),
    "year<=2020.5": one("year", at_most=2020.5),
    "year>-3": one("year", above=-3),
    "year>=1e3": one("year", at_least=1000.0),
    "when>=2020-05-01": one("when", at_least="2020-05-01"),
    "draft=true": one("draft", equals=True),
    "draft=false": one("draft", equals=False),
    "name=True": one("name", equals="True"),
    "code=007": one("code", equals="007"),
    "code=+7": one("code", equals="+7"),
    "code=1_000": one("code", equals="1_000"),
    "code=٣": one("code", equals="٣"),
    'year="2020"': one("year", equals="2020"),
    'name=""': one("name", equals=""),
    'name="  a "': one("name", equals="  a "),
    'name="a\\n\\u8336 \\" \\\\"': one("name", equals='a\n茶 " \\'),
    "name=Made in China": one("name", equals="Made in China"),
    "name=not in use": one("name", equals="not in use"),
    "name=a,b": one("name", equals="a,b"),
    "name=a=b": one("name", equals="a=b"),
    "name=a<b": one("name", equals="a<b"),
    "name=it's": one("name", equals="it's"),
    "name=a\nb": one("name", equals="a\nb"),
    "source^=docs/": one("source", prefix="docs/"),
    "code^=20": one("code", prefix="20"),
    'code^=" 20"': one("code", prefix=" 20"),
    "source~docs/*.md": one("source", glob="docs/*.md"),
    "source~*[!a-z]?": one("source", glob="*[!a-z]?"),
    "tag in a": one("tag", one_of=("a",)),
    "tag in a,b , c": one("tag", one_of=("a", "b", "c")),
    "tag  in  a": one("tag", one_of=("a",)),
    "year in 1,2.5": one("year", one_of=(1, 2.5)),
    'tag in "a,b",c d': one("tag", one_of=("a,b", "c d")),
    "tag in in": one("tag", one_of=("in",)),
    "in in a": one("in", one_of=("a",)),
    '"my key"=a': one("my key", equals="a"),
    '"a=b">=2': one("a=b", at_least=2),
    '"not in" in a': one("not in", one_of=("a",)),
    '"tag"': one("tag", exists=True),
    "project.owner": one("project.owner", exists=True),
    " draft ": one("draft", exists=True),
    "!draft": one("draft", exists=False),
    '!"my key"': one("my key", exists=False),
    "schlüssel=茶": one("schlüssel", equals="茶"),
    "metadata.title=x": one("metadata.title", equals="x"),
    '{"key": "year", "above": 1}': one("year", above=1),
    ' {"key": "=<>", "equals": true}': one("=<>", equals=True),
}
NEGATED: dict[str, Condition] = {
    "tag!=a": one("tag", equals="a"),
    "year != 2020": one("year", equals=2020),
    "source!~*.md": one("source", glob="*.md"),
    "tag not in a,b": one("tag", one_of=("a", "b")),
    "tag  not  in a": one("tag", one_of=("a",)),
}


@pytest.mark.parametrize(("text", "expected"), WRITTEN.items(), ids=ascii)
def test_a_condition_is_read_as_it_is_written(text: str, expected: Condition) -> None:
    found = where(text)
    assert found == expected
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(("text", "expected"), NEGATED.items(), ids=ascii)
def test_a_condition_that_is_negated_lets_all_others_through(
    text: str, expected: Condition
) -> None:
    assert where(text) == NoneOf(none_of=(expected,))


def test_several_options_have_all_to_hold() -> None:
    texts = ["year>=2020", '{"any_of": [{"key": "tag", "equals": "a"}]}', "!draft"]
    assert parse_where(texts) == AllOf(
        all_of=(one("year", at_least=2020), read(texts[1]), one("draft", exists=False))
    )
    assert parse_where([]) is parse_where(None) is None


MEANINGLESS = [
    "",
    "  ",
    "=a",
    "year=",
    "year>=",
    "source^=",
    "source~",
    "tag!=",
    "my key=a",
    "a b",
    "tag in",
    "tag in ",
    "tag in a,",
    "tag in ,a",
    "tag in a,,b",
    'tag in "a" b',
    'tag in "a',
    "tag IN a",
    "!!draft",
    "!draft=1",
    'a="\\x"',
    "a\nb=c",
    '"a"b=c',
    "year=1e999",
    "year=9223372036854775808",
    "tag in a,1",
    "year>=true",
    'a="\\ud800"',
    "x" * 300 + "=1",
    '{"key": "year"}',
    '{"key": "year", "equals": 1',
    "{year=1}",
]


@pytest.mark.parametrize("text", MEANINGLESS, ids=lambda text: ascii(text[:40]))
def test_what_means_nothing_is_one_line_and_a_usage_error(text: str, invoke: Invoke) -> None:
    ran = invoke("search", "pump", "--where", text)
    assert ran.exit_code == 2, ran.output
    assert isinstance(ran.exception, SystemExit)
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stderr.startswith("grk: ")
    assert ran.stdout == ""
    ran = invoke("answer", "pump", "--where", text, "--json")
    assert ran.exit_code == 2
    assert json.loads(ran.stdout)["error"]["message"]


@pytest.mark.parametrize(
    "texts", [["year=" + "9" * 5000], ["draft"] * 101], ids=["many digits", "many filters"]
)
def test_too_much_is_an_error_of_ours(texts: list[str]) -> None:
    with pytest.raises(GroundkitError):
        parse_where(texts)


@pytest.mark.parametrize("text", ["year==2020", "year=>2020", "year=<2020", "year<>2020", "a~=b"])
def test_an_operator_that_there_is_not_is_an_error(text: str) -> None:
    with pytest.raises(GroundkitError):
        parse_where([text])


@pytest.mark.parametrize("text", ['name="abc', 'name=abc"', 'name="a" b', 'name^="a'])
def test_quotes_that_do_not_close_are_an_error(text: str) -> None:
    with pytest.raises(GroundkitError):
        parse_where([text])


@pytest.mark.parametrize("text", ["year in 1,a", "year=1e999", "year>=true"])
def test_an_error_says_what_is_wrong_in_our_words(text: str) -> None:
    with pytest.raises(GroundkitError) as raised:
        parse_where([text])
    assert "Value error" not in str(raised.value)
    assert "'value'" not in str(raised.value)
    assert "integer" not in str(raised.value)


# In a collection

FILES = {
    "docs/new.md": "---\nyear: 2024\ntags: [blue, red]\ntitle: New pump\n---\n\nThe new pump.\n",
    "docs/old.md": "---\nyear: 1999\ntags: red\ndraft: true\n---\n\nThe old pump.\n",
    "docs/plain.txt": "The plain pump.\n",
    "docs/sub/a_b.txt": "The pump beneath.\n",
}


KEYS = "source, title, media_type, draft, tags, metadata.title, year"


@pytest.fixture(scope="module")
def pumps(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("pumps")
    shell = Shell(folder)
    for name, text in FILES.items():
        shell.write(name, text)
    shell("ingest", "docs")
    return shell


def sources(ran: Ran) -> set[str]:
    return {result["citation"]["source"].removeprefix("docs/") for result in ran.json["results"]}


def passing(shell: Shell, *given: str) -> set[str]:
    """What a search in this process finds."""
    with Collection.open(shell.folder / ".groundkit/default") as collection:
        results = collection.search("pump", filters=parse_where(list(given))).results
    return {result.citation.source.removeprefix("docs/") for result in results}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["year>=2020"], {"new.md"}),
        (["year"], {"new.md", "old.md"}),
        (["!year"], {"plain.txt", "sub/a_b.txt"}),
        (["tags=red"], {"new.md", "old.md"}),
        (["tags!=blue"], {"old.md", "plain.txt", "sub/a_b.txt"}),
        (["tags=red", "draft!=true"], {"new.md"}),
        (["title=New pump"], {"new.md"}),
        (["source~*/*_*"], {"sub/a_b.txt"}),
        (["source^=docs/sub/"], {"sub/a_b.txt"}),
        (["media_type=text/plain"], {"plain.txt", "sub/a_b.txt"}),
        (["year in 1999,2024", "tags in blue"], {"new.md"}),
        (['{"none_of": [{"key": "year", "exists": true}]}'], {"plain.txt", "sub/a_b.txt"}),
        (["year>3000"], set()),
    ],
)
def test_only_passages_of_what_passes_are_found(
    given: list[str], expected: set[str], pumps: Shell
) -> None:
    assert passing(pumps, *given) == expected


def test_options_of_the_command_are_all_in_force(pumps: Shell) -> None:
    options = ("--where", "tags in red,green", "--where", "draft!=true")
    ran = pumps("search", "pump", "--json", *options)
    assert sources(ran) == passing(pumps, *options[1::2]) == {"new.md"}


def test_json_shows_the_metadata_of_each_result(pumps: Shell) -> None:
    ran = pumps("search", "pump", "--json", "--where", "year=2024")
    for result in ran.json["results"]:
        assert result["metadata"] == {"year": 2024, "tags": ["blue", "red"], "title": "New pump"}
    saved = pumps.write("saved.json", ran.out)
    count = len(ran.json["results"])
    assert pumps("verify", saved).lines[-1].startswith(f"{count} verified")


def test_nothing_found_says_that_where_was_in_force(pumps: Shell) -> None:
    ran = pumps("search", "pump", "--where", "year>3000")
    assert ran.out == ""
    assert ran.err == "no passage that --where allows holds a word of the query\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "yaer=2024",
            f"no document has the key 'yaer'; there are: {KEYS}",
        ),
        ("year=old", "the key 'year' holds numbers, not text"),
        ("source>1", "the key 'source' holds text, not numbers"),
    ],
)
def test_a_key_or_a_kind_that_nothing_has_is_a_usage_error(
    text: str, said: str, pumps: Shell
) -> None:
    assert pumps("search", "pump", "--where", text, code=2).err == f"grk: {said}\n"
    error = pumps("search", "pump", "--where", text, "--json", code=2).json["error"]
    assert (error["type"], error["message"]) == ("RetrievalError", said)


def test_the_model_sees_and_cites_only_what_is_allowed(pumps: Shell) -> None:
    options = ("--where", "year>=2020", "--where", "tags=blue", "--json")
    ran = ask(pumps, "It is new [1].", query="which pump", args=options)
    assert sources(ran) == {"new.md"}
    assert [each["source"] for each in ran.json["citations"]] == ["docs/new.md"]
    ask(pumps, "It is old [9].", query="which pump", args=options, code=5)


def test_a_dry_run_would_send_only_what_is_allowed(pumps: Shell) -> None:
    chat = ("--chat-provider", "ollama", "--chat-model", "m")
    ran = pumps("answer", "which pump", "--dry-run", *chat, "--where", "draft=true", "--json")
    sent = json.dumps(ran.json["body"])
    assert "The old pump." in sent
    assert not any(each in sent for each in ("new pump", "plain pump", "beneath"))


def test_nothing_allowed_is_no_evidence_and_no_request(pumps: Shell) -> None:
    ran = ask(pumps, query="which pump", args=("--where", "year>3000"), code=5)
    assert ran.out == ""


CROWDED = {
    "docs/crowd.md": "".join(f"# Pump {n}\n\nThe pump, number {n}.\n\n" for n in range(8)),
    "docs/one.txt": "Of the pump in the other house nothing more is said here.\n",
    "docs/two.txt": "Of the pump in the other house nothing more is said there.\n",
}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    shell = Shell(tmp_path_factory.mktemp("crowded"))
    for name, text in CROWDED.items():
        shell.write(name, text)
    shell("ingest", "docs")
    return shell


def test_one_document_gives_no_more_passages_than_allowed(crowded: Shell) -> None:
    ran = crowded("search", "pump", "-k", "4", "--json")
    assert sources(ran) == {"crowd.md"}
    ran = crowded("search", "pump", "-k", "4", "--per-document", "2", "--json")
    assert [r["citation"]["source"] for r in ran.json["results"]][:2] == ["docs/crowd.md"] * 2
    assert (sources(ran), len(ran.json["results"])) == ({"crowd.md", "one.txt", "two.txt"}, 4)


def test_near_duplicates_are_listed_below_the_better_one(crowded: Shell) -> None:
    options = ("--near-duplicates", "0.7", "--where", "media_type=text/plain")
    ran = crowded("search", "pump", *options, "--json")
    (result,) = ran.json["results"]
    (similar,) = result["similar"]
    names = {result["citation"]["source"], similar["source"]}
    assert names == {"docs/one.txt", "docs/two.txt"}
    shown = crowded("search", "pump", *options).lines
    assert f"   similar: {similar['source']}:1" in shown
    assert len(crowded("search", "pump", *options[2:], "--json").json["results"]) == 2


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--per-document", "0"), "per_document is 0, it must be 1 or more"),
        (("--near-duplicates", "0"), "near_duplicates is 0.0, it must be above 0 and at most 1"),
        (("--near-duplicates", "nan"), "near_duplicates is nan, it must be above 0 and at most 1"),
        (
            ("--near-duplicates", "0.5", "--all-copies"),
            "all copies cannot be listed and near-duplicates left out",
        ),
    ],
)
def test_a_limit_that_means_nothing_is_a_usage_error(
    option: tuple[str, ...], said: str, indexed: Shell
) -> None:
    assert indexed("search", "pump", *option, code=2).err == f"grk: {said}\n"


def test_an_answer_keeps_to_the_limits_too(crowded: Shell) -> None:
    options = ("--per-document", "1", "--near-duplicates", "0.7", "--json")
    ran = ask(crowded, "It is there [1].", query="pump", args=options)
    assert len(ran.json["results"]) == 2
