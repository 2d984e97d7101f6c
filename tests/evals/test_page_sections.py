"""Which sections the page of a run has, and what each of them says."""

import re
import subprocess
import sys
from importlib.resources import files
from itertools import product

import pytest
from groundkit_core.errors import ConfigurationError
from groundkit_evals.metrics import wilson_interval
from groundkit_evals.page import render_page
from groundkit_evals.schema import EvalReport
from groundkit_evals.summary import headline

from tests.evals.pages import Element, asked, one, read, table
from tests.evals.runs import BM25, DENSE, RERANK, SYNTHESIS, run

RUN = run(BM25, DENSE, RERANK)


def titles(page: Element) -> list[str]:
    return [each.text for each in page.all() if each.tag in ("h2", "h3")]


@pytest.fixture(scope="module")
def page() -> Element:
    return read(RUN.model_copy(update={"synthesis": SYNTHESIS}))


def test_the_result_is_said_in_one_sentence(page: Element) -> None:
    assert one(page, "p", class_="lead").text == headline(RUN)


def test_what_was_measured_is_said(page: Element) -> None:
    facts = dict(zip(*([e.text for e in page.all(tag)] for tag in ("dt", "dd")), strict=True))
    assert one(page, "h1").text == "Evaluation of small"
    assert "4 queries over 3 documents in 9 passages, at 3 stages" in one(page, "header").text
    assert facts["Queries"] == "1 normal, 2 no answer, 1 ambiguous"
    assert facts["Passages per query"] == "100, the first 50 reranked"
    assert facts["Model of dense"] == "static m (8 dimensions)"
    assert facts["Least similarity"] == "none"


def test_hashes_are_short_and_whole_in_their_title() -> None:
    dataset = RUN.dataset.model_copy(update={"corpus_hash": "0123456789abcdef" * 4})
    page = read(RUN.model_copy(update={"dataset": dataset}))
    code = one(page, "code", title="0123456789abcdef" * 4)
    assert code.text == "0123456789ab"


def test_warnings_stand_at_the_top() -> None:
    page = read(RUN.model_copy(update={"warnings": ("made of hashes", "from a script")}))
    box = one(page, "div", class_="warnings")
    assert [each.text for each in box.all("li")] == ["made of hashes", "from a script"]
    assert page.text.index("made of hashes") < page.text.index(headline(RUN))


def test_a_run_without_warnings_or_answers_has_no_section_for_them() -> None:
    page = read(RUN)
    assert not list(page.all("div", class_="warnings"))
    assert not list(page.all("section", id="answers"))
    assert {each.attributes["href"] for each in page.all("a")} == {"#results", "#asked"}


def test_kinds_are_told_apart_where_there_are_several(page: Element) -> None:
    assert table(page, "Means by kind of query") == [
        ["Stage", "normal nDCG@10, n 1", "no answer abstention, n 2", "ambiguous nDCG@10, n 1"],
        ["bm25", "1.000", "0.500", "0.000"],
        ["dense", "0.500", "0.000", "1.000"],
        ["rerank", "1.000", "0.500", "0.000"],
    ]


def test_answers_are_counted_by_kind_and_outcome(page: Element) -> None:
    low, high = wilson_interval(1, 2)
    section = one(page, "section", id="answers")
    assert table(section, "Answers by kind of query and outcome") == [
        ["Kind of query", "answered", "abstained", "rejected", "all"],
        ["normal", "1", "0", "0", "1"],
        ["no answer", "0", "1", "1", "2"],
        ["ambiguous", "1", "0", "0", "1"],
        ["all", "2", "1", "1", "4"],
    ]
    assert f"shown nothing: 1 of 2 (95 % {low:.3f} to {high:.3f})." in section.text
    for said in ("ollama small", "5" * 12, "the best 5 of rerank", "redacted before it was sent"):
        assert said in section.text


def test_verdicts_are_counts_and_said_to_be_an_opinion(page: Element) -> None:
    section = one(page, "section", id="answers")
    (said,) = (each.text for each in section.all("p") if "opinion" in each.text)
    assert said == (
        "A second model's opinion, not calibrated. Judged: 1 of 4. Called faithful: 0. "
        "Called unfaithful: 1. Judge errors: 1."
    )
    assert section.text.count("%") == 1  # the interval of what the model abstained from


def test_without_a_judge_there_is_no_word_of_verdicts() -> None:
    alone = {"judge": None, "n_judged": 0, "unfaithful": 0, "judge_errors": 0}
    outcomes = tuple(
        each.model_copy(update={"verdict": None, "judge_error": None})
        for each in SYNTHESIS.outcomes
    )
    made = SYNTHESIS.model_copy(update={**alone, "outcomes": outcomes})
    text = one(read(RUN.model_copy(update={"synthesis": made})), "section", id="answers").text
    assert not re.search("judge|verdict|faithful", text, re.IGNORECASE)


def shown(cited: object) -> str:
    return f"Shown 5 passages, cited {cited}. What was found"


def test_each_answer_is_there_with_its_verdict_or_its_reason(page: Element) -> None:
    unfaithful = "The judge calls it not faithful: no source says so Without support: easy"
    said = [each.text.split(" ", 1) for each in page.all("details", class_="answered")]
    assert said == [
        ["answered", f"easy pump It is easy [2]. {shown(2)} {unfaithful}"],
        ["rejected", f"nothing at all {shown('none')} Rejected: cites [9]"],
        ["answered", f"hard valve Hard. {shown('none')} No verdict: no JSON"],
        ["abstained", f"silent void No source says. {shown('none')}"],
    ]
    ids = {each.attributes.get("id") for each in page.all()}
    assert {str(each.attributes["href"])[1:] for each in page.all("a")} <= ids


ALWAYS = ["Results", "Differences"]
LAST = ["Latency", "Every query, worst first"]


@pytest.mark.parametrize(
    ("made", "between"),
    [
        (run(BM25), ["By kind of query", "Recall by cutoff"]),
        (run(BM25, queries=["q1"]), ["Recall by cutoff"]),
        (run(BM25, DENSE, queries=["q3"]), ["Differences from BM25", "Recall by cutoff"]),
        (run(BM25, DENSE, queries=["q2", "q4"]), []),
    ],
    ids=["words alone", "one query", "one query, two stages", "no answer to any"],
)
def test_a_small_run_has_the_sections_that_have_sense(made: EvalReport, between: list[str]) -> None:
    page = read(made)
    assert titles(page) == [*ALWAYS, *between, *LAST]
    assert len(list(page.all("svg", role="img"))) == len(list(page.all("figure")))
    assert len(asked(page)) == len(made.queries)
    assert ("There is nothing to compare." in page.text) == ("Differences from BM25" not in between)


def test_a_run_that_nothing_answers_has_no_winner() -> None:
    page = read(run(BM25, DENSE, queries=["q2", "q4"]))
    assert one(page, "p", class_="lead").text == (
        "No query has an answer, so no stage can be ahead of another."
    )


def test_without_a_script_there_is_no_filter(page: Element) -> None:
    assert "hidden" in one(page, "div", id="filter").attributes
    assert not [each for each in page.all("details") if "hidden" in each.attributes]


def luminance(colour: str) -> float:
    """Relative luminance of a colour of three or six digits, as WCAG defines it."""
    digits = colour if len(colour) == 6 else "".join(digit * 2 for digit in colour)
    parts = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    linear = [each / 12.92 if each < 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_and_marks_stand_out_by_day_by_night_and_on_paper() -> None:
    css = (files("groundkit_evals") / "templates" / "page.css").read_text("utf-8")
    themes = [dict(re.findall(r"--([\w-]+): #(\w+)", block)) for block in css.split(":root")[1:]]
    assert len(themes) == 3
    for theme, ground in product(themes, ("paper", "panel", "warn", "mark")):
        for name in ("ink", "muted", "bm25", "dense", "fusion", "rerank"):
            dark, light = sorted(luminance(theme[each]) for each in (name, ground))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_what_is_missing_is_said(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "groundkit_evals.plots", raising=False)
    with pytest.raises(ConfigurationError) as raised:
        render_page(RUN)
    assert str(raised.value) == "the page needs: pip install 'groundkit-evals[report]'"


def test_nothing_but_a_page_imports_what_draws_it() -> None:
    code = """
import contextlib, importlib, pkgutil, sys, groundkit_evals
for each in pkgutil.walk_packages(groundkit_evals.__path__, "groundkit_evals."):
    if each.name != "groundkit_evals.plots":
        with contextlib.suppress(ImportError):  # what asks a model needs groundkit_providers
            importlib.import_module(each.name)
assert "groundkit_evals.page" in sys.modules
print({"jinja2", "matplotlib"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"
