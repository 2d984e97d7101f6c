"""What the sections of a settings file may hold."""

from pydantic import BaseModel, ConfigDict

__all__ = ["StoredRedaction"]


class StoredRedaction(BaseModel):
    """The section `[redaction]`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    names: list[str] = []
    patterns: dict[str, str] = {}
    detect_names: bool = False
