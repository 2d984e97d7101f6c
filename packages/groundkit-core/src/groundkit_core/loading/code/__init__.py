"""Source code in the usual languages: definitions by how their first line reads."""

from groundkit_core.loading.code.blocks import MEDIA_TYPES, blocks

__all__ = ["MEDIA_TYPES", "blocks"]
