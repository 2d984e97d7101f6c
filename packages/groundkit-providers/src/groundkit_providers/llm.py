"""Chat providers behind `ChatProtocol`, and the one place that chooses between them."""

from collections import Counter
from collections.abc import Sequence

from groundkit_core.errors import ChatError, ChatProviderNotConfiguredError, ConfigurationError

from groundkit_providers.addresses import ANYWHERE, is_loopback
from groundkit_providers.budget import estimate_tokens
from groundkit_providers.config import ChatConfig
from groundkit_providers.endpoint import Request
from groundkit_providers.http import validate_endpoint_shape
from groundkit_providers.ollama import OllamaChat
from groundkit_providers.openai_compatible import OpenAICompatChat
from groundkit_providers.protocols import ChatProtocol
from groundkit_providers.redaction import RedactionConfig, Redactor
from groundkit_providers.replies import answer_text

__all__ = [
    "OllamaChat",
    "OpenAICompatChat",
    "RedactingChat",
    "Request",
    "ScriptedChatProvider",
    "build_chat",
    "is_sent_away",
]


class ScriptedChatProvider:
    """Replies in the order of a script: it shows that the plumbing works and measures nothing."""

    def __init__(self, script: Sequence[str]) -> None:
        self._script = tuple(script)
        self._given = 0

    @property
    def provider(self) -> str:
        """`scripted`."""
        return "scripted"

    @property
    def model_name(self) -> str:
        """`scripted`."""
        return "scripted"

    async def complete(self, prompt: str, *, system: str | None = None) -> str:  # noqa: ARG002
        """The script's next reply; `ChatError` when there is none left."""
        if self._given == len(self._script):
            raise ChatError(f"the script holds {self._given} replies and one more was asked for")
        self._given += 1
        return answer_text(self._script[self._given - 1], False, f"scripted reply {self._given}")

    def request(self, prompt: str, *, system: str | None = None) -> Request:
        """What the script would be shown, if it could read."""
        tokens = estimate_tokens(prompt) + estimate_tokens(system or "")
        body: dict[str, object] = {"prompt": prompt, "system": system}
        return Request(url="scripted:", body=body, estimated_tokens=tokens)


class RedactingChat:
    """Another provider that never sees what redaction finds; replies come back restored.

    `redactions` counts what was replaced so far, by kind.
    """

    def __init__(
        self,
        inner: ChatProtocol,
        config: RedactionConfig | None = None,
    ) -> None:
        self._inner = inner
        self._config = config or RedactionConfig()
        self.redactions: Counter[str] = Counter()

    @property
    def provider(self) -> str:
        """The wrapped provider's."""
        return self._inner.provider

    @property
    def model_name(self) -> str:
        """The wrapped provider's."""
        return self._inner.model_name

    async def complete(self, prompt: str, *, system: str | None = None) -> str:
        """The wrapped provider's reply to the redacted texts, with their values put back."""
        # A fresh one for each call: a longer-lived one could put a value of one call into
        # the reply to another.
        redactor = Redactor(self._config)
        hidden, hidden_system = self._hide(redactor, prompt, system)
        return redactor.restore(await self._inner.complete(hidden, system=hidden_system))

    def request(self, prompt: str, *, system: str | None = None) -> Request:
        """What `complete` would send: redacted."""
        hidden, hidden_system = self._hide(Redactor(self._config), prompt, system)
        if not isinstance(self._inner, OllamaChat | OpenAICompatChat | ScriptedChatProvider):
            raise ConfigurationError(f"provider {self.provider} does not say what it would send")
        return self._inner.request(hidden, system=hidden_system)

    def _hide(self, redactor: Redactor, prompt: str, system: str | None) -> tuple[str, str | None]:
        hidden_system = None
        if system is not None:
            found = redactor.redact(system)
            self.redactions.update(found.counts)
            hidden_system = found.text
        found = redactor.redact(prompt)
        self.redactions.update(found.counts)
        return found.text, hidden_system


def is_sent_away(config: ChatConfig) -> bool:
    """Whether prompts may leave this machine, so that they must be redacted."""
    if config.provider == "scripted":
        return False
    if config.provider == "openai_compatible":
        return True
    tag = config.model_name.partition(":")[2].lower()
    on_loopback = is_loopback(validate_endpoint_shape(config.base_url, reach=ANYWHERE))
    return not on_loopback or tag == "cloud" or tag.endswith("-cloud")


def build_chat(
    config: ChatConfig,
    *,
    redaction: RedactionConfig | None = None,
    script: Sequence[str] | None = None,
) -> ChatProtocol:
    """The provider that a configuration names, redacting wherever a prompt leaves the machine.

    A `redaction` wraps a local provider as well.
    """
    inner = _bare(config, script)
    if not is_sent_away(config):
        return inner if redaction is None else RedactingChat(inner, redaction)
    if redaction is not None and not redaction.patterns:
        raise ConfigurationError(
            f"redaction.patterns is empty, but {config.provider} sends prompts away"
        )
    return RedactingChat(inner, redaction)


def _bare(
    config: ChatConfig, script: Sequence[str] | None
) -> OllamaChat | OpenAICompatChat | ScriptedChatProvider:
    if config.provider == "scripted":
        if script is None:
            raise ChatProviderNotConfiguredError(
                "provider scripted has no script (--chat-script FILE, a JSON list of replies)"
            )
        return ScriptedChatProvider(script)
    if script is not None:
        raise ConfigurationError(f"a script is for provider scripted, not {config.provider}")
    shared = config.model_dump(exclude={"provider"})
    if config.provider == "openai_compatible":
        return OpenAICompatChat(**shared)
    for key in ("api_key_env", "token_limit_param", "send_temperature"):
        del shared[key]
    return OllamaChat(**shared)
