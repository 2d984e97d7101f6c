"""A labelled set: documents, queries, and what each query should find."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Document
from groundkit_core.errors import EvalError, RetrievalError, SourceError
from groundkit_core.index.collection import Collection
from groundkit_core.retrieval.search import check_query

from groundkit_evals.schema import QueryRecord

__all__ = ["Dataset", "hash_of"]


@dataclass(frozen=True)
class Dataset:
    """Documents as such or as a folder of files, with queries whose ids differ.

    `texts` are those of the folder's files by their paths; `warnings` are what a reader of the
    figures has to know.
    """

    name: str
    queries: tuple[QueryRecord, ...]
    documents: tuple[Document, ...] = ()
    folder: Path | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.queries:
            raise EvalError(f"{self.name}: there is no query with a judgment")
        seen: set[str] = set()
        for query in self.queries:
            if query.id in seen:
                raise EvalError(f"{self.name}: the query id {query.id!r} is given twice")
            seen.add(query.id)
            try:
                check_query(query.text)
            except RetrievalError as error:
                raise EvalError(f"query {query.id!r}: {error}") from None
            if len({expected.unit for expected in query.expected}) < len(query.expected):
                raise EvalError(f"query {query.id!r}: the same is expected twice")

    @property
    def corpus_hash(self) -> str:
        """Hash of the documents, in whatever order they came."""
        given = {each.source: f"{each.title or ''}\n{each.text}" for each in self.documents}
        return hash_of(part for item in sorted((self.texts or given).items()) for part in item)

    @property
    def judgments_hash(self) -> str:
        """Hash of the queries and of what they should find, in whatever order they came."""
        return hash_of(sorted(query.model_dump_json() for query in self.queries))

    def read(self, source: str) -> str:
        """The text of a document that is no file, so that passages of it can be verified."""
        try:
            return self._given[source]
        except KeyError:
            raise SourceError("the set does not hold it") from None

    @cached_property
    def _given(self) -> dict[str, str]:
        return {document.source: document.text for document in self.documents}

    def fill(self, collection: Collection, chunking: ChunkingConfig, language: str) -> None:
        """Put the documents into a collection, which must hold nothing else."""
        if self.folder is not None:
            report = collection.ingest(
                [self.folder], chunking=chunking, language=language, ignore=False
            )
            refused = [each for each in report.files if each.status == "refused"]
            if refused:
                raise EvalError(f"{refused[0].source}: {refused[0].reason}")
        else:
            report = collection.add(self.documents, chunking=chunking, language=language)
        wanted = len(self.texts or self.documents)
        if report.documents != wanted:
            raise EvalError(
                f"{collection.path}: it holds {report.documents} documents, the set has {wanted}; "
                "give the set a collection of its own"
            )


def hash_of(parts: Iterable[str]) -> str:
    """SHA-256 of texts, each as a JSON string, so that no two lists have one hash by chance."""
    state = hashlib.sha256()
    for part in parts:
        state.update(json.dumps(part).encode() + b"\n")
    return state.hexdigest()
