"""`grk eval calibrate`: how far a judge agrees with people."""

from pathlib import Path
from typing import Annotated

import typer

from groundkit_cli import chat_options as chat
from groundkit_cli.options import Json
from groundkit_cli.output import emit_json, in_line, note, reported
from groundkit_cli.settings import load_settings

__all__ = ["calibrate"]

VERDICTS, REPORT = "calibration-verdicts.json", "calibration-latest.json"


@reported
def calibrate(
    labels: Annotated[
        Path, typer.Option("--labels", metavar="FILE", help="Answers that people have labelled.")
    ],
    preregistered: Annotated[
        Path,
        typer.Option(
            "--preregistered",
            metavar="FILE",
            help="The committed file that names labels, judge and threshold.",
        ),
    ],
    verdicts: Annotated[
        Path | None,
        typer.Option("--verdicts", metavar="FILE", help="Measure these and ask no model."),
    ] = None,
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Where results are written.")
    ] = Path("evals/results"),
    provider: chat.Provider = None,
    model: chat.Model = None,
    base_url: chat.BaseUrl = None,
    script: chat.Script = None,
    api_key_env: chat.ApiKeyEnv = None,
    allow_private: chat.AllowPrivate = False,
    temperature: chat.Temperature = None,
    no_temperature: chat.NoTemperature = False,
    max_output_tokens: chat.MaxOutputTokens = None,
    timeout: chat.Timeout = None,
    token_limit_param: chat.TokenLimitParam = None,
    redact: chat.Redact = False,
    redact_name: chat.RedactNames = None,
    redact_pattern: chat.RedactPatterns = None,
    detect_names: chat.DetectNames = False,
    json: Json = False,
) -> None:
    """Measure a judge against labelled answers. It decides nothing."""
    from groundkit_core.blocking import result_of
    from groundkit_core.errors import ConfigurationError
    from groundkit_evals.artifacts import read_artifact, write_artifact
    from groundkit_evals.calibration import VerdictRun, judge_labels
    from groundkit_evals.calibration import calibrate as measured

    from groundkit_cli.evals.measure import progress_bar
    from groundkit_cli.evals.tables import show_calibration

    flags = chat.given(
        provider,
        model,
        base_url,
        api_key_env,
        allow_private,
        temperature,
        no_temperature,
        max_output_tokens,
        timeout,
        token_limit_param,
    )
    redacted = redact or redact_name or redact_pattern or detect_names
    if verdicts is not None:
        if flags or script or redacted:
            raise ConfigurationError("--verdicts asks no model, so it takes no --chat or --redact")
        run = read_artifact(verdicts, VerdictRun)
    else:
        stored = load_settings()
        model_chat, config = chat.chat_for(
            stored, flags, script, redact, redact_name, redact_pattern, detect_names
        )
        settings = chat.lasting(config, redact_name, redact_pattern, detect_names, stored.redaction)
        journal = results / ".calibration.jsonl"
        with progress_bar() as progress:
            run = result_of(
                judge_labels(
                    labels, preregistered, model_chat, journal, progress, settings=settings
                )
            )
        write_artifact(results / VERDICTS, run)
        journal.unlink(missing_ok=True)
    report = measured(labels, preregistered, run)
    write_artifact(results / REPORT, report)
    if json:
        emit_json(report)
    else:
        show_calibration(report)
    note(f"written to {in_line(str(results))}: {REPORT}" + ("" if verdicts else f", {VERDICTS}"))
