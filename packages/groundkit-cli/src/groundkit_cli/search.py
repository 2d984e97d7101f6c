"""`grk search`."""

from typing import TYPE_CHECKING, Annotated

import typer

from groundkit_cli import embed_options as embed
from groundkit_cli.options import CollectionName, IndexDir, Json, Roots, parse_roots
from groundkit_cli.output import emit, emit_json, emphasised, in_line, linked, note, reported
from groundkit_cli.rerank_options import Rerank, RerankModel, reranker_for
from groundkit_cli.settings import load_settings, open_collection
from groundkit_cli.where import NearDuplicates, PerDocument, Where, diversity, parse_where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groundkit_core.contracts import Citation, RetrievalResult, Verification


RERANKED = 50
"""How many results a reranker looks at."""


@reported
def search(
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.")],
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", "-k", help="Number of results, 1 to 100. [default: 10]"),
    ] = None,
    all_copies: Annotated[
        bool, typer.Option("--all-copies", help="List passages with equal text one by one.")
    ] = False,
    where: Where = None,
    per_document: PerDocument = None,
    near_duplicates: NearDuplicates = None,
    mode: embed.Mode = None,
    min_similarity: embed.MinSimilarity = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show places in the rankings that were joined."),
    ] = False,
    rerank: Rerank = False,
    rerank_model: RerankModel = None,
    embed_provider: embed.Provider = None,
    embed_model: embed.Model = None,
    embed_base_url: embed.BaseUrl = None,
    embed_api_key_env: embed.ApiKeyEnv = None,
    embed_allow_private: embed.AllowPrivate = False,
    embed_timeout: embed.Timeout = None,
    index_dir: IndexDir = None,
    collection: CollectionName = None,
    root: Roots = None,
    json: Json = False,
) -> None:
    """Find passages, their citations verified."""
    from groundkit_core.config import DEFAULT_TOP_K
    from groundkit_core.retrieval.legs import Fusion
    from groundkit_core.retrieval.links import link_to

    query = " ".join(words)
    filters, varied = parse_where(where), diversity(per_document, near_duplicates)
    reranker = reranker_for(rerank, rerank_model)
    found = open_collection(index_dir, collection, parse_roots(root))
    searched = embed.searched_mode(
        load_settings().embed,
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
    k = DEFAULT_TOP_K if top_k is None else top_k
    response = found.search(
        query,
        top_k=k if reranker is None else max(k, RERANKED),
        mode=searched,
        verify=reranker is None,
        all_copies=all_copies,
        fusion=Fusion(min_similarity=min_similarity),
        filters=filters,
        diversity=varied,
    )
    if reranker is not None:
        from groundkit_core.retrieval.rerank import reranked

        response = found.verified(reranked(response, reranker, k))
    if json:
        emit_json(response)
        return
    spans = found.matches(query, [result.content for result in response.results])
    roots = found.roots()
    for result, matched in zip(response.results, spans, strict=True):
        link = link_to(result.citation, result.content, roots)
        show(result, matched, explain=explain, link=link)
    if not response.results:
        near = "holds a word of" if searched == "bm25" else "is near enough to"
        note(f"no passage {'that --where allows ' if filters else ''}{near} the query")


def place(citation: "Citation", verdict: "Verification | None" = None) -> str:
    """`path:first-last` or `path p.first-last`, by where the passage stands now."""
    pages = (verdict.pages if verdict else None) or citation.pages
    lines = (verdict.lines if verdict else None) or citation.lines
    if pages:
        return f"{citation.source} p.{_range(pages)}"
    return f"{citation.source}:{_range(lines)}" if lines else citation.source


def _range(ends: tuple[int, int]) -> str:
    first, last = ends
    return str(first) if first == last else f"{first}-{last}"


def show(
    result: "RetrievalResult",
    spans: list[tuple[int, int]],
    *,
    explain: bool = False,
    link: str | None = None,
) -> None:
    """One result: where it stands, what verification said, and the passage."""
    citation, verdict = result.citation, result.verification
    status = verdict.status if verdict else "not verified"
    heading = " › ".join(citation.heading_path)
    where = linked(in_line(place(citation, verdict)), link)
    emit(
        f"{result.rank}. {where}  {in_line(heading)}".rstrip()
        + f"  [{status}, score {_figures(result.score)}]"
    )
    if explain and result.components:
        parts = (
            f"{name} {part.rank} ({_figures(part.score)})"
            for name, part in sorted(result.components.items())
        )
        emit(f"   places: {', '.join(parts)}")
    if explain:
        emit(f"   id: {citation.chunk_id}")
    if verdict and status in ("drifted", "unresolvable"):
        emit(f"   {in_line(verdict.reason)}")
    for line in emphasised(result.content, spans).split("\n"):
        emit(f"   {line}".rstrip())
    _show_others("also", result.copies)
    _show_others("similar", result.similar)
    emit()


def _show_others(what: str, citations: "Sequence[Citation]") -> None:
    if citations:
        places = ", ".join(map(place, citations[:3]))
        more = len(citations) - 3
        emit(f"   {what}: {in_line(places)}" + (f" and {more} more" if more > 0 else ""))


def _figures(score: float) -> str:
    """Two places, and more for the small scores of a fusion."""
    return f"{score:.2f}" if abs(score) >= 0.1 else f"{score:.4f}"
