import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import groundkit_core
import pytest

SOURCE = Path(groundkit_core.__file__).parent
SURFACE = {
    "groundkit_core": [
        "Chunk",
        "ChunkingConfig",
        "Citation",
        "Collection",
        "CollectionInfo",
        "Document",
        "ExtractionConfig",
        "FileOutcome",
        "GroundkitError",
        "IngestReport",
        "PassageWindow",
        "RetrievalResult",
        "Retriever",
        "SearchResponse",
        "SourceReader",
        "Span",
        "Verification",
        "resolve_citation",
    ],
    "groundkit_core.chunking": ["chunk_document"],
    "groundkit_core.config": [
        "DEFAULT_TOP_K",
        "MAX_FILE_BYTES",
        "MAX_QUERY_LEN",
        "MAX_TOP_K",
        "ChunkingConfig",
        "ExtractionConfig",
    ],
    "groundkit_core.contracts": [
        "Chunk",
        "Citation",
        "CollectionInfo",
        "CollectionSummary",
        "Component",
        "Contract",
        "Document",
        "FileOutcome",
        "IngestReport",
        "MetadataKey",
        "Passage",
        "PassageWindow",
        "RetrievalResult",
        "SearchMode",
        "SearchResponse",
        "SourceClass",
        "Span",
        "Verification",
        "VerificationStatus",
    ],
    "groundkit_core.embedders.onnx": ["DEFAULT_MAX_TOKENS", "OnnxEmbedder"],
    "groundkit_core.embedders.static": ["STATIC_DIMENSIONS", "STATIC_MODEL", "StaticEmbedder"],
    "groundkit_core.embedding": [
        "EmbeddingIdentity",
        "EmbeddingProtocol",
        "Purpose",
        "Vectors",
        "identity_of",
    ],
    "groundkit_core.ids": ["chunk_id", "content_hash", "document_id", "hash_bytes"],
    "groundkit_core.metadata": [
        "Metadata",
        "Scalar",
        "digest",
        "ended",
        "kind_of",
        "normalised",
        "rows",
    ],
    "groundkit_core.rerankers.onnx": [
        "DEFAULT_MAX_TOKENS",
        "DEFAULT_WINDOW_OVERLAP",
        "CrossEncoderReranker",
    ],
    "groundkit_core.retrieval.diversity": [
        "Diversity",
        "Picked",
        "pick",
        "resemblance",
        "shingles",
    ],
    "groundkit_core.retrieval.filters": [
        "BUILT_IN",
        "AllOf",
        "AnyOf",
        "Condition",
        "Filter",
        "NoneOf",
        "check_filter",
        "parts",
        "read",
        "why",
    ],
    "groundkit_core.loading.snapshot": ["Snapshot"],
    "groundkit_core.retrieval.citations": [
        "Attribution",
        "QuoteMatch",
        "attribute_quote",
        "found_at",
        "locate_quote",
        "resolve_citation",
        "stands",
        "starts",
    ],
    "groundkit_core.retrieval.fusion": ["RRF_K", "fused"],
    "groundkit_core.retrieval.legs": [
        "FUSION_DEPTH",
        "Fusion",
        "Ranking",
        "by_vectors",
        "by_words",
        "fuse",
    ],
    "groundkit_core.retrieval.links": ["link_to", "web_link"],
    "groundkit_core.retrieval.rerank": ["RerankerProtocol", "reranked"],
    "groundkit_core.retrieval.retriever": ["Retriever"],
    "groundkit_core.spans": ["Lines", "byte_span", "line_range", "page_range", "utf16_span"],
    "groundkit_core.terms": [
        "LANGUAGES",
        "UNSPACED",
        "Analyzer",
        "count_words",
        "has_words",
        "term_hash",
        "term_key",
        "word_spans",
        "words",
    ],
    "groundkit_core.testing": ["InMemoryEmbedder", "MappingReader"],
    "groundkit_core.vectors": ["unit_vectors"],
}
MODULES = [
    "groundkit_core",
    *(found.name for found in pkgutil.walk_packages([str(SOURCE)], "groundkit_core.")),
]


def public(module: ModuleType) -> list[str]:
    names: list[str] = getattr(module, "__all__", [])
    return names


@pytest.mark.parametrize("name", SURFACE)
def test_the_public_names_are_these(name: str) -> None:
    assert public(importlib.import_module(name)) == SURFACE[name]


@pytest.mark.parametrize("name", MODULES)
def test_public_names_exist_once(name: str) -> None:
    module = importlib.import_module(name)
    names = public(module)
    assert [each for each in names if not hasattr(module, each)] == []
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_defines_something_says_what_is_public(name: str) -> None:
    module = importlib.import_module(name)
    defined = [
        each
        for each, value in vars(module).items()
        if not each.startswith("_") and getattr(value, "__module__", None) == name
    ]
    assert not defined or hasattr(module, "__all__")


def borrowed() -> Iterator[tuple[str, str, str]]:
    """Each name that a module takes from another of the package."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "") in MODULES:
                for alias in node.names:
                    yield str(path.relative_to(SOURCE)), node.module or "", alias.name


def test_modules_take_only_public_names_from_one_another() -> None:
    found = list(borrowed())
    assert len(found) > 50
    private = [
        (user, module, name)
        for user, module, name in found
        if name not in public(importlib.import_module(module)) and f"{module}.{name}" not in MODULES
    ]
    assert private == []


def documented() -> Iterator[tuple[str, object]]:
    """Modules, their public classes and functions, and the methods of these classes."""
    for name in MODULES:
        module = importlib.import_module(name)
        yield name, module
        for each in public(module):
            value = getattr(module, each)
            if not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            yield f"{name}.{each}", value
            members = vars(value).items() if inspect.isclass(value) else ()
            for member, found in members:
                is_method = isinstance(found, property | classmethod | staticmethod | FunctionType)
                if is_method and not member.startswith(("_", "model_")):
                    yield f"{name}.{each}.{member}", found


def test_all_public_things_have_a_docstring() -> None:
    things = dict(documented())
    assert len(things) > 100
    bare = [
        name
        for name, value in things.items()
        if not (getattr(value, "__doc__", None) or "").strip()
    ]
    assert bare == []
