"""Settings and limits of the core."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "DEFAULT_TOP_K",
    "MAX_FILE_BYTES",
    "MAX_QUERY_LEN",
    "MAX_TOP_K",
    "ChunkingConfig",
]

DEFAULT_TOP_K = 10
MAX_TOP_K = 100
MAX_QUERY_LEN = 4096
MAX_FILE_BYTES = 100 * 1024 * 1024


class ChunkingConfig(BaseModel):
    """How documents are cut: `size` and `overlap` count `unit`s.

    `structure` packs paragraphs, list items, tables and code under their headings up to `size`;
    `fixed` slides a window of `size`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: Literal["structure", "fixed"] = "structure"
    size: int = Field(default=200, ge=1)
    overlap: int = Field(default=0, ge=0)
    unit: Literal["words", "characters"] = "words"

    @model_validator(mode="after")
    def _overlap_below_size(self) -> "ChunkingConfig":
        if self.overlap >= self.size:
            raise ValueError(f"overlap {self.overlap} must be below size {self.size}")
        return self

    @property
    def identity(self) -> str:
        """The settings as one comparable string."""
        return f"{self.strategy}@1:{self.size}+{self.overlap}:{self.unit}"
