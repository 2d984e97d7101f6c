"""Ollama's own API."""

import math

from groundkit_core.errors import ChatReplyError

from groundkit_providers.budget import estimate_tokens
from groundkit_providers.config import DEFAULT_CHAT_MODEL, DEFAULT_OLLAMA_BASE_URL
from groundkit_providers.endpoint import HttpChat, Request
from groundkit_providers.replies import TRUNCATED, FromServer, answer_text, parsed
from groundkit_providers.servers import OllamaModel

__all__ = ["OllamaChat"]

# Ollama loads a model anew for each size of context, so there are few sizes.
_LEAST_CONTEXT = 4096
_TEMPLATE_TOKENS = 256


class OllamaChat(HttpChat, OllamaModel):
    """A model behind Ollama's own API; loopback needs no permission."""

    def __init__(
        self,
        *,
        model_name: str = DEFAULT_CHAT_MODEL,
        base_url: str = DEFAULT_OLLAMA_BASE_URL,
        temperature: float = 0.0,
        max_output_tokens: int = 1024,
        timeout_seconds: float = 60.0,
        allow_private_endpoint: bool = False,
    ) -> None:
        super().__init__(
            model_name=model_name,
            base_url=base_url,
            timeout_seconds=timeout_seconds,
            allow_private_endpoint=allow_private_endpoint,
        )
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens

    async def complete(self, prompt: str, *, system: str | None = None) -> str:
        """The model's reply; `ChatError` unless it is whole and saw the whole prompt."""
        reply = await self._post(self.request(prompt, system=system), [prompt, system or ""])
        found = parsed(_OllamaReply, reply, self._said("sent a reply of another shape", reply))
        if not found.done or found.done_reason == "length":
            raise ChatReplyError(self._said(f"{TRUNCATED} ({self._max_output_tokens} tokens)"))
        context = self._context(prompt, system)
        if found.prompt_eval_count is not None and found.prompt_eval_count >= context:
            what = f"filled its context of {context} tokens with the prompt"
            raise ChatReplyError(self._said(what))
        return answer_text(found.response, bool(found.thinking), self._said(""))

    def request(self, prompt: str, *, system: str | None = None) -> Request:
        """What `complete` would send."""
        options = {
            "temperature": self._temperature,
            "num_predict": self._max_output_tokens,
            "num_ctx": self._context(prompt, system),
        }
        body: dict[str, object] = {"model": self._model_name, "prompt": prompt}
        if system is not None:
            body["system"] = system
        body |= {"stream": False, "truncate": False, "options": options}
        tokens = estimate_tokens(prompt) + estimate_tokens(system or "")
        return Request(url=f"{self._base_url}/api/generate", body=body, estimated_tokens=tokens)

    def _context(self, prompt: str, system: str | None) -> int:
        """Room for prompt and reply; by default Ollama cuts what does not fit, silently."""
        sent = estimate_tokens(prompt) + estimate_tokens(system or "")
        needed = sent + self._max_output_tokens + _TEMPLATE_TOKENS
        return max(_LEAST_CONTEXT, 1 << math.ceil(math.log2(needed)))


class _OllamaReply(FromServer):
    response: str | None = None
    thinking: str | None = None
    done: bool = True
    done_reason: str | None = None
    prompt_eval_count: int | None = None
