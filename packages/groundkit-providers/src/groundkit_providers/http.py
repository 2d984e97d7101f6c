"""The only way out of this machine: one guarded request, one deadline, one reply.

This module alone imports httpx.
"""

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.request import getproxies, proxy_bypass

import httpx
from groundkit_core.errors import ConfigurationError, GroundkitError

from groundkit_providers.addresses import (
    PUBLIC_ONLY,
    AddressClass,
    address_class,
    is_loopback,
)
from groundkit_providers.scrub import error_words, scrubbed

__all__ = [
    "MAX_REPLY_BYTES",
    "Reply",
    "ensure_safe_endpoint",
    "post_json",
    "resolve_host",
    "validate_endpoint_shape",
]

MAX_REPLY_BYTES = 8 * 1024 * 1024
MAX_CONNECT = 5.0  # seconds for an address while there is another one to try


class Reply(NamedTuple):
    """A server's whole reply; `words` is its own error message, scrubbed and cut short."""

    status: int
    body: bytes
    words: str


class _RefusedError(Exception):
    """A reply, or an address, that is not to be used."""


def validate_endpoint_shape(
    url: str, *, reach: Set[AddressClass] = PUBLIC_ONLY, flags: str = "--chat"
) -> str:
    """The host of a base URL, once its form is right and a literal address may be reached.

    Raises `ConfigurationError`, which names the flag that gives permission by its first part.
    """
    host, shown, problem = "", "", ""
    try:
        parsed = httpx.URL(url)
        host, shown = parsed.host, f" {_origin(parsed)}"
        problem = _shape_problem(parsed)
    except (httpx.InvalidURL, ValueError, TypeError):
        problem = "it is no URL"
    if not problem:
        problem = _literal_problem(host, reach, flags)
    if problem:
        raise ConfigurationError(f"base_url{shown}: {problem}")
    return host


async def ensure_safe_endpoint(
    url: str, *, reach: Set[AddressClass], error: type[GroundkitError], flags: str = "--chat"
) -> list[str]:
    """The addresses of a URL's host, each of them within reach; else raises `error`."""
    parsed = httpx.URL(url)
    problem, addresses = "", list[str]()
    try:
        addresses = await resolve_host(parsed.host, parsed.port or _default_port(parsed))
    except OSError as failure:
        problem = f"its name does not resolve: {failure.strerror or failure}"
    for address in addresses:
        if (found := address_class(address)) not in reach:
            problem = f"it is at {address}, {_refusal(found, reach, flags)}"
    if problem or not addresses:
        raise error(f"{_origin(parsed)}: {problem or 'its name has no address'}")
    return addresses


async def resolve_host(host: str, port: int) -> list[str]:
    """The numeric addresses of a host, in the order in which they are to be tried."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[list[str]] = loop.create_future()

    def settle(addresses: list[str], failure: OSError | None) -> None:
        if outcome.done():
            return
        if failure:
            outcome.set_exception(failure)
        else:
            outcome.set_result(addresses)

    def look_up() -> None:
        addresses, failure = list[str](), None
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        except OSError as problem:
            failure = problem
        except UnicodeError:
            failure = OSError(None, "it is no host name")
        with suppress(RuntimeError):  # nobody waits any more: the loop is closed
            loop.call_soon_threadsafe(settle, addresses, failure)

    # Not the loop's executor: a look-up that hangs would hold up the end of the program.
    threading.Thread(target=look_up, daemon=True).start()
    return await outcome


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
    parsed = httpx.URL(url)
    secrets = [key or ""]
    headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    problem = ""
    try:
        content = json.dumps(body, ensure_ascii=False).encode()
        # Through a proxy no address can be checked, so it is no way to what must not be public.
        proxy = _proxy(parsed) if "public" in reach else None
        secrets += [proxy.raw_auth[1].decode()] if proxy and proxy.raw_auth else []
        async with asyncio.timeout(deadline):
            addresses = list[str]()
            if not proxy:
                addresses = await ensure_safe_endpoint(url, reach=reach, error=error, flags=flags)
            status, found = await _send(parsed, addresses, proxy, headers, content, limit)
        return Reply(status, found, scrubbed(error_words(status, found), secrets, confidential))
    except (TimeoutError, httpx.TimeoutException):
        problem = f"no complete reply within {deadline:g} s"
    except httpx.ConnectError as failure:
        problem = f"cannot connect: {_words(failure)}" + _if_local(parsed)
    except UnicodeEncodeError:
        problem = "the request holds characters that are no text (lone surrogates)"
    except (httpx.HTTPError, OSError, ImportError, _RefusedError) as failure:
        problem = _words(failure)
    raise error(f"{_origin(parsed)}: {scrubbed(problem, secrets, confidential)}")


async def _send(
    url: httpx.URL,
    addresses: list[str],
    proxy: httpx.Proxy | None,
    headers: dict[str, str],
    content: bytes,
    limit: int,
) -> tuple[int, bytes]:
    secure = url.scheme == "https"
    context = httpx.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    async with httpx.AsyncClient(
        verify=context, proxy=proxy, trust_env=False, follow_redirects=False
    ) as client:
        if proxy:
            return await _exchange(client, url, headers, content, {}, limit)
        # The address that was checked is the one connected to: a name may resolve to another
        # one a moment later. The next address is tried only where nothing was sent yet.
        headers = {"Host": url.netloc.decode("ascii"), **headers}
        name = {"sni_hostname": url.raw_host.decode("ascii")}
        *others, last = (url.copy_with(host=address) for address in addresses)
        for pinned in others:
            with suppress(httpx.ConnectError, httpx.ConnectTimeout):
                return await _exchange(client, pinned, headers, content, name, limit, MAX_CONNECT)
        return await _exchange(client, last, headers, content, name, limit)


async def _exchange(
    client: httpx.AsyncClient,
    url: httpx.URL,
    headers: dict[str, str],
    content: bytes,
    extensions: dict[str, str],
    limit: int,
    connect: float | None = None,
) -> tuple[int, bytes]:
    opened: list[Any] = []

    async def remember(event: str, info: dict[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            opened.append(info["return_value"])

    request = client.build_request(
        "POST",
        url,
        headers=headers,
        content=content,
        timeout=httpx.Timeout(None, connect=connect),
        extensions={**extensions, "trace": remember},
    )
    try:
        response = await client.send(request, stream=True)
    except BaseException:
        # A TLS handshake that is cancelled leaves its connection open.
        for stream in opened:
            await stream.aclose()
        raise
    try:
        if response.has_redirect_location:
            raise _RefusedError(
                f"it answers {response.status_code} and sends us elsewhere; redirects are not "
                "followed, so set base_url to the final address"
            )
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise _RefusedError("its reply is compressed, which was not asked for")
        body = bytearray()
        async for block in response.aiter_raw():
            body += block
            if len(body) > limit:
                raise _RefusedError(f"its reply is larger than {limit} bytes")
        return response.status_code, bytes(body)
    finally:
        await response.aclose()


def _shape_problem(url: httpx.URL) -> str:
    if url.scheme not in ("http", "https"):
        return "it must begin with http:// or https://"
    if not url.host:
        return "it names no host"
    if url.userinfo:
        return "it holds credentials; give the key in an environment variable"
    if "?" in str(url) or "#" in str(url):
        return "it must have no query and no fragment"
    if url.port is not None and not 0 < url.port < 65536:
        return f"there is no port {url.port}"
    return ""


def _literal_problem(host: str, reach: Set[AddressClass], flags: str) -> str:
    try:
        found = address_class(host)
    except ValueError:
        if not is_loopback(host):
            return ""  # a name: what it resolves to is checked at each request
        found = "loopback"
    return "" if found in reach else f"it is {_refusal(found, reach, flags)}"


def _refusal(found: AddressClass, reach: Set[AddressClass], flags: str) -> str:
    if found == "forbidden":
        return "an address that is never used (link-local or reserved)"
    if found == "public":
        return "a public address, where a key is needed (api_key_env)"
    if "public" not in reach:
        return f"a {found} address, although its name means this machine"
    return (
        f"a {found} address; the operator may permit it with allow_private_endpoint "
        f"({flags}-allow-private-endpoint)"
    )


def _words(failure: BaseException) -> str:
    """The first words in a chain of errors, for some of them have none of their own."""
    link: BaseException | None = failure
    while link is not None:
        if str(link):
            return str(link)
        link = link.__cause__ or link.__context__
    return type(failure).__name__


def _origin(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _default_port(url: httpx.URL) -> int:
    return 443 if url.scheme == "https" else 80


def _if_local(url: httpx.URL) -> str:
    return "; is the server running?" if is_loopback(url.host) else ""


def _proxy(url: httpx.URL) -> httpx.Proxy | None:
    if is_loopback(url.host) or proxy_bypass(url.netloc.decode("ascii")):
        return None
    found = getproxies()
    proxy = found.get(url.scheme) or found.get("all")
    if not proxy:
        return None
    try:
        known = httpx.Proxy(proxy if "://" in proxy else f"http://{proxy}")
        if known.url.port is None or 0 < known.url.port < 65536:
            return known
    except (httpx.InvalidURL, ValueError):
        pass
    raise _RefusedError("the proxy that the environment names is no URL of a known kind")
