"""Documents behind URLs, each hop to them guarded anew."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from itertools import islice

from groundkit_core.errors import ConfigurationError, SourceError
from groundkit_core.loading.snapshot import Snapshot

from groundkit_providers.hop import Rules, hop, target
from groundkit_providers.urls import allowed_hosts, check_url, host_key, read_url_list, shown

__all__ = ["MAX_BYTES", "check_url", "fetch", "fetch_all", "read_url_list"]

MAX_BYTES = 20 * 1024 * 1024
MAX_REDIRECTS = 5
_AHEAD = 4  # bodies that wait in memory, for each that is fetched at a time


async def fetch(
    url: str,
    *,
    allow_private: Collection[str] = (),
    deadline: float = 60.0,
    limit: int = MAX_BYTES,
) -> Snapshot:
    """The document at a URL, over at most five redirects and within `deadline` seconds in all.

    Only public addresses are reached, save by the hosts of `allow_private` (`HOST` or
    `HOST:PORT`). Raises `SourceError`, and `RefusedError` for a body that cannot be used.
    """
    rules = Rules(allowed_hosts(allow_private), deadline, limit)
    return await _fetched(check_url(url), rules, lambda _: nullcontext())


async def fetch_all(
    urls: Iterable[str],
    *,
    concurrency: int = 4,
    allow_private: Collection[str] = (),
    deadline: float = 60.0,
    limit: int = MAX_BYTES,
) -> AsyncIterator[tuple[str, Snapshot | SourceError]]:
    """Each URL with its document or the error instead, in the order given.

    No host gets two requests at a time. Nothing is under way while the caller has a result, so
    that it may take its time.
    """
    if concurrency < 1:
        raise ConfigurationError("concurrency: it must be at least 1")
    rules = Rules(allowed_hosts(allow_private), deadline, limit)
    turns = _Turns(concurrency)
    remaining = iter([check_url(url) for url in urls])
    while batch := list(islice(remaining, concurrency * _AHEAD)):
        for pair in zip(
            batch,
            await asyncio.gather(*(_outcome(url, rules, turns) for url in batch)),
            strict=True,
        ):
            yield pair


class _Turns:
    """Lets in a few requests at a time, and one to each host."""

    def __init__(self, concurrency: int) -> None:
        self._all = asyncio.Semaphore(concurrency)
        self._each: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def __call__(self, host: str) -> AsyncIterator[None]:
        async with self._each[host], self._all:
            yield


_Turn = Callable[[str], AbstractAsyncContextManager[None]]


async def _outcome(url: str, rules: Rules, turn: _Turn) -> Snapshot | SourceError:
    try:
        return await _fetched(url, rules, turn)
    except SourceError as failure:
        return failure


async def _fetched(asked: str, rules: Rules, turn: _Turn) -> Snapshot:
    at, location, left = asked, "", rules.deadline
    for number in range(1, MAX_REDIRECTS + 2):
        failure: SourceError | None = None
        try:
            if number > 1:
                at = target(at, location)
            async with turn(host_key(at)):
                began = time.monotonic()
                async with asyncio.timeout(left):
                    found = await hop(asked, at, rules)
                left -= time.monotonic() - began
        except TimeoutError:
            failure = SourceError(f"{shown(at)}: no complete reply within {rules.deadline:g} s")
        except SourceError as problem:
            failure = problem
        if failure is not None:
            where = f"{shown(asked)}: hop {number}: " if number > 1 else ""
            raise type(failure)(f"{where}{failure}")
        if isinstance(found, Snapshot):
            return found
        location = found
    raise SourceError(f"{shown(asked)}: more than {MAX_REDIRECTS} redirects")
