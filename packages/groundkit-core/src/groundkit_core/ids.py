"""Content-derived identifiers: BLAKE2b-128 over length-prefixed fields, in hex."""

from hashlib import blake2b

__all__ = ["chunk_id", "content_hash", "document_id", "hash_bytes"]


def _digest(kind: bytes, *fields: str | bytes) -> str:
    state = blake2b(digest_size=16, person=kind)
    for field in fields:
        data = field if isinstance(field, bytes) else field.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def document_id(source: str) -> str:
    """Id of the document that a source names."""
    return _digest(b"document", source)


def chunk_id(document: str, content: str, occurrence: int) -> str:
    """Id of a passage: `occurrence` counts equal passages of one document from zero."""
    return _digest(b"chunk", document, content, str(occurrence))


def content_hash(content: str | bytes) -> str:
    """Hash of a cited text, given as such or in UTF-8."""
    return _digest(b"content", content)


def hash_bytes(data: bytes) -> str:
    """Hash of a source's bytes."""
    return blake2b(data, digest_size=16).hexdigest()
