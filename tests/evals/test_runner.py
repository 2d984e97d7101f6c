"""One run of every stage: what is asked, what is kept, and that figures follow from it."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from groundkit_core import ChunkingConfig, Collection
from groundkit_core.embedding import identity_of
from groundkit_core.errors import ConfigurationError
from groundkit_core.retrieval.rerank import RerankerProtocol
from groundkit_core.testing import InMemoryEmbedder
from groundkit_evals import Dataset, EvalReport, RunConfig, load_dataset, run
from groundkit_evals.metrics import ndcg, precision, recall, reciprocal_rank
from groundkit_evals.runner import STRUCTURAL, search_at
from groundkit_evals.schema import (
    ModelIdentity,
    QueryRecord,
    QueryResult,
    Stage,
    StageResult,
    SynthesisOutcome,
    SynthesisReport,
)
from pydantic import ValidationError

from tests.evals.sets import (
    dataset,
    document,
    golden,
    jsonl,
    judgment,
    query,
    refusal,
    span,
)

TEXTS = {
    "pump": "The pump stops at 7 bar. A pump needs oil.",
    "valve": "The valve of the pump opens at 3 bar.",
    "hose": "A hose is no valve.",
    "copy": "A hose is no valve.",
    "gate": "The gate opens at nine.",
}
SET = dataset(
    TEXTS,
    query("q1", "pump oil", document("pump", 2), document("valve"), document("gate", 0)),
    query("q2", "valve", document("copy"), document("missing")),
    query("q3", "Who won the 1950 cup?", kind="no_answer"),
    query("q4", "opens at", document("gate"), kind="ambiguous"),
)
SPANS = dataset(
    TEXTS,
    query("q1", "pump oil", span("pump", 25, 42), span("pump", 4, 8)),
    query("q2", "valve", span("copy", 10, 18)),
    query("q3", "Who won the 1950 cup?", kind="no_answer"),
)


class ByLength:
    """A reranker that takes the longest passage for the best."""

    model_name = "by-length"

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        self.asked.append((query, len(passages)))
        return [float(len(passage)) for passage in passages]


def filled(folder: Path, embedder: InMemoryEmbedder | None = None) -> Collection:
    return Collection.open(folder / "c", embedder=embedder)


def stages(report: EvalReport) -> dict[Stage, StageResult]:
    return {each.stage: each for each in report.stages}


def result(stage: StageResult, id_: str) -> QueryResult:
    return next(each for each in stage.results if each.query == id_)


@pytest.mark.parametrize(
    ("dense", "rerank", "expected"),
    [
        (False, False, [("bm25", None)]),
        (False, True, [("bm25", None), ("rerank", "bm25")]),
        (True, False, [("bm25", None), ("dense", None), ("fusion", "dense")]),
        (
            True,
            True,
            [("bm25", None), ("dense", None), ("fusion", "dense"), ("rerank", "fusion")],
        ),
    ],
)
def test_the_stages_are_those_that_there_is_something_for(
    tmp_path: Path, dense: bool, rerank: bool, expected: list[tuple[Stage, Stage | None]]
) -> None:
    collection = filled(tmp_path, InMemoryEmbedder() if dense else None)
    report = run(SET, collection, reranker=ByLength() if rerank else None)
    assert [(each.stage, each.input) for each in report.stages] == expected
    for stage in report.stages:
        assert [each.query for each in stage.results] == ["q1", "q2", "q3", "q4"]


def test_a_report_says_what_was_measured(tmp_path: Path) -> None:
    config = RunConfig(chunking=ChunkingConfig(size=5), language="none", depth=7)
    report = run(SET, filled(tmp_path), config)
    assert datetime.fromisoformat(report.created).utcoffset() == timedelta(0)
    assert report.config == config
    assert report.queries == SET.queries
    assert report.groundkit == version("groundkit-evals")
    assert report.dataset.model_dump() == {
        "name": "small",
        "corpus_hash": SET.corpus_hash,
        "judgments_hash": SET.judgments_hash,
        "documents": 5,
        "passages": filled(tmp_path).info().chunks,
    }
    assert report.dataset.passages > 5
    assert filled(tmp_path).info().language == "none"
    assert filled(tmp_path).info().chunking == ChunkingConfig(size=5)


def test_models_are_named_where_they_had_a_part(tmp_path: Path) -> None:
    embedder = InMemoryEmbedder(32, model_name="m")
    report = run(SET, filled(tmp_path, embedder), reranker=ByLength())
    name = str(identity_of(embedder))
    assert name == "inmemory m (32 dimensions)"
    assert {each.stage: each.model for each in report.stages} == {
        "bm25": None,
        "dense": name,
        "fusion": name,
        "rerank": "by-length",
    }


def test_a_double_for_an_embedder_is_warned_of(tmp_path: Path) -> None:
    assert run(SET, filled(tmp_path / "plain")).warnings == ()
    report = run(SET, filled(tmp_path / "dense", InMemoryEmbedder()))
    assert report.warnings == (STRUCTURAL["inmemory"],)
    assert "nothing about meaning" in report.warnings[0]


def test_passages_are_kept_with_what_they_hold(tmp_path: Path) -> None:
    (stage,) = run(SET, filled(tmp_path)).stages
    first = result(stage, "q1").found
    assert [(each.source, each.holds) for each in first] == [
        ("pump", ("pump",)),
        ("valve", ("valve",)),
    ]
    assert first[0].excerpt == TEXTS["pump"]
    assert (first[0].span.start, first[0].span.end) == (0, len(TEXTS["pump"]))
    hits = filled(tmp_path).search("pump oil").results
    assert [each.score for each in first] == [each.score for each in hits]


def test_copies_count_as_found(tmp_path: Path) -> None:
    (stage,) = run(SET, filled(tmp_path)).stages
    found = result(stage, "q2")
    # One passage stands in two documents, of which the second is wanted.
    both = {each.source: each.holds for each in found.found if each.source in ("copy", "hose")}
    assert list(both.values()) == [("copy",)]
    assert found.ranks.keys() == {"copy"}


def test_a_query_that_finds_nothing_has_nothing_but_its_silence(tmp_path: Path) -> None:
    (stage,) = run(SET, filled(tmp_path)).stages
    found = result(stage, "q3")
    assert (found.found, found.ranks, found.metrics) == ((), {}, {"abstention": 1})
    noisy = run(SET, filled(tmp_path / "dense", InMemoryEmbedder())).stages[1]
    assert result(noisy, "q3").metrics == {"abstention": 0}


def test_ten_passages_of_300_characters_are_kept_of_all_that_are_ranked(tmp_path: Path) -> None:
    texts = {f"d{number:02}": f"pump {number} " + "oil " * 100 for number in range(12)}
    small = dataset(texts, query("q", "pump", *(document(source) for source in texts)))
    (stage,) = run(small, filled(tmp_path)).stages
    (found,) = stage.results
    assert len(found.found) == 10
    assert {len(each.excerpt) for each in found.found} == {300}
    assert sorted(found.ranks.values()) == list(range(1, 13))
    assert found.metrics["recall@10"] == 10 / 12
    assert found.metrics["recall@100"] == 1


def test_depth_is_the_number_of_passages_that_are_asked_for(tmp_path: Path) -> None:
    texts = {f"d{number:02}": f"pump {number}" for number in range(12)}
    small = dataset(texts, query("q", "pump", *(document(source) for source in texts)))
    report = run(small, filled(tmp_path, InMemoryEmbedder()), RunConfig(depth=3))
    for stage in report.stages:
        assert len(stage.results[0].ranks) == 3


def recomputed(asked: QueryRecord, found: QueryResult) -> Mapping[str, float]:
    """The metrics that the ranks of a report give: other places held nothing wanted."""
    gains = {each.unit: each.gain for each in asked.expected}
    at = {rank: unit for unit, rank in found.ranks.items()}
    ranked = [at.get(rank, f"rank {rank}") for rank in range(1, max(at, default=0) + 1)]
    return {
        "ndcg@10": ndcg(ranked, gains, 10),
        "mrr": reciprocal_rank(ranked, gains),
        "recall@5": recall(ranked, gains, 5),
        "recall@10": recall(ranked, gains, 10),
        "recall@100": recall(ranked, gains, 100),
        "precision@5": precision(ranked, gains, 5),
    }


@pytest.mark.parametrize("small", [SET, SPANS], ids=["documents", "spans"])
def test_metrics_follow_from_the_ranks_that_are_kept(tmp_path: Path, small: Dataset) -> None:
    chunking = ChunkingConfig(size=4)
    collection = filled(tmp_path, InMemoryEmbedder())
    report = run(small, collection, RunConfig(chunking=chunking), reranker=ByLength())
    checked = 0
    for stage in report.stages:
        for asked, found in zip(report.queries, stage.results, strict=True):
            if asked.expected:
                values = {
                    name: value for name, value in found.metrics.items() if "span_" not in name
                }
                assert values == recomputed(asked, found)
                checked += any(values.values())
    assert checked >= 2 * len(report.stages)


@pytest.mark.parametrize("size", [80, 400])
def test_a_span_is_covered_whatever_the_size_of_passages(tmp_path: Path, size: int) -> None:
    text = "x" + " ".join(f"w{number:03}" for number in range(99))
    assert len(text) == 495
    small = dataset({"doc": text}, query("q", text[100:160], span("doc", 100, 160)))
    chunking = ChunkingConfig(strategy="fixed", size=size, unit="characters")
    (stage,) = run(small, filled(tmp_path), RunConfig(chunking=chunking)).stages
    assert stage.results[0].metrics["span_recall@5"] == 1


def test_reranking_reorders_the_first_and_leaves_the_rest(tmp_path: Path) -> None:
    texts = {
        f"d{number}": " ".join(["pump"] * (number + 1) + ["filler"] * (9 - number))
        for number in range(8)
    }
    small = dataset(texts, query("q", "pump", *(document(source) for source in texts)))
    reranker = ByLength()
    assert isinstance(reranker, RerankerProtocol)
    report = run(small, filled(tmp_path), RunConfig(rerank_depth=3), reranker=reranker)
    bm25, rerank = (each.results[0] for each in report.stages)
    before, after = ([each.source for each in stage.found] for stage in (bm25, rerank))
    assert before == ["d7", "d6", "d5", "d4", "d3", "d2", "d1", "d0"]
    assert after == ["d5", "d6", "d7", *before[3:]]
    assert rerank.ranks == {source: rank for rank, source in enumerate(after, start=1)}
    assert reranker.asked == [("pump", 3)]
    scored = [float(len(texts[source])) for source in after[:3]]
    assert [each.score for each in rerank.found] == [
        *scored,
        *(each.score for each in bm25.found[3:]),
    ]


def test_nothing_found_is_nothing_to_rerank(tmp_path: Path) -> None:
    reranker = ByLength()
    report = run(dataset(TEXTS, query("q", "zebra")), filled(tmp_path), reranker=reranker)
    assert reranker.asked == []
    assert stages(report)["rerank"].results[0].metrics == {"abstention": 1}


def test_a_least_similarity_holds_for_vectors_and_not_for_words(tmp_path: Path) -> None:
    collection = filled(tmp_path, InMemoryEmbedder())
    report = run(SET, collection, RunConfig(min_similarity=1.0))
    kept = {
        stage: [len(each.found) for each in found.results]
        for stage, found in stages(report).items()
    }
    assert kept["bm25"] == kept["fusion"]
    assert kept["dense"] == [0, 0, 0, 0]
    assert kept["bm25"][0] == 2


def test_a_stage_that_reorders_takes_as_long_as_its_input_and_more(tmp_path: Path) -> None:
    report = run(SET, filled(tmp_path), reranker=ByLength())
    for before, after in zip(*(each.results for each in report.stages), strict=True):
        assert 0 < before.seconds < after.seconds


def test_a_stage_is_asked_once_before_its_time_is_taken(tmp_path: Path) -> None:
    embedder = InMemoryEmbedder()
    run(SET, filled(tmp_path, embedder))
    first, *others = (embedder.asked.count(each.text) for each in SET.queries)
    assert (first, others) == (2 + 2, [2, 2, 2])


def test_a_second_run_embeds_no_document_again(tmp_path: Path) -> None:
    first = InMemoryEmbedder()
    before = run(SET, filled(tmp_path, first))
    asked = [each.text for each in SET.queries]
    assert sorted(set(first.asked) - set(asked)) == sorted(set(TEXTS.values()))
    second = InMemoryEmbedder()
    after = run(SET, filled(tmp_path, second))
    assert set(second.asked) == set(asked)
    assert [without_seconds(each) for each in after.stages] == [
        without_seconds(each) for each in before.stages
    ]


def without_seconds(stage: StageResult) -> dict[str, Any]:
    return stage.model_dump(exclude={"results": {"__all__": {"seconds"}}})


def test_other_settings_than_those_of_the_collection_are_refused(tmp_path: Path) -> None:
    run(SET, filled(tmp_path))
    with pytest.raises(ConfigurationError, match="chunking"):
        run(SET, filled(tmp_path), RunConfig(chunking=ChunkingConfig(size=9)))
    with pytest.raises(ConfigurationError, match="language"):
        run(SET, filled(tmp_path), RunConfig(language="german"))


def test_progress_is_told_for_each_step(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    run(SET, filled(tmp_path), reranker=ByLength(), progress=lambda *step: told.append(step))
    assert told == [
        ("index", 0, 1),
        ("index", 1, 1),
        *(("bm25", done, 4) for done in range(5)),
        *(("rerank", done, 4) for done in range(5)),
    ]


FILES: dict[str, str | bytes] = {
    "pump.md": "# Pumps\n\nThe pump stops at 7 bar.\n",
    "parts/valve.txt": "🚰 The valve opens.\r\n",
    "parts/.gitignore": "*.txt\n",
}
JUDGMENTS = jsonl(
    judgment("g1", ("pump.md", "stops at 7 bar"), query="When does the pump stop?"),
    judgment("g2", ("parts/valve.txt", "valve opens"), query="valve"),
    judgment("g3", kind="no_answer", query="Who won?"),
)


def test_a_folder_of_files_is_measured_with_its_quotes(tmp_path: Path) -> None:
    report = run(load_dataset(golden(tmp_path / "set", FILES, JUDGMENTS)), filled(tmp_path))
    (stage,) = report.stages
    assert result(stage, "g1").ranks == {"corpus/pump.md:18-32": 1}
    assert result(stage, "g2").ranks == {"corpus/parts/valve.txt:6-17": 1}
    assert result(stage, "g2").metrics["span_recall@5"] == 1
    assert result(stage, "g3").metrics == {"abstention": 1}
    assert report.dataset.documents == 2


def test_a_folder_is_read_with_the_settings_of_the_run(tmp_path: Path) -> None:
    data = load_dataset(golden(tmp_path / "set", FILES, JUDGMENTS))
    chunking = ChunkingConfig(size=3)
    run(data, filled(tmp_path), RunConfig(chunking=chunking, language="german"))
    info = filled(tmp_path).info()
    assert (info.chunking, info.language) == (chunking, "german")


def test_a_file_that_is_refused_stops_the_run(tmp_path: Path) -> None:
    data = load_dataset(golden(tmp_path / "set", FILES, JUDGMENTS))
    (tmp_path / "set/corpus/late.txt").write_bytes(b"\0\1")
    assert refusal(lambda: run(data, filled(tmp_path))) == (
        "corpus/late.txt: binary: it holds NUL bytes"
    )


def test_a_file_that_is_gone_is_not_measured_again(tmp_path: Path) -> None:
    folder = golden(tmp_path / "set", {**FILES, "more.txt": "valve"}, JUDGMENTS)
    before = run(load_dataset(folder), filled(tmp_path))
    (folder / "corpus/more.txt").unlink()
    after = run(load_dataset(folder), filled(tmp_path))
    assert (before.dataset.documents, after.dataset.documents) == (3, 2)
    assert before.dataset.corpus_hash != after.dataset.corpus_hash


def test_a_run_says_the_same_wherever_its_folder_stands(tmp_path: Path) -> None:
    first, second = (
        run(
            load_dataset(golden(tmp_path / name / "set", FILES, JUDGMENTS)),
            filled(tmp_path / name),
        )
        for name in "ab"
    )
    assert first.dataset == second.dataset
    assert [without_seconds(each) for each in first.stages] == [
        without_seconds(each) for each in second.stages
    ]


def test_a_search_at_a_stage_finds_what_that_stage_of_a_run_found(tmp_path: Path) -> None:
    collection = filled(tmp_path, InMemoryEmbedder())
    config, reranker = RunConfig(rerank_depth=2), ByLength()
    data = load_dataset(golden(tmp_path / "set", FILES, JUDGMENTS))
    report = run(data, collection, config, reranker=reranker)
    for stage, found in stages(report).items():
        search = search_at(stage, collection, config, 10, reranker)
        for asked, expected in zip(data.queries, found.results, strict=True):
            results = search(asked.text).results
            assert [each.citation.source for each in results] == [
                each.source for each in expected.found
            ]
            assert {each.verification.status for each in results if each.verification} <= {
                "verified"
            }
            assert all(each.verification for each in results)
            assert len(search_at(stage, collection, config, 1, reranker)(asked.text).results) == (
                min(1, len(results))
            )


def test_a_search_at_a_stage_reads_the_sources(tmp_path: Path) -> None:
    folder = golden(tmp_path / "set", FILES, JUDGMENTS)
    collection = filled(tmp_path)
    run(load_dataset(folder), collection)
    (folder / "corpus/pump.md").unlink()
    (found,) = search_at("bm25", collection, RunConfig(), 5)("pump").results
    assert found.verification is not None
    assert found.verification.status == "unresolvable"


def test_a_search_before_reranking_is_that_of_its_input(tmp_path: Path) -> None:
    collection = filled(tmp_path)
    run(SET, collection)
    search = search_at("rerank", collection, RunConfig(), 5, ByLength())
    assert [each.citation.source for each in search("pump").results] == ["pump", "valve"]


def small_report(folder: Path) -> EvalReport:
    return run(SPANS, filled(folder, InMemoryEmbedder()), reranker=ByLength())


def synthesis() -> SynthesisReport:
    model = ModelIdentity(provider="scripted", model_name="m", prompt_hash="h")
    return SynthesisReport(
        input_stage="bm25",
        top_k=5,
        synthesis=model,
        redacted=False,
        n_total=1,
        answered=1,
        abstained=0,
        rejected=0,
        outcomes=(SynthesisOutcome(query="q1", outcome="answered", passages=1, cited=(1,)),),
    )


def test_a_report_comes_back_from_json_as_it_was(tmp_path: Path) -> None:
    report = small_report(tmp_path)
    assert report.schema_version == 1
    assert EvalReport.model_validate_json(report.model_dump_json()) == report
    whole = report.model_copy(update={"synthesis": synthesis()})
    assert EvalReport.model_validate_json(whole.model_dump_json()) == whole


def test_a_report_without_later_fields_is_still_read(tmp_path: Path) -> None:
    report = small_report(tmp_path)
    data = json.loads(report.model_dump_json())
    for later in ("synthesis", "warnings", "schema_version"):
        del data[later]
    assert EvalReport.model_validate_json(json.dumps(data)) == report.model_copy(
        update={"warnings": ()}
    )


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"schema_version": "1"},
        {"score": 0.5},
        {"created": None},
        {"dataset": {}},
    ],
)
def test_a_report_of_another_form_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    data = json.loads(small_report(tmp_path).model_dump_json())
    with pytest.raises(ValidationError) as caught:
        EvalReport.model_validate_json(json.dumps({**data, **change}))
    assert {each["loc"][0] for each in caught.value.errors()} == set(change)


@pytest.mark.parametrize(
    "change",
    [
        {"answered": 2, "n_total": 2},
        {"answered": 2},
        {"n_total": 2},
        {"abstained": 1},
        {"n_judged": 1},
        {"unfaithful": 1},
    ],
)
def test_counts_that_do_not_add_up_are_refused(change: dict[str, int]) -> None:
    data = synthesis().model_dump(mode="json") | change
    with pytest.raises(ValidationError, match="the counts do not add up"):
        SynthesisReport.model_validate_json(json.dumps(data))


def test_results_are_ignored_by_git() -> None:
    root = Path(__file__).parents[2]
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        pytest.skip("git or its checkout is not here: cannot ask what is ignored")
    for name, code in (("evals/results/x.json", 0), ("evals/judgments.jsonl", 1)):
        done = subprocess.run([git, "check-ignore", "--quiet", name], cwd=root, check=False)
        assert done.returncode == code
