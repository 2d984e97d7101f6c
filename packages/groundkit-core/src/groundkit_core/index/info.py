"""What a collection holds and how it was made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from groundkit_core.contracts import CollectionInfo, CollectionSummary, MetadataKey
from groundkit_core.errors import CollectionCorruptError
from groundkit_core.index.given import Given
from groundkit_core.index.view import View

__all__ = ["describe", "summarise"]

_COUNT_VECTORS = "SELECT count(*) FROM vector JOIN space USING (space) WHERE active"
_KINDS = "SELECT DISTINCT kind FROM segment JOIN space USING (space) WHERE active"


def summarise(view: View, name: str) -> CollectionSummary:
    """Counts alone."""
    contents = view.contents
    return CollectionSummary(
        name=name,
        generation=contents.manifest.generation,
        documents=view.store.rows("SELECT count(*) FROM document")[0][0],
        chunks=contents.chunks,
        embedding=str(contents.space.identity) if contents.space else None,
    )


def describe(view: View, path: Path, roots: Mapping[str, Path]) -> CollectionInfo:
    """Counts, settings and roots of the collection at a path."""
    contents, store = view.contents, view.store
    return CollectionInfo(
        name=path.name,
        path=str(path),
        generation=contents.manifest.generation,
        documents=store.rows("SELECT count(*) FROM document")[0][0],
        chunks=contents.chunks,
        terms=contents.terms,
        segments=len(contents.lexical.segments),
        bytes=sum(file.stat().st_size for file in path.rglob("*") if file.is_file()),
        language=contents.manifest.language,
        analysis=contents.manifest.analysis,
        chunking=contents.manifest.chunking,
        extraction=contents.manifest.extraction,
        embedding=str(contents.space.identity) if contents.space else None,
        vectors=store.rows(_COUNT_VECTORS)[0][0],
        vector_index=_vector_index(view),
        roots={label: str(root) for label, root in roots.items()},
        metadata=_metadata(view),
        given=Given(store).by_path,
    )


def _metadata(view: View) -> dict[str, MetadataKey]:
    counted = (
        "SELECT key, count(DISTINCT doc), group_concat(DISTINCT kind) FROM field "
        "GROUP BY key ORDER BY key"
    )
    try:
        # A damaged key is no text, which is a TypeError here.
        return {
            str.__str__(key): MetadataKey(documents=held, kinds=tuple(sorted(kinds.split(","))))
            for key, held, kinds in view.store.rows(counted)
        }
    except (AttributeError, TypeError, ValueError):
        raise CollectionCorruptError(
            f"{view.store.path}: the metadata is damaged; see grk doctor"
        ) from None


def _vector_index(view: View) -> Literal["scan", "graph", "scan and graph"] | None:
    kinds = {kind for (kind,) in view.store.rows(_KINDS)}
    if kinds == {"scan", "graph"}:
        return "scan and graph"
    return "graph" if "graph" in kinds else "scan" if kinds else None
