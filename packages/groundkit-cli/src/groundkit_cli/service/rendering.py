"""Responses as text, for the model that reads them."""

from groundkit_core.contracts import (
    Citation,
    Contract,
    Passage,
    PassageWindow,
    RetrievalResult,
    SearchResponse,
    Verification,
)

__all__ = ["render", "render_passage", "render_result"]


def render(response: Contract) -> str:
    """The response as text."""
    if isinstance(response, SearchResponse):
        parts = [_search_head(response), *map(render_result, response.results)]
        return "\n\n".join([*parts, *_more("results", response.next_cursor)])
    if isinstance(response, PassageWindow):
        parts = [_window_head(response), *map(render_passage, response.passages)]
        return "\n\n".join([*parts, *_more("passages", response.next_cursor)])
    return response.model_dump_json(exclude_none=True)


def render_result(result: RetrievalResult) -> str:
    """One result: where it stands, whether it was found there, and its text."""
    title = f"{result.title} | " if result.title else ""
    status = f" | {result.verification.status}" if result.verification else ""
    copies = f" | {len(result.copies)} more copies" if result.copies else ""
    return (
        f"[{result.rank}] {title}{_place(result.citation, result.verification)}{status}{copies}\n"
        f"{_address(result.citation)}\n{result.content}{_cut(result.cut)}"
    )


def render_passage(passage: Passage) -> str:
    """One passage of a document."""
    return f"{_address(passage.citation)}\n{passage.content}{_cut(passage.cut)}"


def _search_head(response: SearchResponse) -> str:
    count = len(response.results)
    found = f"{count} passages" if count != 1 else "1 passage"
    return f"{found} of {response.collection}, generation {response.generation}"


def _window_head(window: PassageWindow) -> str:
    cited, verdict = window.passages[window.at], window.verification
    said = f" | {verdict.status}: {verdict.reason}" if verdict else ""
    title = f"{window.title} | " if window.title else ""
    left_out = f"{window.before} passages before these, {window.after} after them"
    return f"{title}{_place(cited.citation, verdict)}{said}\n{left_out}"


def _place(citation: Citation, verdict: Verification | None) -> str:
    pages = (verdict.pages if verdict else None) or citation.pages
    lines = (verdict.lines if verdict else None) or citation.lines
    place = citation.source
    if pages:
        place += f", pages {pages[0]}-{pages[1]}"
    elif lines:
        place += f", lines {lines[0]}-{lines[1]}"
    return " > ".join([place, *citation.heading_path])


def _address(citation: Citation) -> str:
    return f"chunk_id {citation.chunk_id}, characters {citation.start}-{citation.end}"


def _cut(cut: bool) -> str:
    return "\n(cut here)" if cut else ""


def _more(what: str, cursor: str | None) -> list[str]:
    return [f"There are more {what}: repeat the call with cursor {cursor}"] if cursor else []
