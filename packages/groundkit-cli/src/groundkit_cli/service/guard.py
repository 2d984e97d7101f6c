"""What every HTTP request passes first: its id, host, origin, token and size."""

import asyncio
import hmac
import logging
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from groundkit_core.errors import ConfigurationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundkit_cli.service.errors import ServiceError
from groundkit_cli.service.logs import event
from groundkit_cli.service.runtime import new_request_id

__all__ = ["LOCAL_NAMES", "Access", "Guard", "failed"]

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
"""Names by which a browser on this machine reaches it; any other may be a rebound one."""

_WRITTEN = r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)"
_NAME = re.compile(_WRITTEN)
_HOST = re.compile(rf"{_WRITTEN}(?::\d+)?")
_ORIGIN = re.compile(rf"https?://{_WRITTEN}(?::\d+)?")
_DIGITS = 15
_OPEN = ("/healthz", "/readyz")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": _POLICY,
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask: names of this server, origins of pages elsewhere, and a token if one is set."""

    hosts: frozenset[str] = frozenset(LOCAL_NAMES)
    origins: frozenset[str] = frozenset()
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, hosts: Collection[str], origins: Collection[str], token: str | None) -> "Access":
        """With the names of this machine; names compare in lower case."""
        for host in hosts:
            if not _NAME.fullmatch(host.lower()):
                raise ConfigurationError(
                    f"--allowed-host {host}: it must be a name alone, as kb.example or [::1]"
                )
        for origin in origins:
            if not _ORIGIN.fullmatch(origin.lower().rstrip("/")):
                raise ConfigurationError(
                    f"--allowed-origin {origin}: it must be as in https://app.example:8443"
                )
        return cls(
            frozenset([*LOCAL_NAMES, *(host.lower() for host in hosts)]),
            frozenset(origin.lower().rstrip("/") for origin in origins),
            token,
        )

    def check(self, headers: Headers, *, needs_token: bool) -> None:
        """Refuse a request that does not belong here."""
        host = _HOST.fullmatch(headers.get("host", "").lower())
        if len(headers.getlist("host")) != 1 or host is None or host[1] not in self.hosts:
            raise ServiceError(
                "unknown_host", "this server does not go by that name; --allowed-host adds names"
            )
        for origin in headers.getlist("origin"):
            if not self._from_here(origin.lower()):
                raise ServiceError(
                    "forbidden_origin", "pages of that origin may not ask; see --allowed-origin"
                )
        if needs_token and self.token is not None and not self._holds(headers):
            raise ServiceError("unauthorized", "send the token: Authorization: Bearer TOKEN")

    def _from_here(self, origin: str) -> bool:
        match = _ORIGIN.fullmatch(origin)
        return origin in self.origins or (match is not None and match[1] in self.hosts)

    def _holds(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        wanted = (self.token or "").encode()
        return scheme.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode("latin-1", "replace"), wanted
        )


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, *, access: Access, max_bytes: int, seconds: float) -> None:
        self._app = app
        self._access = access
        self._max_bytes = max_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its whole body, or answer in its place."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = new_request_id()
        scope.setdefault("state", {})["request_id"] = request_id

        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = request_id
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._pass_on(scope, receive, answer)
        except ServiceError as error:
            await _refused(error, request_id)(scope, receive, answer)
        except asyncio.CancelledError:
            if begun:
                raise
            stopping = ServiceError("overloaded", "the server is stopping")
            await _refused(stopping, request_id)(scope, receive, answer)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._access.check(headers, needs_token=_needs_token(scope["path"]))
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._body(headers, receive)
        except TimeoutError:
            message = "the request did not arrive in time"
            raise ServiceError("request_timeout", message) from None
        if body is not None:
            await self._app(scope, _replayed(body, receive), send)

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """The whole body; None if the client went away."""
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and (len(declared) > _DIGITS or int(declared) > self._max_bytes):
            raise self._too_large()
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self._max_bytes:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> ServiceError:
        return ServiceError("request_too_large", f"a request has at most {self._max_bytes} bytes")


def _needs_token(path: str) -> bool:
    """The page and its files hold no data; health checks have no token."""
    return path not in ("/", *_OPEN) and not path.startswith("/page/")


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _refused(error: ServiceError, request_id: str) -> JSONResponse:
    event(logging.WARNING, "refused", request_id=request_id, code=error.code)
    return failed(error, request_id)


def failed(error: ServiceError, request_id: str) -> JSONResponse:
    """The error as a response."""
    headers = {"unauthorized": {"www-authenticate": "Bearer"}, "overloaded": {"retry-after": "1"}}
    return JSONResponse(
        error.failure(request_id).model_dump(mode="json"),
        error.status,
        headers=headers.get(error.code),
    )
