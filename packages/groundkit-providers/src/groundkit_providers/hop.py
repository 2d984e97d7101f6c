"""One hop to a document: whether it may be taken, and what is there."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from urllib.parse import unquote, urljoin, urlsplit

from groundkit_core.errors import ConfigurationError, RefusedError, SourceError
from groundkit_core.loading.snapshot import Snapshot

from groundkit_providers.addresses import ANYWHERE, PUBLIC_ONLY, literal_problem
from groundkit_providers.body import Body
from groundkit_providers.http import Exchange, Response
from groundkit_providers.media_types import ACCEPT, charset, document_type, media_type
from groundkit_providers.urls import check_url, host_key, is_allowed, shown

__all__ = ["Rules", "hop", "target"]

_SECRET = 8  # characters; shorter values would be found by chance in other words


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be fetched, how much of it, and how long that may take."""

    allowed: frozenset[tuple[str, int | None]]
    deadline: float
    limit: int


async def hop(asked: str, at: str, rules: Rules) -> Snapshot | str:
    """What is at `at`, on the way from `asked`: the document, or where a redirect leads."""
    reach = ANYWHERE if is_allowed(at, rules.allowed) else PUBLIC_ONLY
    permission = f"--allow-host {host_key(at)} permits it"
    # An address is judged also where a proxy would be the one to connect to it.
    if problem := literal_problem(urlsplit(at).hostname or "", reach, permission):
        raise SourceError(f"{shown(at)}: {problem}")
    exchange = Exchange(
        method="GET",
        url=at,
        headers={
            "Accept": ACCEPT,
            "Accept-Encoding": "identity",
            "User-Agent": _user_agent(),
        },
        reach=reach,
        error=SourceError,
        permission=permission,
        shown=shown(at),
        secrets=_secrets(urlsplit(at).query),
    )
    return await exchange.send(partial(_read, asked, at, rules))


def target(at: str, location: str) -> str:
    """Where a redirect leads, if it may be followed."""
    problem = ""
    try:
        found = check_url(urljoin(at, location))
    except ConfigurationError as refused:
        problem = str(refused)
    except ValueError:
        problem = "it is no URL"
    if not problem and at.startswith("https:") and found.startswith("http:"):
        problem = f"{shown(found)}: a redirect from https to http is not followed"
    if problem:
        raise SourceError(problem)
    return found


async def _read(asked: str, at: str, rules: Rules, response: Response) -> Snapshot | str:
    if response.location is not None:
        return response.location
    if response.status != 200:
        raise SourceError(f"{shown(at)}: it answered {response.status}")
    said = response.headers.get("content-type", "")
    found = document_type(said, (at, asked))
    if found is None:
        named = media_type(said) or "not named"
        raise RefusedError(f"{shown(at)}: its media type is {named}, which has no reader")
    body = await _body(response, at, rules.limit)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Snapshot(asked, at, found, charset(said), body, now)


async def _body(response: Response, at: str, limit: int) -> bytes:
    if int(response.headers.get("content-length", 0)) > limit:
        raise RefusedError(f"{shown(at)}: larger than {limit} bytes")
    body = Body(shown(at), response.headers.get("content-encoding", ""), limit)
    async for block in response.blocks:
        body.add(block)
    return body.whole()


def _secrets(query: str) -> list[str]:
    """What of a query may be a secret that a server's reply repeats."""
    return [unquote(part) for part in re.split("[&=]", query) if len(part) >= _SECRET]


@cache
def _user_agent() -> str:
    return f"groundkit/{version('groundkit-providers')}"
