"""`grk answer`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundkit_cli import chat_options as chat
from groundkit_cli import embed_options as embed
from groundkit_cli.options import CollectionName, IndexDir, Json, Roots, parse_roots
from groundkit_cli.output import emit, emit_json, in_line, note, printable, reported
from groundkit_cli.search import place
from groundkit_cli.settings import load_settings, open_collection
from groundkit_cli.steps import Steps, TimedChat
from groundkit_cli.where import NearDuplicates, PerDocument, Where, diversity, parse_where

if TYPE_CHECKING:
    from groundkit_core.contracts import RetrievalResult, SearchMode, SearchResponse
    from groundkit_core.index.collection import Collection
    from groundkit_core.retrieval.diversity import Diversity
    from groundkit_core.retrieval.filters import Filter
    from groundkit_providers.answer import AnswerReport, SearchCallable
    from groundkit_providers.judge import FaithfulnessVerdict
    from groundkit_providers.protocols import ChatProtocol

CONTEXT_TOKENS = 8192


@reported
def answer(
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="The question.")],
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", "-k", help="Number of passages, 1 to 100. [default: 10]"),
    ] = None,
    where: Where = None,
    per_document: PerDocument = None,
    near_duplicates: NearDuplicates = None,
    mode: embed.Mode = None,
    min_similarity: embed.MinSimilarity = None,
    embed_provider: embed.Provider = None,
    embed_model: embed.Model = None,
    embed_base_url: embed.BaseUrl = None,
    embed_api_key_env: embed.ApiKeyEnv = None,
    embed_allow_private: embed.AllowPrivate = False,
    embed_timeout: embed.Timeout = None,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Let the model rewrite the query to search for.")
    ] = False,
    judge: Annotated[
        bool, typer.Option("--judge", help="Ask the model whether the answer keeps to its sources.")
    ] = False,
    context_tokens: Annotated[
        int, typer.Option("--context-tokens", min=1, help="Most tokens of prompt and reply.")
    ] = CONTEXT_TOKENS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be sent, and send nothing.")
    ] = False,
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
    show_redactions: Annotated[
        bool,
        typer.Option("--show-redactions", help="Say how many values of each kind were hidden."),
    ] = False,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
    json: Json = False,
) -> None:
    """Let a model answer from passages, its citations verified."""
    from groundkit_core.errors import CollectionNotFoundError, ConfigurationError
    from groundkit_core.retrieval.search import check_query
    from groundkit_providers.llm import RedactingChat

    query = " ".join(words)
    check_query(query)
    filters, varied = parse_where(where), diversity(per_document, near_duplicates)
    if dry_run and (rewrite or judge):
        flag = "--rewrite" if rewrite else "--judge"
        raise ConfigurationError(f"--dry-run cannot know the second prompt that {flag} makes")
    if dry_run and mode not in (None, "bm25"):
        raise ConfigurationError("--dry-run sends nothing, and --mode may need an embedding server")
    settings = load_settings()
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
    if show_redactions and not isinstance(model_chat, RedactingChat):
        raise ConfigurationError("--show-redactions: the model is on this machine, add --redact")
    found = open_collection(index_dir, collection, parse_roots(root))
    if not found.exists():
        raise CollectionNotFoundError(found.path)
    searched = embed.searched_mode(
        settings.embed,
        found,
        mode,
        min_similarity,
        embed.given(
            embed_provider,
            embed_model,
            embed_base_url,
            embed_api_key_env,
            embed_allow_private,
            embed_timeout,
        ),
    )
    steps = Steps()
    room = context_tokens - _fixed_tokens(query, config.max_output_tokens)
    search = _search(found, steps, room, searched, min_similarity, filters, varied)
    if dry_run:
        _dry_run(model_chat, search, query, top_k, json)
    else:
        if config.provider == "scripted":
            note("warning: the replies come from a script; no model was asked")
        report = _ask(model_chat, search, steps, query, top_k, searched, rewrite, judge)
        if json:
            emit_json(report)
        else:
            show(report)
        note(f"{steps.summary()} ({in_line(model_chat.model_name)}, {model_chat.provider})")
    if show_redactions and isinstance(model_chat, RedactingChat):
        counts = ", ".join(f"{n} {kind}" for kind, n in sorted(model_chat.redactions.items()))
        note(f"redacted: {counts or 'nothing'}")


def _ask(
    model_chat: "ChatProtocol",
    search: "SearchCallable",
    steps: Steps,
    query: str,
    top_k: int | None,
    mode: "SearchMode",
    rewrite: bool,
    judge: bool,
) -> "AnswerReport":
    import asyncio

    from groundkit_providers.answer import AnswerPipeline
    from groundkit_providers.judge import FaithfulnessJudge
    from groundkit_providers.query_rewrite import QueryRewriter
    from groundkit_providers.synthesis import Synthesizer

    pipeline = AnswerPipeline(
        search,
        Synthesizer(TimedChat(model_chat, steps, "answer")),
        rewriter=QueryRewriter(TimedChat(model_chat, steps, "rewrite")) if rewrite else None,
        judge=FaithfulnessJudge(TimedChat(model_chat, steps, "judge")) if judge else None,
    )
    return asyncio.run(pipeline.answer(query, top_k=top_k, mode=mode))


def _search(
    collection: "Collection",
    steps: Steps,
    tokens: int,
    searched: "SearchMode",
    min_similarity: float | None,
    filters: "Filter | None",
    varied: "Diversity",
) -> "SearchCallable":
    """Search, then leave out what no longer stands and what the model has no room for."""
    from groundkit_core.retrieval.legs import Fusion
    from groundkit_core.retrieval.retriever import Retriever
    from groundkit_providers.budget import within_budget

    fusion = Fusion(min_similarity=min_similarity)
    retriever = Retriever(collection, verify=True, fusion=fusion, diversity=varied)

    async def search(
        query: str, *, top_k: int | None = None, mode: "SearchMode" = searched
    ) -> "SearchResponse":
        with steps.step("search"):
            response = await retriever.search(query, top_k=top_k, mode=mode, filters=filters)
            fitting, dropped = within_budget(response, tokens)
        if said := dropped.note(len(fitting.results)):
            note(said)
        return fitting

    return search


def _fixed_tokens(query: str, reply_tokens: int) -> int:
    from groundkit_providers.budget import estimate_tokens
    from groundkit_providers.synthesis import DEFAULT_SYNTHESIS_TEMPLATE, SYNTHESIS_SYSTEM

    texts = (SYNTHESIS_SYSTEM, DEFAULT_SYNTHESIS_TEMPLATE, query)
    return reply_tokens + sum(map(estimate_tokens, texts))


def _dry_run(
    model_chat: Any, search: "SearchCallable", query: str, top_k: int | None, json: bool
) -> None:
    import asyncio
    import json as json_format

    from groundkit_core.errors import SynthesisError
    from groundkit_providers.synthesis import SYNTHESIS_SYSTEM, Synthesizer

    from groundkit_cli.documents import DryRun

    response = asyncio.run(_searched(search, query, top_k))
    if not response.results:
        raise SynthesisError("there is no passage to answer from, so nothing would be sent")
    prompt = Synthesizer(model_chat).prompt(query, response.results)
    request = model_chat.request(prompt, system=SYNTHESIS_SYSTEM)
    planned = DryRun(**request.model_dump())
    if json:
        emit_json(planned)
        return
    emit(f"POST {in_line(planned.url)}")
    emit(printable(json_format.dumps(planned.body, indent=2, ensure_ascii=False)))
    note(f"about {planned.estimated_tokens} tokens; nothing was sent")


async def _searched(search: "SearchCallable", query: str, top_k: int | None) -> "SearchResponse":
    return await search(query, top_k=top_k)


def show(report: "AnswerReport") -> None:
    """The answer with its markers, then what each marker cites."""
    from groundkit_providers.markers import cited_numbers

    # Indented, so that no line of the model passes for one of ours.
    for line in printable(report.answer.strip()).split("\n"):
        emit(f"  {line}".rstrip())
    for number in cited_numbers(report.answer, len(report.results)):
        emit()
        _show_cited(number, report.results[number - 1])
    if report.verdict:
        _show_verdict(report.verdict)
    if report.rewritten_query is not None:
        note(f"searched for: {in_line(report.rewritten_query)}")
    if not report.citations:
        note("the model abstained: its answer cites none of the passages")


def _show_cited(number: int, result: "RetrievalResult") -> None:
    citation, verdict = result.citation, result.verification
    status = verdict.status if verdict else "not verified"
    heading = " › ".join(citation.heading_path)
    where = place(citation, verdict)
    emit(f"[{number}] {in_line(where)}  {in_line(heading)}".rstrip() + f"  [{status}]")
    for line in printable(result.content).split("\n"):
        emit(f"    {line}".rstrip())


def _show_verdict(verdict: "FaithfulnessVerdict") -> None:
    opinion = "faithful" if verdict.faithful else "not faithful"
    emit()
    emit(f"judge (a second opinion, not calibrated): {opinion}. {in_line(verdict.reasoning)}")
    for claim in verdict.unsupported_claims:
        emit(f"    unsupported: {in_line(claim)}")
