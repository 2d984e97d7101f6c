"""What the two HTTP providers share: the endpoint, the guard and the common refusals."""

import re
from collections.abc import Sequence, Set
from typing import ClassVar

from groundkit_core.contracts import Contract
from groundkit_core.errors import ChatError

from groundkit_providers.addresses import (
    LOOPBACK_ONLY,
    AddressClass,
    is_loopback,
)
from groundkit_providers.http import Reply, post_json, validate_endpoint_shape

__all__ = ["HttpChat", "Request"]


_UNSUPPORTED = re.compile(
    "unsupported|not support|instead|unrecogni|unknown|unexpected|extra|not permitted|not allowed"
)


class Request(Contract):
    """One request as it would be sent; the key is no part of it."""

    url: str
    body: dict[str, object]
    estimated_tokens: int


class HttpChat:
    """A model at a base URL."""

    # Whether loopback may be reached without anybody's permission.
    _allow_private_endpoint: ClassVar[bool] = False
    _provider: ClassVar[str]

    def __init__(
        self,
        *,
        model_name: str,
        base_url: str,
        temperature: float,
        max_output_tokens: int,
        timeout_seconds: float,
        reach: Set[AddressClass],
    ) -> None:
        at_all = reach | LOOPBACK_ONLY if self._allow_private_endpoint else reach
        self._on_loopback = is_loopback(validate_endpoint_shape(base_url, reach=at_all))
        # A `localhost` that leads elsewhere must not be reached by what may stay unredacted.
        self._reach = LOOPBACK_ONLY if self._on_loopback else reach
        self._base_url = base_url.rstrip("/")
        self._model_name = model_name
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens
        self._timeout_seconds = timeout_seconds

    @property
    def provider(self) -> str:
        """Name of the protocol spoken."""
        return self._provider

    @property
    def model_name(self) -> str:
        """Name of the model that answers."""
        return self._model_name

    async def _post(
        self, request: Request, confidential: Sequence[str], key: str | None = None
    ) -> Reply:
        reply = await post_json(
            request.url,
            request.body,
            reach=self._reach,
            deadline=self._timeout_seconds,
            error=ChatError,
            key=key,
            confidential=confidential,
        )
        if reply.status != 200:
            raise self._refusal(reply)
        return reply

    def _refusal(self, reply: Reply) -> ChatError:
        said = self._said(f"answered {reply.status}", reply)
        words = reply.words.lower()
        if reply.status == 400 and _UNSUPPORTED.search(words):
            if "max_tokens" in words or "max_completion_tokens" in words:
                said += "; set token_limit_param (--chat-token-limit-param) to the other one"
            elif "temperature" in words:
                said += "; send_temperature = false (--chat-no-temperature) leaves it out"
        return ChatError(said)

    def _said(self, what: str, reply: Reply | None = None) -> str:
        words = f": {reply.words}" if reply and reply.words else ""
        return f"{self._provider} model {self._model_name} at {self._base_url} {what}{words}"
