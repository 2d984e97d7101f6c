"""Answers that people have labelled, and the threshold that was fixed before they were used."""

import hashlib
import subprocess
from pathlib import Path
from typing import Literal, Self

from groundkit_core.contracts import Contract
from groundkit_core.errors import ConfigurationError, EvalError
from pydantic import Field, model_validator

from groundkit_evals.artifacts import read_artifact
from groundkit_evals.schema import ModelIdentity

__all__ = ["Label", "LabelSet", "Preregistration", "Threshold", "file_hash", "preregistration"]


class Label(Contract):
    """An answer with the sources it was made from, and whether they state every claim of it."""

    id: str
    question: str = ""
    answer: str = Field(min_length=1)
    sources: tuple[str, ...] = Field(min_length=1)
    faithful: bool


class LabelSet(Contract):
    """Labels of one rubric; `rubric_hash` is that of the text which those who labelled had."""

    schema_version: Literal[1] = 1
    rubric_hash: str
    origin: str
    labels: tuple[Label, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        if len({label.id for label in self.labels}) < len(self.labels):
            raise ValueError("an id is given twice")
        return self


class Threshold(Contract):
    """The least figures that would speak for trusting a judge: shares from 0 to 1."""

    agreement: float = Field(ge=0, le=1)
    unfaithful_precision: float = Field(ge=0, le=1)
    unfaithful_recall: float = Field(ge=0, le=1)


class Preregistration(Contract):
    """What was decided before any verdict: labels, judge, prompt and threshold."""

    schema_version: Literal[1] = 1
    labels_hash: str
    judge: ModelIdentity
    threshold: Threshold


def preregistration(path: Path) -> Preregistration:
    """The pre-registration in a file, which must be committed as it is."""
    found = read_artifact(path, Preregistration)
    committed = _committed(path)
    if committed is None:
        raise ConfigurationError(
            f"{path}: it is not committed; a threshold has to be fixed before it is measured: "
            f"git add {path.name} && git commit"
        )
    if committed != path.read_bytes():
        raise ConfigurationError(f"{path}: it was changed since it was committed")
    return found


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise EvalError(f"{path}: {error.strerror}") from None


def _committed(path: Path) -> bytes | None:
    """The file as the last commit has it."""
    command = ["git", "show", f"HEAD:./{path.name}"]
    try:
        folder = path.absolute().parent
        found = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: git is needed to tell whether it is committed: {error.strerror}"
        ) from None
    return found.stdout if found.returncode == 0 else None
