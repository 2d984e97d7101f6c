"""One request with a JSON body, one deadline, one reply."""

import asyncio
import json
from collections.abc import Mapping, Sequence, Set

from groundkit_core.errors import GroundkitError

from groundkit_providers.addresses import AddressClass
from groundkit_providers.http import (
    MAX_REPLY_BYTES,
    Exchange,
    Reply,
    Response,
    endpoint_permission,
)
from groundkit_providers.scrub import error_words

__all__ = ["post_json"]


async def post_json(
    url: str,
    body: Mapping[str, object],
    *,
    reach: Set[AddressClass],
    deadline: float,
    error: type[GroundkitError],
    key: str | None = None,
    confidential: Sequence[str] = (),
    limit: int = MAX_REPLY_BYTES,
    flags: str = "--chat",
) -> Reply:
    """Send one request and read its whole reply within `deadline` seconds, or raise `error`.

    Redirects are not followed, nothing is sent twice, a reply of more than `limit` bytes is
    refused, and what comes back as words of the server holds neither `key` nor text of
    `confidential`.
    """
    headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    exchange = Exchange(
        method="POST",
        url=url,
        headers=headers,
        reach=reach,
        error=error,
        permission=endpoint_permission(flags),
        secrets=[key or ""],
        confidential=confidential,
    )

    async def read(response: Response) -> Reply:
        found = await _whole(response, exchange, limit)
        words = exchange.scrubbed(error_words(response.status, found))
        return Reply(response.status, found, words)

    problem = ""
    try:
        exchange.content = json.dumps(body, ensure_ascii=False).encode()
        async with asyncio.timeout(deadline):
            return await exchange.send(read)
    except TimeoutError:
        problem = f"no complete reply within {deadline:g} s"
    except UnicodeEncodeError:
        problem = "the request holds characters that are no text (lone surrogates)"
    raise exchange.failed(problem)


async def _whole(response: Response, exchange: Exchange, limit: int) -> bytes:
    if response.location is not None:
        raise exchange.failed(
            f"it answers {response.status} and sends us elsewhere; redirects are not "
            "followed, so set base_url to the final address"
        )
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise exchange.failed("its reply is compressed, which was not asked for")
    body = bytearray()
    async for block in response.blocks:
        body += block
        if len(body) > limit:
            raise exchange.failed(f"its reply is larger than {limit} bytes")
    return bytes(body)
