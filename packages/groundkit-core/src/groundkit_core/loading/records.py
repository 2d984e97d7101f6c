"""Files whose records are documents of their own, each with a source below the file's."""

from collections.abc import Iterator, Mapping

from groundkit_core.contracts import Document
from groundkit_core.ids import document_id
from groundkit_core.loading.detect import decode
from groundkit_core.loading.formats import named_format
from groundkit_core.loading.jsonl import Record, records
from groundkit_core.loading.read import Loaded

__all__ = ["file_of", "load_records", "record_source", "record_texts"]

Options = Mapping[str, list[str]]


def load_records(source: str, data: bytes, identity: str) -> tuple[list[Loaded], tuple[str, ...]]:
    """The documents in a file, and warnings; a bad record refuses the whole file."""
    decoded = decode(data)
    warnings = [f"encoding guessed: {decoded.encoding}"] if decoded.guessed else []
    found = []
    for record in _records(decoded.text, _options(identity)):
        named = record_source(source, record.key)
        document = Document(
            id=document_id(named),
            source=named,
            text=record.text,
            title=record.title,
            media_type="application/jsonl",
            source_class="extracted",
            extractor=identity,
            encoding=decoded.encoding,
            metadata=record.metadata,
        )
        found.append(Loaded(document))
    if not found:
        warnings.append("it holds no record")
    return found, tuple(warnings)


def record_texts(source: str, text: str, identity: str) -> dict[str, str]:
    """The texts of a file's records by their sources."""
    return {
        record_source(source, record.key): record.text
        for record in _records(text, _options(identity))
    }


def record_source(source: str, key: str) -> str:
    """The source of a record in a file."""
    return f"{source}#{key.replace('%', '%25').replace('#', '%23')}"


def file_of(source: str) -> str:
    """The source of the file that a record is in."""
    return source.rpartition("#")[0]


def _options(identity: str) -> Options:
    found = named_format(identity)
    return found[1] if found else {}


def _records(text: str, options: Options) -> Iterator[Record]:
    return records(
        text,
        text_field=options["text"][0],
        id_field=options.get("id", [None])[0],
        title_field=options.get("title", [None])[0],
        metadata_fields=options.get("meta", []),
    )
