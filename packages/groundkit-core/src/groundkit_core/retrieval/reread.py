"""Reading a citation's source again, as its extractor read it."""

from collections.abc import Mapping
from dataclasses import dataclass

from groundkit_core.contracts import Citation
from groundkit_core.errors import SourceError
from groundkit_core.loading.detect import decode, decode_as
from groundkit_core.loading.formats import FORMATS, Format, named_format
from groundkit_core.loading.read import extract
from groundkit_core.loading.records import file_of, record_texts
from groundkit_core.loading.worker import Worker
from groundkit_core.retrieval.sources import SourceReader

__all__ = ["Rereader", "SourceText", "is_record", "lacking", "read_source"]

_GIVEN = "given@1"


@dataclass(frozen=True, slots=True)
class SourceText:
    """What a source holds now, or why that cannot be told; `pages` are where its pages begin."""

    text: str | None
    reason: str = ""
    pages: tuple[int, ...] = ()


def read_source(citation: Citation, reader: SourceReader) -> SourceText:
    """The text of a citation's source, read in this call by its extractor in its encoding."""
    with Rereader(reader) as rereader:
        found = rereader.raw(citation)
        return found if isinstance(found, SourceText) else rereader.text(citation, found)


def lacking(identity: str) -> str | None:
    """Why this version cannot read as an extractor did; None if it can."""
    if identity == _GIVEN or named_format(identity):
        return None
    name = identity.partition("@")[0]
    ours = next((f"{known.name}@{known.version}" for known in FORMATS if known.name == name), None)
    instead = f" and now reads with {ours}" if ours else ""
    return f"it was read by {identity}, which this version lacks{instead}; run again: grk ingest"


def is_record(citation: Citation) -> bool:
    """Whether the citation is of a record of a file."""
    known = named_format(citation.extractor)
    return known is not None and known[0].kind == "records"


class Rereader:
    """Reads sources again; the records of a file are read together."""

    def __init__(self, reader: SourceReader) -> None:
        self._reader = reader
        self._worker = Worker()
        self._files: dict[str, bytes | str] = {}
        self._records: dict[tuple[str, str, str | None], dict[str, str]] = {}

    def __enter__(self) -> "Rereader":
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def raw(self, citation: Citation) -> bytes | str | SourceText:
        """What the source, or the file that it is a record of, holds, or why not."""
        if problem := lacking(citation.extractor):
            return SourceText(None, problem)
        try:
            if not is_record(citation):
                return self._reader.read(citation.source)
            source = file_of(citation.source)
            if source not in self._files:
                self._files[source] = self._reader.read(source)
            return self._files[source]
        except SourceError as error:
            return SourceText(None, str(error))

    def text(self, citation: Citation, raw: bytes | str) -> SourceText:
        """The text that the citation's extractor makes of what its source holds."""
        if isinstance(raw, str):
            return SourceText(raw)
        known = named_format(citation.extractor)
        try:
            if known is None or known[0].kind == "text":
                return SourceText(_decoded(raw, citation))
            if known[0].kind == "records":
                return self._record(citation, raw)
            return self._extracted(citation, raw, *known)
        except SourceError as error:
            return SourceText(None, str(error))

    def _extracted(
        self, citation: Citation, raw: bytes, known: Format, options: Mapping[str, list[str]]
    ) -> SourceText:
        found = extract(known, raw, options, self._worker, encoding=citation.encoding)
        return SourceText(found.text, pages=found.pages)

    def _record(self, citation: Citation, raw: bytes) -> SourceText:
        source = file_of(citation.source)
        key = source, citation.extractor, citation.encoding
        if key not in self._records:
            text = _decoded(raw, citation)
            self._records[key] = record_texts(source, text, citation.extractor)
        found = self._records[key].get(citation.source)
        return SourceText(found, "" if found else "the file no longer has this record")


def _decoded(raw: bytes, citation: Citation) -> str:
    return decode_as(raw, citation.encoding) if citation.encoding else decode(raw).text
