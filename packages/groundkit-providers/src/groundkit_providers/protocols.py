"""The seam between groundkit and a generative model."""

from typing import Protocol, runtime_checkable

__all__ = ["ChatProtocol"]


@runtime_checkable
class ChatProtocol(Protocol):
    """One prompt in, one complete reply out; `provider` and `model_name` say who answered."""

    @property
    def provider(self) -> str: ...

    @property
    def model_name(self) -> str: ...

    async def complete(self, prompt: str, *, system: str | None = None) -> str:
        """The model's reply; `ChatError` unless it is whole."""
        ...
