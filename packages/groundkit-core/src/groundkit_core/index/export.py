"""A frozen copy of the live passages for bm25s."""

import json
from pathlib import Path

from groundkit_core.errors import CollectionError
from groundkit_core.index.bm25 import K1, B
from groundkit_core.index.changes import indexed_text
from groundkit_core.index.view import View

__all__ = ["export_bm25s"]


def export_bm25s(view: View, path: Path) -> int:
    """Save a bm25s index whose corpus names our chunk ids; returns the number of passages."""
    from groundkit_core.index.bm25s_bridge import save_index

    rows = view.store.rows(
        "SELECT chunk.id, source, title, headings, content FROM chunk JOIN document USING (doc) "
        "ORDER BY chunk.id"
    )
    if not rows:
        raise CollectionError(f"{view.store.path}: it holds no passage to export")
    analyzer = view.contents.analyzer
    texts = [indexed_text(title, json.loads(h), content) for _, _, title, h, content in rows]
    corpus = [{"id": id_, "source": source} for id_, source, *_ in rows]
    terms = [analyzer.terms(text) for text in texts]
    if not any(terms):
        raise CollectionError(f"{view.store.path}: no passage holds a word to export")
    try:
        save_index(terms, corpus, path, K1, B)
    except OSError as error:
        raise CollectionError(f"{path}: {error.strerror}") from None
    return len(rows)
