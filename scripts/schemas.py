"""Write the JSON schemas of what `grk` prints and writes to docs/reference/schemas/."""

import json
from pathlib import Path
from typing import Any

from groundkit_cli.documents import (
    CollectionList,
    Deleted,
    DryRun,
    Failure,
    Findings,
    VerifyReport,
)
from groundkit_core import CollectionInfo, IngestReport, PassageWindow, SearchResponse
from groundkit_evals.calibration import CalibrationReport
from groundkit_evals.echo import EchoReport
from groundkit_evals.schema import EvalReport
from groundkit_providers.answer import AnswerReport
from pydantic import TypeAdapter

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference" / "schemas"


PRINTED: dict[str, Any] = {
    "search": SearchResponse,
    "ingest": IngestReport,
    "answer": AnswerReport,
    "answer-dry-run": DryRun,
    "show": PassageWindow,
    "verify": VerifyReport,
    "collections-list": CollectionList,
    "collections-show": CollectionInfo,
    "collections-delete": Deleted,
    "doctor": Findings,
    "eval": EvalReport,
    "eval-calibrate": CalibrationReport,
    "eval-echo": EchoReport,
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
