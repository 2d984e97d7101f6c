import pytest
from groundkit_core import contracts
from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import (
    Chunk,
    Citation,
    CollectionInfo,
    CollectionSummary,
    Component,
    Contract,
    Document,
    FileOutcome,
    IngestReport,
    MetadataKey,
    Passage,
    PassageWindow,
    RetrievalResult,
    SearchResponse,
    Span,
    Verification,
)
from groundkit_core.ids import content_hash, document_id
from pydantic import BaseModel, ValidationError

CITATION = Citation(
    document_id="d",
    chunk_id="c",
    source="root/a.md",
    start=3,
    end=9,
    extractor="markdown@1",
    encoding="utf-8",
    content_hash=content_hash("go on."),
    heading_path=("A", "B"),
    lines=(1, 2),
    pages=(4, 5),
)
EXAMPLES: list[Contract] = [
    Span(start=3, end=9),
    Document.from_text(
        "row/1",
        "go on.",
        title="T",
        media_type="text/markdown",
        metadata={"year": 2020, "size": 2.0, "tags": ["a", 1, True]},
    ),
    Chunk(id="c", document_id="d", ordinal=0, start=3, end=9, content="go on.", lines=(1, 1)),
    CITATION,
    Verification(status="drifted", reason="r", places=(Span(start=0, end=6),)),
    Component(rank=2, score=0.5),
    RetrievalResult(
        rank=1,
        score=1.5,
        content="go on.",
        metadata={"year": 2020, "size": 2.0, "tags": ("a", 1, True)},
        citation=CITATION,
        copies=(CITATION,),
        similar=(CITATION,),
        components={"dense": Component(rank=2, score=0.5)},
    ),
    Passage(content="Turn it.", citation=CITATION),
    PassageWindow(
        collection="default",
        generation=1,
        document_hash="1f",
        title="Manual",
        metadata={"year": 2020},
        passages=(Passage(content="Turn it.", citation=CITATION),),
        at=0,
        before=2,
        after=3,
        link="https://example.org/#page=2",
    ),
    SearchResponse(query="q", mode="bm25", top_k=10, collection="default", generation=1),
    MetadataKey(documents=2, kinds=("number", "text")),
    CollectionSummary(name="default", generation=1, documents=2, chunks=3, embedding="static:m:4"),
    CollectionInfo(
        name="default",
        path=".groundkit/default",
        generation=1,
        documents=2,
        chunks=3,
        terms=4,
        segments=5,
        bytes=6,
        language="english",
        analysis="terms@1:english:snowball3",
        chunking=ChunkingConfig(size=20),
        roots={"root": "../root"},
        metadata={"year": MetadataKey(documents=2, kinds=("number",))},
        given={"root/sub": {"tags": ("a", 1)}},
    ),
    FileOutcome(source="root/a.md", status="refused", reason="r", warnings=("w",)),
    IngestReport(collection="default", generation=1),
]
each = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)


def test_every_contract_has_an_example_here() -> None:
    models = {
        name
        for name in contracts.__all__
        if isinstance(found := getattr(contracts, name), type) and issubclass(found, BaseModel)
    }
    assert models - {"Contract"} == {type(example).__name__ for example in EXAMPLES}


@each
def test_a_contract_survives_json(example: Contract) -> None:
    assert type(example).model_validate_json(example.model_dump_json()) == example


@each
def test_a_contract_cannot_be_changed(example: Contract) -> None:
    for name in type(example).model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(example, name, None)


@each
def test_a_contract_refuses_a_field_that_it_does_not_know(example: Contract) -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        type(example).model_validate({**example.model_dump(), "extra": 1})


@each
def test_a_contract_does_not_turn_one_type_into_another(example: Contract) -> None:
    for name, value in example.model_dump().items():
        if type(value) is int and name != "schema_version":
            for other in (str(value), 0.5, True, None):
                with pytest.raises(ValidationError):
                    type(example).model_validate({**example.model_dump(), name: other})


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (Verification, "status", "ok"),
        (SearchResponse, "mode", "sparse"),
        (SearchResponse, "schema_version", 2),
        (IngestReport, "schema_version", 2),
        (FileOutcome, "status", "skipped"),
        (Citation, "unit", "byte"),
        (Citation, "source_class", "guess"),
    ],
)
def test_a_word_outside_the_vocabulary_is_refused(
    model: type[Contract], field: str, value: object
) -> None:
    example = next(example for example in EXAMPLES if type(example) is model)
    with pytest.raises(ValidationError, match=field):
        model.model_validate({**example.model_dump(), field: value})


def test_a_citation_says_in_which_unit_its_span_counts() -> None:
    assert CITATION.model_dump()["unit"] == "code_point"


def test_a_document_from_text_is_identified_by_its_source() -> None:
    document = Document.from_text("row/1", "go on.")
    assert document.model_dump() == {
        "id": document_id("row/1"),
        "source": "row/1",
        "text": "go on.",
        "title": None,
        "media_type": "text/plain",
        "source_class": "text",
        "extractor": "given@1",
        "encoding": None,
        "metadata": {},
    }
    assert Document.from_text("row/1", "other").id == document.id


def test_a_report_counts_sources_by_status() -> None:
    files = [FileOutcome(source=str(i), status="refused" if i % 3 else "indexed") for i in range(7)]
    report = IngestReport(collection="c", generation=1, files=tuple(files))
    assert {status: report.count(status) for status in ("indexed", "refused", "removed")} == {
        "indexed": 3,
        "refused": 4,
        "removed": 0,
    }
