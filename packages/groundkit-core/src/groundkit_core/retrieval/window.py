"""A passage with its neighbours."""

from groundkit_core.contracts import Passage, PassageWindow
from groundkit_core.errors import CollectionCorruptError, PassageNotFoundError, RetrievalError
from groundkit_core.index.given import read_json
from groundkit_core.index.view import View
from groundkit_core.retrieval.links import web_link
from groundkit_core.retrieval.search import citation_of

__all__ = ["MAX_NEIGHBOURS", "window"]

MAX_NEIGHBOURS = 1_000


def window(view: View, chunk_id: str, before: int, after: int, name: str) -> PassageWindow:
    """The passage that an id names, and up to so many before and after it in its document."""
    if not (0 <= before <= MAX_NEIGHBOURS and 0 <= after <= MAX_NEIGHBOURS):
        raise RetrievalError(f"before and after must be 0 to {MAX_NEIGHBOURS}")
    store = view.store
    rows = store.rows("SELECT doc, ordinal FROM chunk WHERE id=?", chunk_id)
    if not rows:
        raise PassageNotFoundError(f"{name}: it holds no passage {chunk_id!a}")
    doc, ordinal = rows[0]
    first, last = max(0, ordinal - before), ordinal + after
    held = store.rows("SELECT count(*) FROM chunk WHERE doc=?", doc)[0][0]
    around = "SELECT seq FROM chunk WHERE doc=? AND ordinal BETWEEN ? AND ?"
    seqs = [seq for (seq,) in store.rows(around, doc, first, last)]
    found = store.fetch("seq", seqs)
    passages = tuple(Passage(content=row[11], citation=citation_of(row)) for row in found)
    try:
        metadata = read_json(store.metadata([doc])[doc])
    except (TypeError, ValueError):
        raise CollectionCorruptError(
            f"the metadata of {found[0][3]} is damaged; see grk doctor"
        ) from None
    at = ordinal - first
    return PassageWindow(
        collection=name,
        generation=view.contents.manifest.generation,
        document_hash=store.rows("SELECT hash FROM document WHERE doc=?", doc)[0][0],
        title=found[0][12],
        metadata=metadata,
        passages=passages,
        at=at,
        before=first,
        after=max(0, held - last - 1),
        link=web_link(passages[at].citation, passages[at].content),
    )
