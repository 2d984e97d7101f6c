"""What every model behind HTTP shares: its endpoint, the guard and the common refusals."""

import re
from collections.abc import Mapping, Sequence, Set
from typing import ClassVar, NamedTuple

from groundkit_core.contracts import Contract
from groundkit_core.errors import (
    ChatError,
    ChatProviderNotConfiguredError,
    EmbeddingError,
    EmbeddingProviderNotConfiguredError,
    GroundkitError,
)

from groundkit_providers.addresses import LOOPBACK_ONLY, AddressClass, is_loopback
from groundkit_providers.http import MAX_REPLY_BYTES, Reply, validate_endpoint_shape
from groundkit_providers.post import post_json

__all__ = ["CHAT", "EMBEDDING", "Boundary", "HttpChat", "HttpModel", "Request"]


_UNSUPPORTED = re.compile(
    "unsupported|not support|instead|unrecogni|unknown|unexpected|extra|not permitted|not allowed"
)


class Boundary(NamedTuple):
    """How the flags of chat, or of embeddings, begin, and which errors they raise."""

    flags: str
    error: type[GroundkitError]
    not_configured: type[GroundkitError]


CHAT = Boundary("--chat", ChatError, ChatProviderNotConfiguredError)
EMBEDDING = Boundary("--embed", EmbeddingError, EmbeddingProviderNotConfiguredError)


class Request(Contract):
    """One request as it would be sent; the key is no part of it."""

    url: str
    body: dict[str, object]
    estimated_tokens: int


class HttpModel:
    """A model at a base URL."""

    # Whether loopback may be reached without anybody's permission.
    _allow_private_endpoint: ClassVar[bool] = False
    _provider: ClassVar[str]
    _boundary: ClassVar[Boundary]

    def __init__(
        self, *, model_name: str, base_url: str, timeout_seconds: float, reach: Set[AddressClass]
    ) -> None:
        at_all = reach | LOOPBACK_ONLY if self._allow_private_endpoint else reach
        host = validate_endpoint_shape(base_url, reach=at_all, flags=self._boundary.flags)
        self._on_loopback = is_loopback(host)
        # A `localhost` that leads elsewhere must not be reached by what may stay unredacted.
        self._reach = LOOPBACK_ONLY if self._on_loopback else reach
        self._base_url = base_url.rstrip("/")
        self._model_name = model_name
        self._timeout_seconds = timeout_seconds

    @property
    def provider(self) -> str:
        """Name of the protocol spoken."""
        return self._provider

    @property
    def model_name(self) -> str:
        """Name of the model that answers."""
        return self._model_name

    async def _exchange(
        self,
        url: str,
        body: Mapping[str, object],
        confidential: Sequence[str],
        limit: int = MAX_REPLY_BYTES,
    ) -> Reply:
        return await post_json(
            url,
            body,
            reach=self._reach,
            deadline=self._timeout_seconds,
            error=self._boundary.error,
            key=self._key(),
            confidential=confidential,
            limit=limit,
            flags=self._boundary.flags,
        )

    def _key(self) -> str | None:
        return None

    def _refusal(self, reply: Reply) -> GroundkitError:
        return self._boundary.error(self._said(f"answered {reply.status}", reply))

    def _said(self, what: str, reply: Reply | None = None) -> str:
        words = f": {reply.words}" if reply and reply.words else ""
        return f"{self._provider} model {self._model_name} at {self._base_url} {what}{words}"


class HttpChat(HttpModel):
    """A model at a base URL that answers prompts."""

    _boundary = CHAT

    async def _post(self, request: Request, confidential: Sequence[str]) -> Reply:
        reply = await self._exchange(request.url, request.body, confidential)
        if reply.status != 200:
            raise self._refusal(reply)
        return reply

    def _refusal(self, reply: Reply) -> GroundkitError:
        words = reply.words.lower()
        if reply.status == 400 and _UNSUPPORTED.search(words):
            said = self._said("answered 400", reply)
            if "max_tokens" in words or "max_completion_tokens" in words:
                option = "; set token_limit_param (--chat-token-limit-param) to the other one"
                return ChatError(said + option)
            if "temperature" in words:
                option = "; send_temperature = false (--chat-no-temperature) leaves it out"
                return ChatError(said + option)
        return super()._refusal(reply)
