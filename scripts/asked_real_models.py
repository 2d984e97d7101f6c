"""Check that an evaluation asked real models: `python -m scripts.asked_real_models evals/results`.

It looks at who was asked and how often, and at nothing that they said.
"""

import sys
from pathlib import Path

from groundkit_evals.artifacts import ECHO, LATEST, read_artifact
from groundkit_evals.echo import EchoReport
from groundkit_evals.schema import EvalReport

__all__ = ["FEWEST_CASES", "problems"]

FEWEST_CASES = 5


def problems(folder: Path) -> list[str]:
    """Why the results in a folder are not those of real models; nothing if they are."""
    report = read_artifact(folder / LATEST, EvalReport)
    echo = read_artifact(folder / ECHO, EchoReport)
    found = []
    made = report.synthesis
    if made is None:
        found.append(f"{LATEST}: no model was asked")
    else:
        asked = [made.synthesis, *([made.judge] if made.judge else [])]
        if any(model.provider == "scripted" for model in asked):
            found.append(f"{LATEST}: the model is a script")
        if made.judge is None:
            found.append(f"{LATEST}: no judge was asked")
    dense = [stage.model or "" for stage in report.stages if stage.stage == "dense"]
    if not dense or dense[0].startswith("inmemory"):
        found.append(f"{LATEST}: no real embedder was measured")
    if echo.chat.provider == "scripted":
        found.append(f"{ECHO}: the model is a script")
    if len(echo.cases) < FEWEST_CASES:
        found.append(f"{ECHO}: {len(echo.cases)} cases, at least {FEWEST_CASES} are wanted")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(problems(Path(sys.argv[1]))) or 0)
