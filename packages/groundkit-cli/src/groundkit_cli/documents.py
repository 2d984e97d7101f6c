"""The JSON documents that the command line makes itself; the others are the core's contracts."""

from typing import Literal

from groundkit_core.contracts import Citation, CollectionInfo, Contract, Verification

__all__ = [
    "CollectionList",
    "Counts",
    "Deleted",
    "DryRun",
    "Failure",
    "Findings",
    "NotVerified",
    "Problem",
    "VerifyReport",
]


class Counts(Contract):
    """Citations by status."""

    verified: int = 0
    moved: int = 0
    drifted: int = 0
    unresolvable: int = 0


class NotVerified(Contract):
    """A citation whose text does not stand at its span."""

    citation: Citation
    verification: Verification


class VerifyReport(Contract):
    """What `grk verify` found; `not_verified` lists every citation that is not `verified`."""

    schema_version: Literal[1] = 1
    collection: str
    counts: Counts
    not_verified: tuple[NotVerified, ...]


class CollectionList(Contract):
    """The collections in an index directory, and why others cannot be used."""

    collections: tuple[CollectionInfo, ...]
    unusable: tuple[str, ...]


class DryRun(Contract):
    """The one request that `grk answer` would make; the key is no part of it."""

    schema_version: Literal[1] = 1
    url: str
    body: dict[str, object]
    estimated_tokens: int


class Deleted(Contract):
    """The collection that was deleted."""

    deleted: str


class Findings(Contract):
    """What is damaged in each collection, nothing in a sound one, and what `--repair` did."""

    collections: dict[str, list[str]]
    repairs: dict[str, list[str]]


class Problem(Contract):
    """Why a command failed, and its exit code."""

    type: str
    message: str
    exit_code: int


class Failure(Contract):
    """What any command prints instead of its result when it fails."""

    error: Problem
