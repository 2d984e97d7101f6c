import re

import pytest

from tests.cli.shell import Shell

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def test_a_result_shows_rank_place_heading_verdict_score_and_passage(indexed: Shell) -> None:
    found = indexed("search", "stop the valve", "--json").json["results"]
    stop, start = (f"{result['score']:.2f}" for result in found)
    assert stop > start
    assert indexed("search", "stop the valve").out == (
        f"1. docs/pump.md:7-9  Pump manual › Stop  [verified, score {stop}]\n"
        "   ## Stop\n"
        "\n"
        "   Close the valve. The pump stops in ten seconds.\n"
        "\n"
        f"2. docs/pump.md:1-5  Pump manual › Start  [verified, score {start}]\n"
        "   # Pump manual\n"
        "\n"
        "   ## Start\n"
        "\n"
        "   Open the valve slowly. Wait for five bar.\n"
        "\n"
    )


def test_json_is_the_search_response_with_verdicts(indexed: Shell) -> None:
    response = indexed("search", "ledger", "--json").json
    (result,) = response.pop("results")
    assert response == {
        "schema_version": 1,
        "query": "ledger",
        "mode": "bm25",
        "top_k": 10,
        "collection": "default",
        "generation": 1,
        "truncated": False,
        "next_cursor": None,
    }
    text = (indexed.folder / "docs/notes.txt").read_text()
    citation, verdict = result["citation"], result["verification"]
    assert result["rank"] == 1
    assert citation["source"] == "docs/notes.txt"
    assert citation["unit"] == "code_point"
    assert text[citation["start"] : citation["end"]] == result["content"]
    assert verdict["status"] == "verified"
    assert verdict["span"] == {"start": citation["start"], "end": citation["end"]}
    assert verdict["lines"] == citation["lines"] == [1, 3]


def test_matched_words_are_bold_on_a_terminal_only(grk: Shell) -> None:
    grk.write("docs/kitchen.txt", "The stopped pumps. 茶壶在厨房的架子上\n")
    grk("ingest", "docs")
    query = ("search", "stopping 厨房", "-k", "2")
    piped = grk(*query).out
    shown = grk.terminal(*query).out
    assert f"The {BOLD}stopped{PLAIN} pumps. 茶壶在{BOLD}厨房{PLAIN}的架子上" in shown
    assert f"The pump {BOLD}stops{PLAIN} in ten seconds" in shown
    bare = shown.replace(BOLD, "").replace(PLAIN, "")
    assert re.sub(r"\x1b\]8;;.*?\x1b\\", "", bare) == piped
    link = (grk.folder / "docs/kitchen.txt").as_uri()
    assert f"1. \x1b]8;;{link}\x1b\\docs/kitchen.txt:1\x1b]8;;\x1b\\  [" in shown
    assert grk.terminal(*query, env={"NO_COLOR": "1"}).out == piped
    assert grk(*query, env={"FORCE_COLOR": "1"}).out == piped


def test_equal_passages_are_one_result_that_lists_the_other_places(grk: Shell) -> None:
    for name in "abcde":
        grk.write(f"docs/{name}.txt", "The zebra crossing.\n")
    grk("ingest", "docs")
    score = grk("search", "zebra", "--json").json["results"][0]["score"]
    heading, passage, also, blank = grk("search", "zebra").lines
    assert passage == "   The zebra crossing."
    first = heading.split(":")[0].removeprefix("1. ")
    others = [f"docs/{name}.txt:1" for name in "abcde" if f"docs/{name}.txt" != first]
    assert also == f"   also: {', '.join(others[:3])} and 1 more"
    assert blank == ""
    copies = grk("search", "zebra", "--all-copies", "--json").json["results"]
    assert [result["rank"] for result in copies] == [1, 2, 3, 4, 5]
    assert [result["score"] for result in copies] == [score] * 5
    assert {result["citation"]["source"] for result in copies} == {
        f"docs/{name}.txt" for name in "abcde"
    }
    assert "also:" not in grk("search", "zebra", "--all-copies").out


@pytest.mark.parametrize("flag", ["-k", "--top-k"])
def test_the_number_of_results_can_be_given(indexed: Shell, flag: str) -> None:
    response = indexed("search", "the", flag, "1", "--json").json
    assert response["top_k"] == len(response["results"]) == 1


def test_a_search_without_hits_prints_nothing_but_a_note(indexed: Shell) -> None:
    ran = indexed("search", "zebra")
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    ran = indexed("search", "zebra", "--json")
    assert (ran.json["results"], ran.err) == ([], "")


def test_a_query_may_look_like_an_option_after_two_dashes(indexed: Shell) -> None:
    indexed.write("docs/flags.txt", "The --rehash flag reads every file.\n")
    indexed("ingest", "docs")
    (found,) = indexed("search", "--json", "--", "--rehash").json["results"]
    assert found["citation"]["source"] == "docs/flags.txt"
