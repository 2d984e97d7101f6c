"""What `grk ingest` is given besides paths: URLs, and how web pages and JSON lines are read."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from groundkit_core.config import ExtractionConfig
    from groundkit_core.contracts import IngestReport
    from groundkit_core.errors import SourceError
    from groundkit_core.index.collection import Collection
    from groundkit_core.loading.snapshot import Snapshot

    _Pair = tuple[str, Snapshot | SourceError]

__all__ = [
    "AllowHost",
    "FileTimeout",
    "Html",
    "JsonlId",
    "JsonlMeta",
    "JsonlText",
    "JsonlTitle",
    "UrlList",
    "extraction",
    "fetched",
    "joined",
    "split_sources",
]

_AT_ONCE = 16

Html = Annotated[
    str | None,
    typer.Option("--html", help="main content or full text, from now on. [default: main]"),
]
JsonlText = Annotated[
    str | None,
    typer.Option(
        "--jsonl-text",
        metavar="FIELD",
        help="Each line of a JSONL file is a document with this field's text; '' ends that.",
    ),
]
JsonlId = Annotated[
    str | None,
    typer.Option("--jsonl-id", metavar="FIELD", help="The field that names a record."),
]
JsonlTitle = Annotated[
    str | None, typer.Option("--jsonl-title", metavar="FIELD", help="The field with its title.")
]
JsonlMeta = Annotated[
    list[str] | None,
    typer.Option("--jsonl-meta", metavar="FIELD", help="A field to keep as its metadata."),
]
FileTimeout = Annotated[
    float | None,
    typer.Option(
        "--file-timeout", min=0.1, help="Seconds that one file may take to read. [default: 120]"
    ),
]
UrlList = Annotated[
    Path | None,
    typer.Option("--url-list", metavar="FILE", help="A file with one URL a line."),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="HOST", help="A host that need not be public."),
]


def split_sources(given: Iterable[str], url_list: Path | None) -> tuple[list[Path], list[str]]:
    """Paths, and URLs in the order in which they are given."""
    from groundkit_core.errors import ConfigurationError

    paths, urls = list[Path](), list[str]()
    for source in given:
        if source.lower().startswith(("http://", "https://")):
            from groundkit_providers.fetch import check_url

            urls.append(check_url(source))
        else:
            paths.append(Path(source))
    if url_list is not None:
        from groundkit_providers.fetch import read_url_list

        urls += read_url_list(url_list)
    if not (paths or urls):
        raise ConfigurationError("give a path, a URL or --url-list")
    return paths, list(dict.fromkeys(urls))


def extraction(collection: "Collection", **given: Any) -> "ExtractionConfig | None":
    """How web pages and JSON lines are read: what is given, else as the collection has it."""
    from groundkit_core.config import ExtractionConfig
    from groundkit_core.errors import ConfigurationError
    from pydantic import ValidationError

    known = {key: value for key, value in given.items() if value not in (None, [])}
    if known.get("jsonl_text") == "":
        known |= {"jsonl_text": None, "jsonl_id": None, "jsonl_title": None, "jsonl_metadata": []}
    if not known:
        return None
    held = collection.info().extraction if collection.exists() else ExtractionConfig()
    try:
        return ExtractionConfig.model_validate({**held.model_dump(), **known})
    except ValidationError as error:
        first = error.errors()[0]
        option = "-".join(map(str, first["loc"])).replace("_", "-") or "jsonl-text"
        raise ConfigurationError(f"--{option}: {first['msg']}") from None


def fetched(
    urls: list[str], allow_hosts: Iterable[str]
) -> "Iterator[tuple[list[Snapshot], dict[str, str]]]":
    """What the URLs gave, a few at a time, and why others gave nothing."""
    import asyncio

    from groundkit_core.errors import SourceError
    from groundkit_providers.fetch import fetch_all

    with asyncio.Runner() as runner:
        pairs = fetch_all(urls, allow_private=list(allow_hosts))
        while batch := runner.run(_some(pairs)):
            refused = {
                url: str(got).removeprefix(f"{url}: ")
                for url, got in batch
                if isinstance(got, SourceError)
            }
            yield [got for _, got in batch if not isinstance(got, SourceError)], refused


async def _some(pairs: "AsyncIterator[_Pair]") -> "list[_Pair]":
    found = []
    async for pair in pairs:
        found.append(pair)
        if len(found) == _AT_ONCE:
            break
    return found


def joined(first: "IngestReport", second: "IngestReport") -> "IngestReport":
    """Two reports on one collection, one after the other, as one.

    What is said of the collection and of no file is the second's to say.
    """
    summed = ("unchanged", "read", "added", "dropped", "embedded")
    update: Mapping[str, object] = {
        name: getattr(first, name) + getattr(second, name) for name in summed
    }
    files = tuple(sorted((*first.files, *second.files), key=lambda outcome: outcome.source))
    of_files = {f"{each.source}: {said}" for each in first.files for said in each.warnings}
    warnings = tuple(sorted({*of_files, *second.warnings}))
    return second.model_copy(update={**update, "files": files, "warnings": warnings})
