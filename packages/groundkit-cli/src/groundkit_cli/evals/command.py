"""`grk eval`: how well the stages of retrieval do on a labelled set."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundkit_cli import chat_options as chat
from groundkit_cli import embed_options as embed
from groundkit_cli.evals.calibrate import calibrate
from groundkit_cli.options import ChunkOverlap, ChunkSize, ChunkUnit, Json
from groundkit_cli.output import emit_json, note, reported
from groundkit_cli.rerank_options import Rerank, RerankModel, reranker_for
from groundkit_cli.settings import load_settings

if TYPE_CHECKING:
    from groundkit_core.config import ChunkingConfig
    from groundkit_evals.schema import RunConfig

__all__ = ["app"]

app = typer.Typer(rich_markup_mode=None)
app.command("calibrate")(calibrate)


@app.callback(invoke_without_command=True)
@reported
def evaluate(
    context: typer.Context,
    dataset: Annotated[
        Path, typer.Option("--dataset", metavar="DIR", help="Folder of the labelled set.")
    ] = Path("evals"),
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Where results are written.")
    ] = Path("evals/results"),
    dense: Annotated[
        bool, typer.Option("--dense", help="Measure vectors and their fusion with words as well.")
    ] = False,
    min_similarity: embed.MinSimilarity = None,
    embed_provider: embed.Provider = None,
    embed_model: embed.Model = None,
    embed_base_url: embed.BaseUrl = None,
    embed_api_key_env: embed.ApiKeyEnv = None,
    embed_allow_private: embed.AllowPrivate = False,
    embed_dimensions: embed.Dimensions = None,
    embed_document_prefix: embed.DocumentPrefix = None,
    embed_query_prefix: embed.QueryPrefix = None,
    embed_batch_size: embed.BatchSize = None,
    embed_timeout: embed.Timeout = None,
    rerank: Rerank = False,
    rerank_model: RerankModel = None,
    language: Annotated[
        str | None, typer.Option(help="Snowball name or none. [default: english]")
    ] = None,
    chunking: Annotated[
        str | None, typer.Option(help="structure or fixed. [default: structure]")
    ] = None,
    chunk_size: ChunkSize = None,
    chunk_overlap: ChunkOverlap = None,
    chunk_unit: ChunkUnit = None,
    synthesis: Annotated[
        bool, typer.Option("--synthesis", help="Let a model answer every query, and count.")
    ] = False,
    judge: Annotated[
        bool, typer.Option("--judge", help="Ask the model for a verdict on each answer.")
    ] = False,
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", "-k", min=1, max=100, help="Passages of an answer. [default: 5]"),
    ] = None,
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
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--compare", metavar="A.json B.json", help="Compare two runs instead."),
    ] = None,
    json: Json = False,
) -> None:
    """Measure how well queries with known answers are answered."""
    given = _given(context)
    if context.invoked_subcommand is not None:
        _refuse(given, f"before {context.invoked_subcommand}")
        return
    if compare is not None:
        others = {name: option for name, option in given.items() if name != "compare"}
        _refuse(others, "with --compare")
        show_compared(*compare)
        return
    _check(given, dense=dense, synthesis=synthesis)
    from groundkit_cli.evals.measure import Answers, Measured, measure

    settings = load_settings()
    answers = None
    if synthesis:
        model_chat, config = chat.chat_for(
            settings,
            chat.given(
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
            ),
            script,
            redact,
            redact_name,
            redact_pattern,
            detect_names,
        )
        answers = Answers(
            model_chat,
            judge,
            top_k or 5,
            config.max_output_tokens,
            chat.lasting(config, redact_name, redact_pattern, detect_names, settings.redaction),
        )
    flags = embed.given(
        embed_provider,
        embed_model,
        embed_base_url,
        embed_api_key_env,
        embed_allow_private,
        embed_timeout,
        dimensions=embed_dimensions,
        document_prefix=embed_document_prefix,
        query_prefix=embed_query_prefix,
        batch_size=embed_batch_size,
    )
    asked = settings.chunking(
        strategy=chunking, size=chunk_size, overlap=chunk_overlap, unit=chunk_unit
    )
    report = measure(
        Measured(
            dataset,
            results,
            _config(asked, language or settings.language, min_similarity),
            embed.embedder_for(settings.embed, None, flags) if dense else None,
            reranker_for(rerank, rerank_model),
        ),
        answers,
        quiet=json,
    )
    if json:
        emit_json(report)


def _given(context: typer.Context) -> dict[str, str]:
    """The options that stand on the command line, by the names of their parameters."""
    options = {each.name: max(each.opts, key=len) for each in context.command.params if each.name}
    sources = {name: context.get_parameter_source(name) for name in options}
    return {
        name: options[name]
        for name, source in sources.items()
        if source and source.name == "COMMANDLINE"
    }


def _refuse(given: Mapping[str, str], where: str) -> None:
    from groundkit_core.errors import ConfigurationError

    if given:
        raise ConfigurationError(f"{min(given.values())} has no use {where}")


def _check(given: Mapping[str, str], *, dense: bool, synthesis: bool) -> None:
    """Refuse an option whose path the run does not take."""

    def starting(*heads: str) -> dict[str, str]:
        return {name: option for name, option in given.items() if option.startswith(heads)}

    if not synthesis:
        answers = ("--chat-", "--redact", "--detect-names", "--judge", "--top-k")
        _refuse(starting(*answers), "without --synthesis")
    if not dense:
        _refuse(starting("--embed-", "--min-similarity"), "without --dense")


def _config(
    chunking: "ChunkingConfig | None", language: str | None, min_similarity: float | None
) -> "RunConfig":
    from groundkit_core.errors import ConfigurationError
    from groundkit_evals.schema import RunConfig

    if min_similarity is not None and not -1 <= min_similarity <= 1:
        raise ConfigurationError(f"--min-similarity {min_similarity}: it must be -1 to 1")
    asked: dict[str, Any] = {"chunking": chunking, "language": language}
    known = {key: value for key, value in asked.items() if value is not None}
    return RunConfig(min_similarity=min_similarity, **known)


def show_compared(first: Path, second: Path) -> None:
    """Two runs side by side."""
    from groundkit_evals.artifacts import read_artifact
    from groundkit_evals.compare import compare, settings_changed
    from groundkit_evals.schema import EvalReport

    from groundkit_cli.evals.tables import show_comparison

    before, after = (read_artifact(path, EvalReport) for path in (first, second))
    rows = compare(before, after)
    for warning in dict.fromkeys((*before.warnings, *after.warnings)):
        note(f"warning: {warning}")
    show_comparison(rows, settings_changed(before, after))
    if not any(row.difference.is_clear for row in rows):
        note("no metric differs clearly")
