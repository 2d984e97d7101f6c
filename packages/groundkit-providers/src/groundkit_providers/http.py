"""The only way out of this machine: one guarded request and its response.

This module alone imports httpx.
"""

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpx
from groundkit_core.errors import ConfigurationError, GroundkitError

from groundkit_providers.addresses import (
    PUBLIC_ONLY,
    AddressClass,
    address_class,
    is_loopback,
    literal_problem,
    refusal,
)
from groundkit_providers.scrub import scrubbed

__all__ = [
    "MAX_REPLY_BYTES",
    "Exchange",
    "Reply",
    "Response",
    "canonical_url",
    "endpoint_permission",
    "ensure_safe_endpoint",
    "resolve_host",
    "validate_endpoint_shape",
]

MAX_REPLY_BYTES = 8 * 1024 * 1024
MAX_CONNECT = 5.0  # seconds for an address while there is another one to try

_T = TypeVar("_T")


class Reply(NamedTuple):
    """A server's whole reply; `words` is its own error message, scrubbed and cut short."""

    status: int
    body: bytes
    words: str


class Response(NamedTuple):
    """A response whose body is still to be read; `location` is where a redirect leads."""

    status: int
    headers: Mapping[str, str]  # by names in lower case
    location: str | None
    blocks: AsyncIterator[bytes]


class _ProxyError(Exception):
    """The environment names a proxy that is of no use."""


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
        problem = literal_problem(host, reach, endpoint_permission(flags))
    if problem:
        raise ConfigurationError(f"base_url{shown}: {problem}")
    return host


def endpoint_permission(flags: str = "--chat") -> str:
    """How an operator permits an endpoint that is not public."""
    return (
        f"the operator may permit it with allow_private_endpoint ({flags}-allow-private-endpoint)"
    )


def canonical_url(url: str) -> str | None:
    """The URL in its one written form, in ASCII and without its fragment; None if it is none."""
    try:
        parsed = httpx.URL(url)
        found = str(parsed.copy_with(raw_path=parsed.raw_path, fragment=None))
        # Without a host, a path that begins with `//` would be read as one the next time.
        return found if httpx.URL(found).host == parsed.host else None
    except (httpx.InvalidURL, ValueError):
        return None


async def ensure_safe_endpoint(
    url: str,
    *,
    reach: Set[AddressClass],
    error: type[GroundkitError],
    permission: str = "it is not permitted",
    shown: str = "",
) -> list[str]:
    """The addresses of a URL's host, each of them within reach; else raises `error`.

    The error begins with `shown`, by default the URL's origin.
    """
    parsed = httpx.URL(url)
    problem, addresses = "", list[str]()
    try:
        addresses = await resolve_host(parsed.host, parsed.port or _default_port(parsed))
    except OSError as failure:
        problem = f"its name does not resolve: {failure.strerror or failure}"
    for address in addresses:
        if (found := address_class(address)) not in reach:
            problem = f"it is at {address}, {refusal(found, reach, permission)}"
    if problem or not addresses:
        raise error(f"{shown or _origin(parsed)}: {problem or 'its name has no address'}")
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


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One guarded request, and what no message about it may hold.

    Errors are of the type `error` and begin with `shown`, by default the URL's origin.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    reach: Set[AddressClass]
    error: type[GroundkitError]
    permission: str
    shown: str = ""
    secrets: list[str] = field(default_factory=list)
    confidential: Sequence[str] = ()

    async def send(self, read: Callable[[Response], Awaitable[_T]]) -> _T:
        """What `read` makes of the response; redirects are not followed, nothing is sent twice."""
        url, problem = httpx.URL(self.url), ""
        try:
            # Through a proxy no address can be checked, so it is no way to what must not be public.
            proxy = _proxy(url) if "public" in self.reach else None
            self.secrets += [proxy.raw_auth[1].decode()] if proxy and proxy.raw_auth else []
            # The address that was checked is the one connected to: a name may resolve to another
            # one a moment later.
            places = [url] if proxy else [url.copy_with(host=at) for at in await self._addresses()]
            async with httpx.AsyncClient(
                verify=_tls(url),
                proxy=proxy,
                trust_env=False,
                follow_redirects=False,
                event_hooks={"response": [_set_location_aside]},
            ) as client:
                return await _sent(client, self, url, places, read)
        except httpx.ConnectError as failure:
            problem = f"cannot connect: {_words(failure)}" + _if_local(url)
        except (httpx.HTTPError, OSError, ImportError, _ProxyError) as failure:
            problem = _words(failure)
        raise self.failed(problem)

    def failed(self, problem: str) -> GroundkitError:
        """The error that says so, to be raised."""
        return self.error(f"{self.shown or _origin(httpx.URL(self.url))}: {self.scrubbed(problem)}")

    def scrubbed(self, text: str) -> str:
        """Words of a server, without secrets and without text of ours."""
        return scrubbed(text, self.secrets, self.confidential)

    async def _addresses(self) -> list[str]:
        return await ensure_safe_endpoint(
            self.url,
            reach=self.reach,
            error=self.error,
            permission=self.permission,
            shown=self.shown,
        )


async def _sent(
    client: httpx.AsyncClient,
    exchange: Exchange,
    url: httpx.URL,
    places: list[httpx.URL],
    read: Callable[[Response], Awaitable[_T]],
) -> _T:
    def request(place: httpx.URL, connect: float | None = None) -> httpx.Request:
        return client.build_request(
            exchange.method,
            place,
            headers={"Host": url.netloc.decode("ascii"), **exchange.headers},
            content=exchange.content,
            timeout=httpx.Timeout(None, connect=connect),
            extensions={"sni_hostname": url.raw_host.decode("ascii")},
        )

    *others, last = places
    for place in others:
        # The next place is tried only where nothing was sent yet.
        with suppress(httpx.ConnectError, httpx.ConnectTimeout):
            return await _exchanged(client, request(place, MAX_CONNECT), read)
    return await _exchanged(client, request(last), read)


async def _exchanged(
    client: httpx.AsyncClient,
    request: httpx.Request,
    read: Callable[[Response], Awaitable[_T]],
) -> _T:
    opened: list[Any] = []

    async def remember(event: str, info: dict[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            opened.append(info["return_value"])

    request.extensions["trace"] = remember
    try:
        response = await client.send(request, stream=True)
    except BaseException:
        # A TLS handshake that is cancelled leaves its connection open.
        for stream in opened:
            await stream.aclose()
        raise
    try:
        headers, location = dict(response.headers.items()), response.extensions.get("location")
        return await read(Response(response.status_code, headers, location, response.aiter_raw()))
    finally:
        await response.aclose()


async def _set_location_aside(response: httpx.Response) -> None:
    # The client reads it also where it follows no redirect, and fails where it is no URL.
    if response.has_redirect_location:
        response.extensions["location"] = response.headers.pop("Location")


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


def _tls(url: httpx.URL) -> ssl.SSLContext:
    secure = url.scheme == "https"
    return httpx.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


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
    raise _ProxyError("the proxy that the environment names is no URL of a known kind")
