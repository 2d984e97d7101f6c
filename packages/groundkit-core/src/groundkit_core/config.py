"""Settings and limits of the core."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "DEFAULT_TOP_K",
    "MAX_FILE_BYTES",
    "MAX_QUERY_LEN",
    "MAX_TOP_K",
    "ChunkingConfig",
    "ExtractionConfig",
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


class ExtractionConfig(BaseModel):
    """What is taken from web pages and from JSON lines.

    `html` is the main content or the full text. With `jsonl_text` each line of a JSONL file is a
    document with that field's text; the other fields name its id, title and metadata. A dot goes
    into an object: `body.text`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    html: Literal["main", "full"] = "main"
    jsonl_text: str | None = Field(default=None, min_length=1)
    jsonl_id: str | None = Field(default=None, min_length=1)
    jsonl_title: str | None = Field(default=None, min_length=1)
    jsonl_metadata: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _text_for_records(self) -> "ExtractionConfig":
        if self.jsonl_text is None and (self.jsonl_id or self.jsonl_title or self.jsonl_metadata):
            raise ValueError("other fields of JSON lines are named, but not this one")
        return self

    def records(self) -> dict[str, Any]:
        """The fields of JSON lines that are named."""
        named = {
            "text": self.jsonl_text,
            "id": self.jsonl_id,
            "title": self.jsonl_title,
            "meta": self.jsonl_metadata,
        }
        return {key: value for key, value in named.items() if value}
