"""Doubles for code that asks a model."""

from groundkit_providers.llm import ScriptedChatProvider
from groundkit_providers.protocols import ChatProtocol

__all__ = ["RecordingChat", "ScriptedChatProvider"]


class RecordingChat:
    """Another provider whose prompts are kept: `calls` holds (prompt, system) in order."""

    def __init__(self, inner: ChatProtocol) -> None:
        self._inner = inner
        self.calls: list[tuple[str, str | None]] = []

    @property
    def provider(self) -> str:
        """The wrapped provider's."""
        return self._inner.provider

    @property
    def model_name(self) -> str:
        """The wrapped provider's."""
        return self._inner.model_name

    async def complete(self, prompt: str, *, system: str | None = None) -> str:
        """The wrapped provider's reply."""
        self.calls.append((prompt, system))
        return await self._inner.complete(prompt, system=system)
