"""The chat API that OpenAI, many clouds and most local servers speak."""

from typing import Literal

from groundkit_core.errors import ChatReplyError

from groundkit_providers.budget import estimate_tokens
from groundkit_providers.config import DEFAULT_API_KEY_ENV
from groundkit_providers.endpoint import HttpChat, Request
from groundkit_providers.replies import TRUNCATED, FromServer, answer_text, parsed
from groundkit_providers.servers import OpenAICompatModel

__all__ = ["OpenAICompatChat"]


class OpenAICompatChat(HttpChat, OpenAICompatModel):
    """A model behind the OpenAI-compatible chat API of a cloud or of a server of your own."""

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
        super().__init__(
            model_name=model_name,
            base_url=base_url,
            api_key_env=api_key_env,
            timeout_seconds=timeout_seconds,
            allow_private_endpoint=allow_private_endpoint,
        )
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens
        self._token_limit_param = token_limit_param
        self._send_temperature = send_temperature

    async def complete(self, prompt: str, *, system: str | None = None) -> str:
        """The model's reply; `ChatError` unless it is whole."""
        request = self.request(prompt, system=system)
        reply = await self._post(request, [prompt, system or ""])
        found = parsed(_OpenAIReply, reply, self._said("sent a reply of another shape", reply))
        choice = found.choices[0] if found.choices else None
        if choice is None:
            raise ChatReplyError(self._said("sent no answer text", reply))
        if choice.finish_reason in ("length", "max_tokens"):
            raise ChatReplyError(self._said(f"{TRUNCATED} ({self._max_output_tokens} tokens)"))
        if choice.finish_reason in ("content_filter", "tool_calls", "function_call", "error"):
            what = f"ended with {choice.finish_reason} instead of an answer"
            raise ChatReplyError(self._said(what))
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


class _OpenAIMessage(FromServer):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _OpenAIChoice(FromServer):
    message: _OpenAIMessage
    finish_reason: str | None = None


class _OpenAIReply(FromServer):
    choices: list[_OpenAIChoice]
