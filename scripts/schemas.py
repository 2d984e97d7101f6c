"""Write the JSON schemas of what `grk --json` prints to docs/reference/schemas/."""

import json
from pathlib import Path
from typing import Any, Literal

from groundkit_core import Citation, CollectionInfo, IngestReport, SearchResponse, Verification
from pydantic import BaseModel, ConfigDict, TypeAdapter

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference" / "schemas"


class Printed(BaseModel):
    """A document that the command line makes itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Counts(Printed):
    """Citations by status."""

    verified: int
    moved: int
    drifted: int
    unresolvable: int


class NotVerified(Printed):
    """A citation whose text does not stand at its span."""

    citation: Citation
    verification: Verification


class VerifyReport(Printed):
    """What `grk verify` found; `not_verified` lists every citation that is not `verified`."""

    schema_version: Literal[1]
    collection: str
    counts: Counts
    not_verified: list[NotVerified]


class Collections(Printed):
    """The collections in an index directory, and why others cannot be used."""

    collections: list[CollectionInfo]
    unusable: list[str]


class Deleted(Printed):
    """The collection that was deleted."""

    deleted: str


class Findings(Printed):
    """What is damaged in each collection, nothing in a sound one, and what `--repair` did."""

    collections: dict[str, list[str]]
    repairs: dict[str, list[str]]


class Problem(Printed):
    """Why a command failed, and its exit code."""

    type: str
    message: str
    exit_code: int


class Failure(Printed):
    """What any command prints instead of its result when it fails."""

    error: Problem


PRINTED: dict[str, Any] = {
    "search": SearchResponse,
    "ingest": IngestReport,
    "verify": VerifyReport,
    "collections-list": Collections,
    "collections-show": CollectionInfo,
    "collections-delete": Deleted,
    "doctor": Findings,
    "error": Failure,
}


def schemas() -> dict[str, str]:
    """The text of each schema file, by file name."""
    return {
        f"{name}.json": json.dumps(_schema(printed), indent=2, ensure_ascii=False) + "\n"
        for name, printed in PRINTED.items()
    }


def _schema(printed: Any) -> dict[str, Any]:
    schema = TypeAdapter(printed).json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def main() -> None:
    """Write every schema."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
