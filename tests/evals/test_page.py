"""The page of a run holds what its report says, and nothing that a document could smuggle in."""

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from groundkit_evals.metrics import wilson_interval
from groundkit_evals.schema import EvalReport, StageResult
from groundkit_evals.summary import difference, latency, mean_of

from tests.evals.pages import Element, asked, one, parsed, read, table, text_of
from tests.evals.runs import BM25, DENSE, RERANK, SYNTHESIS, run
from tests.evals.sets import query, report, result

RUN = run(BM25, DENSE, RERANK)
ANSWERED = RUN.model_copy(update={"synthesis": SYNTHESIS})
TAGS = """
    html head meta title style body header h1 h2 h3 h4 p bdi div strong ul li dl dt dd code nav a
    main section table thead tbody tr th td small span figure figcaption details summary b label
    select option input output script svg g defs path use clippath rect text
"""
POISON = "\"'><img src=x onerror=alert(1)></script></style><svg onload=x>{{ 7 * 7 }}\0\u202e"
SHOWN = POISON.replace("\0", "\\x00").replace("\u202e", "\\u202e")
SPARED = {"schema_version", "chunking", "stage", "input", "input_stage", "kind", "outcome"}


@pytest.fixture(scope="module")
def page() -> Element:
    return read(RUN)


def poisoned(value: object) -> object:
    """The same with a poison before every text that is not one of a few words."""
    match value:
        case str():
            return POISON + value
        case list():
            return [poisoned(each) for each in value]
        case dict():
            spoilt = {key: each if key in SPARED else poisoned(each) for key, each in value.items()}
            if "ranks" in spoilt:
                spoilt["ranks"] = {POISON + key: rank for key, rank in value["ranks"].items()}
                spoilt["metrics"] = {**value["metrics"], POISON: 0.5}
            return spoilt
    return value


def test_the_page_asks_no_host_for_anything() -> None:
    text = text_of(ANSWERED)
    page = parsed(text)
    elements = list(page.all())
    assert {element.tag for element in elements} <= set(TAGS.split())
    targets = [
        value
        for element in elements
        for name, value in element.attributes.items()
        if name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster", "background")
    ]
    assert targets
    assert all(str(target).startswith("#") for target in targets)
    assert set(re.findall(r"url\((.)", text)) == {"#"}
    assert not re.search(r"https?:|//\w|@import|@font-face", text)


def test_the_policy_allows_only_the_page_s_own_script(page: Element) -> None:
    script = one(page, "script")
    (source,) = script.children
    digest = base64.b64encode(hashlib.sha256(str(source).encode()).digest()).decode()
    policy = one(page, "meta", http_equiv="Content-Security-Policy")
    assert policy.attributes["content"] == (
        "default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_every_text_of_a_report_is_escaped() -> None:
    clean = ANSWERED.model_copy(update={"warnings": ("structural",)})
    dirty = EvalReport.model_validate(poisoned(clean.model_dump(mode="json")), strict=False)
    text = text_of(dirty)
    page = parsed(text)
    elements = list(page.all())
    expected = {element.tag for element in read(clean).all()}
    assert {element.tag for element in elements} == expected
    assert len(list(page.all("script"))) == len(list(page.all("style"))) == 1
    assert not [name for each in elements for name in each.attributes if name.startswith("on")]
    assert not {"\0", "\u202e"} & set(text)
    assert "49" not in page.text.replace("{{ 7 * 7 }}", "")
    for said in ("small", "structural", "easy pump", "gold of a.md", "words", "cross-encoder"):
        assert SHOWN + said in page.text
    for said in ("It is easy [2].", "no source says so", "easy", "cites [9]", "no JSON", "ollama"):
        assert SHOWN + said in page.text


def test_whatever_runs_from_right_to_left_is_kept_to_itself(page: Element) -> None:
    (found,) = (each for each in asked(page) if "easy pump" in each.text)
    excerpts = list(found.all("span", class_="excerpt"))
    assert excerpts
    assert {each.attributes.get("dir") for each in excerpts} == {"auto"}
    assert {"easy pump", "q1", "a.md", "z.md"} <= {each.text for each in found.all("bdi")}


def test_the_same_report_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    path = tmp_path / "latest.json"
    path.write_text(ANSWERED.model_dump_json(), "utf-8")
    code = (
        "import pathlib, sys; from groundkit_evals.page import render_page; "
        "from groundkit_evals.schema import EvalReport; "
        "report = EvalReport.model_validate_json(pathlib.Path(sys.argv[1]).read_bytes()); "
        "sys.stdout.buffer.write(render_page(report).encode())"
    )
    done = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True)
    assert done.stdout.decode() == text_of(ANSWERED) == text_of(ANSWERED)


def test_every_query_is_there_once_and_the_worst_comes_first(page: Element) -> None:
    found = [(each.text.split()[0], each.text.split()[1:3]) for each in asked(page)]
    # q2 and q3 are both at 0; what something answers comes before what nothing does.
    assert found == [
        ("0.000", ["hard", "valve"]),
        ("0.000", ["nothing", "at"]),
        ("1.000", ["easy", "pump"]),
        ("1.000", ["silent", "void"]),
    ]
    assert [each.attributes["data-kind"] for each in asked(page)] == [
        "ambiguous",
        "no_answer",
        "normal",
        "no_answer",
    ]


def test_a_query_is_as_good_as_the_last_stage_of_the_pipeline_makes_it() -> None:
    worse = DENSE.model_copy(update={"stage": "fusion", "input": "dense"})
    order = [each.text.split()[1] for each in asked(read(run(BM25, DENSE, worse)))]
    assert order == ["nothing", "silent", "easy", "hard"]
    assert asked(read(run(BM25, DENSE)))[0].text.startswith("0.000 hard valve")


def test_the_table_of_means_holds_what_the_summary_computes(page: Element) -> None:
    rows = table(page, "Means by stage")
    assert rows[0] == ["Stage", "nDCG@10 n 2", "abstention n 2", "median ms", "95 % ms"]
    assert rows[1:] == [
        [
            each.stage,
            f"{mean_of(RUN, each.stage, 'ndcg@10'):.3f}",
            f"{mean_of(RUN, each.stage, 'abstention'):.3f}",
            f"{1000 * latency(each, 50):.3g}",
            f"{1000 * latency(each, 95):.3g}",
        ]
        for each in RUN.stages
    ]
    low, high = wilson_interval(1, 2)
    assert f"bm25 1 of 2 (95 % {low:.3f} to {high:.3f}); dense 0 of 2" in page.text


def many(*values: float) -> StageResult:
    """A dense stage with a value of nDCG@10 for each query."""
    results = (result(f"q{n}", ndcg_10=value) for n, value in enumerate(values))
    return StageResult(stage="dense", results=tuple(results))


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.75] * 20, "▲ {} clearly better"),
        ([0.75] * 9, "▲ {} clearly better"),
        ([0.25] * 20, "▼ {} clearly worse"),
        ([0.75, 0.25] * 10, "○ {} no clear difference"),
        # Three of three leave the interval without zero, but no test could tell.
        ([0.75] * 3, "○ {} no clear difference"),
    ],
)
def test_the_table_of_differences_marks_those_that_are_clear(
    values: list[float], verdict: str
) -> None:
    queries = [query(f"q{n}", "pump") for n in range(len(values))]
    base = many(*[0.5] * len(values)).model_copy(update={"stage": "bm25"})
    made = report(queries, base, many(*values))
    gap = difference(made, "dense", "bm25", "ndcg@10")
    p = "< 0.001" if gap.p < 0.001 else f"{gap.p:.3f}"
    said = verdict.format(f"{gap.low:+.3f} to {gap.high:+.3f}, p {p}")
    assert table(read(made), "Differences between stages") == [
        ["Stage", "compared with", f"nDCG@10 n {len(values)}"],
        ["dense", "bm25", f"{gap.mean:+.3f} {said}"],
    ]


def test_two_stages_share_a_row_whatever_is_compared() -> None:
    both = (result("q1", ndcg_10=0.5, recall_10=1.0),)
    stages = [StageResult(stage=stage, results=both) for stage in ("bm25", "dense")]
    stages.append(StageResult(stage="fusion", input="dense", results=both))
    rows = table(read(run(*stages, queries=["q1"])), "Differences between stages")
    assert rows[0] == ["Stage", "compared with", "nDCG@10 n 1", "recall@10 n 1"]
    assert [row[:2] for row in rows[1:]] == [
        ["dense", "bm25"],
        ["fusion", "bm25"],
        ["fusion", "dense"],
    ]
