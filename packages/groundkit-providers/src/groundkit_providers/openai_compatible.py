"""The chat API that OpenAI, many clouds and most local servers speak."""

import os
from typing import Literal

from groundkit_core.errors import ChatError, ChatProviderNotConfiguredError, ConfigurationError

from groundkit_providers.addresses import ANYWHERE, NOT_PUBLIC, PUBLIC_ONLY
from groundkit_providers.budget import estimate_tokens
from groundkit_providers.config import DEFAULT_API_KEY_ENV
from groundkit_providers.endpoint import HttpChat, Request
from groundkit_providers.http import Reply
from groundkit_providers.replies import TRUNCATED, FromServer, answer_text, parsed

__all__ = ["OpenAICompatChat"]


class OpenAICompatChat(HttpChat):
    """A model behind the OpenAI-compatible chat API of a cloud or of a server of your own."""

    _provider = "openai_compatible"

    def __init__(
        self,
        *,
        model_name: str,
        base_url: str,
        api_key_env: str | None = DEFAULT_API_KEY_ENV,
        temperature: float = 0.0,
        max_output_tokens: int = 1024,
        timeout_seconds: float = 60.0,
        allow_private_endpoint: bool = False,
        token_limit_param: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        send_temperature: bool = True,
    ) -> None:
        if api_key_env is None and not allow_private_endpoint:
            raise ConfigurationError(
                "api_key_env: going without a key is for private endpoints only "
                "(allow_private_endpoint, --chat-allow-private-endpoint)"
            )
        private = ANYWHERE if api_key_env is not None else NOT_PUBLIC
        super().__init__(
            model_name=model_name,
            base_url=base_url,
            temperature=temperature,
            max_output_tokens=max_output_tokens,
            timeout_seconds=timeout_seconds,
            reach=private if allow_private_endpoint else PUBLIC_ONLY,
        )
        self._base_url = self._base_url.removesuffix("/v1").rstrip("/")
        self._api_key_env = api_key_env
        self._token_limit_param = token_limit_param
        self._send_temperature = send_temperature

    async def complete(self, prompt: str, *, system: str | None = None) -> str:
        """The model's reply; `ChatError` unless it is whole."""
        request = self.request(prompt, system=system)
        reply = await self._post(request, [prompt, system or ""], self._key())
        found = parsed(_OpenAIReply, reply, self._said("sent a reply of another shape", reply))
        choice = found.choices[0] if found.choices else None
        if choice is None:
            raise ChatError(self._said("sent no answer text", reply))
        if choice.finish_reason in ("length", "max_tokens"):
            raise ChatError(self._said(f"{TRUNCATED} ({self._max_output_tokens} tokens)"))
        if choice.finish_reason in ("content_filter", "tool_calls", "function_call", "error"):
            raise ChatError(self._said(f"ended with {choice.finish_reason} instead of an answer"))
        message = choice.message
        reasoned = bool(message.reasoning_content or message.reasoning)
        return answer_text(message.content, reasoned, self._said(""))

    def request(self, prompt: str, *, system: str | None = None) -> Request:
        """What `complete` would send, besides the key."""
        messages = [{"role": "user", "content": prompt}]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        body: dict[str, object] = {"model": self._model_name, "messages": messages}
        if self._send_temperature:
            body["temperature"] = self._temperature
        body |= {self._token_limit_param: self._max_output_tokens, "stream": False}
        tokens = estimate_tokens(prompt) + estimate_tokens(system or "")
        return Request(
            url=f"{self._base_url}/v1/chat/completions", body=body, estimated_tokens=tokens
        )

    def _key(self) -> str | None:
        name = self._api_key_env
        if name is None:
            return None
        key = os.environ.get(name, "")
        problem = ""
        if not key:
            if self._on_loopback:
                return None
            problem = f"{name} is not set; it must hold the key for {self._base_url}"
        elif not (key.isascii() and key.isprintable()) or " " in key:
            problem = f"the key in {name} holds characters that no key has"
        elif not (self._on_loopback or self._base_url.lower().startswith("https://")):
            problem = f"the key in {name} is not sent over plain HTTP to {self._base_url}"
        if problem and self._reach >= NOT_PUBLIC:
            problem += "; an empty api_key_env (--chat-api-key-env '') sends none"
        if problem:
            raise ChatProviderNotConfiguredError(problem)
        return key

    def _refusal(self, reply: Reply) -> ChatError:
        if reply.status in (401, 403):
            key = f"the key in {self._api_key_env}" if self._api_key_env else "a call without key"
            return ChatProviderNotConfiguredError(
                self._said(f"refused {key} ({reply.status})", reply)
            )
        if reply.status == 404:
            return ChatError(self._said("answered 404 (is the model's name right?)", reply))
        return super()._refusal(reply)


class _OpenAIMessage(FromServer):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _OpenAIChoice(FromServer):
    message: _OpenAIMessage
    finish_reason: str | None = None


class _OpenAIReply(FromServer):
    choices: list[_OpenAIChoice]
