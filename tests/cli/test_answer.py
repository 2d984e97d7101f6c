"""What `grk answer` prints."""

import json
import re
from pathlib import Path
from textwrap import indent

import pytest
from groundkit_cli.answer import show
from groundkit_providers.answer import AnswerReport
from groundkit_providers.budget import estimate_tokens
from groundkit_providers.framing import framed
from groundkit_providers.synthesis import (
    DEFAULT_SYNTHESIS_TEMPLATE,
    SYNTHESIS_SYSTEM,
    Synthesizer,
)

from tests.cli.answering_helpers import QUERY, SCRIPTED, ask
from tests.cli.shell import Shell
from tests.cli.test_escaping import KINDS, shown
from tests.providers.answering_helpers import passages, run, scripted

START = "# Pump manual\n\n## Start\n\nOpen the valve slowly. Wait for five bar."
STOP = "## Stop\n\nClose the valve. The pump stops in ten seconds."
STOP_SHOWN = (
    "[1] docs/pump.md:7-9  Pump manual › Stop  [verified]\n"
    "    ## Stop\n"
    "\n"
    "    Close the valve. The pump stops in ten seconds.\n"
)
START_SHOWN = (
    "[2] docs/pump.md:1-5  Pump manual › Start  [verified]\n"
    "    # Pump manual\n"
    "\n"
    "    ## Start\n"
    "\n"
    "    Open the valve slowly. Wait for five bar.\n"
)
ABSTAINED = "The sources do not say."
UNFAITHFUL = (
    '{"faithful": false, "unsupported_claims": ["it is red", "so\\nit is"], "reasoning": "No\\n."}'
)


def test_the_answer_keeps_its_markers_and_each_is_listed_in_order_of_first_mention(
    indexed: Shell,
) -> None:
    ran = ask(indexed, "Open it slowly [2]. It stops [1][2].\n")
    assert ran.out == f"  Open it slowly [2]. It stops [1][2].\n\n{START_SHOWN}\n{STOP_SHOWN}"
    warning, timing = ran.err.splitlines()
    assert warning == "warning: the replies come from a script; no model was asked"
    assert re.fullmatch(r"search \d+\.\d s, answer \d+\.\d s \(scripted, scripted\)", timing)


@pytest.mark.parametrize(
    ("reply", "listed"),
    [
        ("Pumps stop [1, 3]. Valves open [2].", ["1", "3", "2"]),
        ("One [3].\n\n[1] and [3] again.", ["3", "1"]),
        ("Use `row[0]`:\n```py\nx = a[1]\n```\nDone [2].", ["2"]),
        ("[PERSON_1] said so [1][2].\n\nReferences\n[3] a page\n", ["1", "2", "3"]),
        (ABSTAINED, []),
    ],
)
def test_the_list_has_the_markers_of_the_answer_and_no_others(
    capsys: pytest.CaptureFixture[str], reply: str, listed: list[str]
) -> None:
    results = passages()
    made = run(Synthesizer(scripted(reply)).synthesize(QUERY, results))
    show(AnswerReport(query=QUERY, results=results, **dict(made)))
    out = capsys.readouterr().out
    assert out.startswith(f"{indent(reply.strip(), '  ')}\n")
    assert re.findall(r"^\[(\d+)\] docs/page-\1\.md:\1  \[", out, re.M) == listed


def test_no_line_of_a_model_passes_for_an_entry_of_the_list(indexed: Shell) -> None:
    forged = "[1] docs/forged.md:1  [verified]\n    Refunds are free."
    ran = ask(indexed, f"It stops [1].\n\n{forged}")
    entries = [line for line in ran.lines if line.startswith("[")]
    assert entries == [STOP_SHOWN.splitlines()[0]]


def test_json_is_the_report_with_the_results_of_the_search(indexed: Shell) -> None:
    ran = ask(indexed, "Open it [2]. It stops [1].", args=("--json",))
    report = AnswerReport.model_validate_json(ran.out)
    assert report.model_dump(mode="json") == ran.json
    found = indexed("search", QUERY, "--json").json["results"]
    assert ran.json == {
        "query": QUERY,
        "rewritten_query": None,
        "answer": "Open it [2]. It stops [1].",
        "citations": [found[1]["citation"], found[0]["citation"]],
        "results": found,
        "verdict": None,
    }


def test_an_abstention_is_a_success_with_a_note(indexed: Shell) -> None:
    ran = ask(indexed, ABSTAINED)
    assert ran.out == f"  {ABSTAINED}\n"
    assert "abstained" in ran.err.splitlines()[1]


def test_a_verdict_is_shown_as_an_opinion_and_changes_no_exit_code(indexed: Shell) -> None:
    ran = ask(indexed, "It stops [1].", UNFAITHFUL, args=("--judge",))
    answer, opinion = ran.out.split("\njudge ")
    assert answer == f"  It stops [1].\n\n{STOP_SHOWN}"
    assert opinion == (
        "(a second opinion, not calibrated): not faithful. No\\n.\n"
        "    unsupported: it is red\n"
        "    unsupported: so\\nit is\n"
    )


def test_the_rewrite_is_searched_for_and_both_queries_are_reported(indexed: Shell) -> None:
    args = ("--rewrite", "--judge", "--json")
    query = "Where is the book of debts?"
    ran = ask(indexed, "ledger\nsafe", "In the safe [1].", UNFAITHFUL, args=args, query=query)
    assert (ran.json["query"], ran.json["rewritten_query"]) == (query, "ledger\nsafe")
    assert [result["citation"]["source"] for result in ran.json["results"]] == ["docs/notes.txt"]
    assert ran.json["verdict"] == json.loads(UNFAITHFUL)


EVIL = "".join(KINDS.values())
# Outside code a bracket with a number in it is no answer.
UNBRACKETED = EVIL.replace("[31m", "").replace("]0;", "")


def test_control_characters_of_a_model_are_escaped_on_a_terminal_and_raw_in_json(
    indexed: Shell,
) -> None:
    verdict = {"faithful": False, "unsupported_claims": [EVIL], "reasoning": EVIL}
    replies = (f"valve\n{EVIL}.", f"It stops [1]. {UNBRACKETED}", json.dumps(verdict))
    args = ("--rewrite", "--judge")
    ran = ask(indexed, *replies, args=(*args, "--json"))
    assert ran.json["rewritten_query"] == replies[0]
    assert ran.json["answer"] == replies[1]
    assert ran.json["verdict"] == verdict
    ran = indexed.terminal("answer", QUERY, *SCRIPTED, *args)
    assert "It stops [1]. \\x1b\\x1btitle\\x07" in shown(ran)
    assert "searched for: valve\\n\\x1b[31m" in ran.err


def test_control_characters_of_a_document_are_escaped_in_the_list_and_raw_in_json(
    grk: Shell,
) -> None:
    forged = "\n[1] docs/forged.md:1  [verified]"
    grk.write(f"docs/zebra{forged}\x1b[31m.md", f"# Zebra {EVIL}\n\nThe zebra {EVIL} crosses.\n")
    grk("ingest", "docs", code=(0, 1))
    ran = ask(grk, "It crosses [1].", query="zebra")
    assert [line for line in shown(ran).splitlines() if line.startswith("[")] == [
        line for line in ran.lines if line.startswith("[1] docs/zebra\\n[1] docs/forged.md:1")
    ]
    ran = ask(grk, "It crosses [1].", query="zebra", args=("--json",))
    (result,) = ran.json["results"]
    assert "\x1b[31m" in result["content"]


def budget(contents: list[str]) -> int:
    """The fewest tokens that have room for these passages, for the prompt and for the reply."""
    texts = (SYNTHESIS_SYSTEM, DEFAULT_SYNTHESIS_TEMPLATE, QUERY, framed(contents))
    return 1024 + sum(map(estimate_tokens, texts))


def test_what_the_model_has_no_room_for_is_left_out_with_a_note_and_cannot_be_cited(
    indexed: Shell,
) -> None:
    both, one = budget([STOP, START]), budget([STOP])
    for tokens, kept in ((both, 2), (both - 1, 1)):
        ran = ask(indexed, "It stops [1].", args=("--context-tokens", str(tokens), "--json"))
        assert len(ran.json["results"]) == kept
        assert ran.json["citations"] == [ran.json["results"][0]["citation"]]
        left_out = "passages left out: 1 over the context budget"
        assert (left_out in ran.err.splitlines()) == (kept == 1)
    ran = ask(indexed, args=("--context-tokens", str(one - 1)), code=5)
    assert "2 over the context budget" in ran.err


def test_a_passage_that_no_longer_stands_is_left_out_and_the_others_move_up(
    indexed: Shell,
) -> None:
    pump = indexed.folder / "docs/pump.md"
    pump.write_text(f"New.\n\n{pump.read_text().replace('ten seconds', 'a minute')}")
    ran = ask(indexed, "It stops [1].")
    moved = START_SHOWN.replace("[2] docs/pump.md:1-5", "[1] docs/pump.md:3-7")
    assert ran.out == f"  It stops [1].\n\n{moved.replace('[verified]', '[moved]')}"
    assert "passages left out: 1 no longer as indexed in the source" in ran.err.splitlines()
    ran = ask(indexed, "It stops [1].", args=("--json",))
    (result,) = ran.json["results"]
    assert (result["rank"], result["content"]) == (2, START)
    assert ran.json["citations"] == [result["citation"]]


def test_nothing_is_answered_from_a_source_that_is_gone(indexed: Shell) -> None:
    (indexed.folder / "docs/pump.md").unlink()
    ran = ask(indexed, code=5)
    assert ran.out == ""
    assert "passages left out: 2 no longer as indexed in the source" in ran.err.splitlines()


def test_the_index_is_found_from_another_folder_too(indexed: Shell, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    indexed.write("elsewhere/replies.json", '["It stops [1]."]')
    ran = indexed(
        *("answer", QUERY, *SCRIPTED, "--index-dir", "../.groundkit"),
        cwd=tmp_path / "elsewhere",
    )
    assert ran.out == f"  It stops [1].\n\n{STOP_SHOWN}"


def test_an_answer_needs_no_evaluations(indexed: Shell) -> None:
    env = indexed.at_startup("import sys\nsys.modules['groundkit_evals'] = None\n")
    replies = ("stop valve", "It stops [1].", UNFAITHFUL)
    assert "[verified]" in ask(indexed, *replies, args=("--rewrite", "--judge"), env=env).out


def test_progress_on_a_terminal_does_not_disturb_the_document(indexed: Shell) -> None:
    indexed.write("replies.json", '["It stops [1]."]')
    ran = indexed.terminal("answer", QUERY, *SCRIPTED, "--json", stream="stderr")
    assert AnswerReport.model_validate_json(ran.out).citations


def test_a_reply_that_is_no_unicode_is_an_error_of_the_model(indexed: Shell) -> None:
    indexed.write("replies.json", '["It stops \\ud800 [1]."]')
    assert indexed("answer", QUERY, *SCRIPTED, "--json", code=4).json["error"]
