"""A labelled set: documents, queries, and what each query should find."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from groundkit_core.config import ChunkingConfig
from groundkit_core.contracts import Document
from groundkit_core.errors import EvalError
from groundkit_core.index.collection import Collection

from groundkit_evals.schema import QueryRecord

__all__ = ["Dataset", "hash_of"]


@dataclass(frozen=True)
class Dataset:
    """Documents as such or as a folder of files, with queries whose ids differ."""

    name: str
    queries: tuple[QueryRecord, ...]
    documents: tuple[Document, ...] = ()
    folder: Path | None = None
    corpus_hash: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        ids = [query.id for query in self.queries]
        if len(set(ids)) < len(ids):
            twice = next(id_ for id_ in ids if ids.count(id_) > 1)
            raise EvalError(f"{self.name}: the query id {twice!r} is given twice")
        if not ids:
            raise EvalError(f"{self.name}: there is no query with a judgment")

    @property
    def judgments_hash(self) -> str:
        """Hash of the queries and of what they should find."""
        return hash_of(query.model_dump_json() for query in self.queries)

    def fill(self, collection: Collection, chunking: ChunkingConfig, language: str) -> None:
        """Put the documents into a collection, or what of them is not there yet."""
        if self.folder is not None:
            report = collection.ingest(
                [self.folder], chunking=chunking, language=language, ignore=False
            )
            refused = [each for each in report.files if each.status == "refused"]
            if refused:
                raise EvalError(f"{refused[0].source}: {refused[0].reason}")
        else:
            collection.add(self.documents, chunking=chunking, language=language)


def hash_of(parts: Iterable[str]) -> str:
    """SHA-256 of texts, each as a JSON string, so that no two lists have one hash by chance."""
    state = hashlib.sha256()
    for part in parts:
        state.update(json.dumps(part).encode() + b"\n")
    return state.hexdigest()
