"""How much source text a prompt may hold."""

import re
from bisect import bisect_right
from dataclasses import dataclass

from groundkit_core.contracts import RetrievalResult, SearchResponse

from groundkit_providers.framing import framed

__all__ = ["Dropped", "estimate_tokens", "within_budget"]

# Not in keys and hashes, where tokenizers need a token for nearly every character.
_PLAIN = re.compile(r"(?<![0-9A-Za-z])[A-Za-z][a-z]{1,19}(?![0-9A-Za-z])| ")
_GONE = ("drifted", "unresolvable")


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many results were left out, by reason."""

    gone: int = 0
    over_budget: int = 0

    def note(self, kept: int) -> str | None:
        """What to tell the user, given how many results are left; None when all are."""
        said: list[str] = []
        if self.gone:
            said.append(f"{self.gone} no longer as indexed in the source")
        if self.over_budget and not kept:
            said.append(f"{self.over_budget} over the context budget, the first one alone too long")
        elif self.over_budget:
            said.append(f"{self.over_budget} over the context budget")
        return f"passages left out: {'; '.join(said)}" if said else None


def estimate_tokens(text: str) -> int:
    """Tokens that a text takes, estimated high.

    Spaces and the letters of plain words (2 to 20 ASCII letters, in lower case after the first)
    count half a token each, every other ASCII character one, every other character as many as
    its UTF-8 bytes.
    """
    halves = sum(map(len, _PLAIN.findall(text)))
    return len(text.encode("utf-8", "surrogatepass")) - halves // 2


def within_budget(
    response: SearchResponse, tokens: int, *, overhead: int = 0
) -> tuple[SearchResponse, Dropped]:
    """The response with the results that can be shown: source n is `results[n - 1]`.

    Results whose passage no longer stands are left out first, then whole results from the end
    until the framed sources take at most `tokens - overhead`. `rank` stays that of the search.
    """
    standing = [result for result in response.results if not _gone(result)]
    contents = [result.content for result in standing]
    kept = bisect_right(
        range(1, len(contents) + 1),
        tokens - overhead,
        key=lambda count: estimate_tokens(framed(contents[:count])),
    )
    dropped = Dropped(len(response.results) - len(standing), len(standing) - kept)
    return response.model_copy(update={"results": tuple(standing[:kept])}), dropped


def _gone(result: RetrievalResult) -> bool:
    return result.verification is not None and result.verification.status in _GONE
