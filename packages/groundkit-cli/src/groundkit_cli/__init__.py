"""The `grk` command."""

__all__: list[str] = []
