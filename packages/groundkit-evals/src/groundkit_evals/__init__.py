"""Metrics, datasets and reports for groundkit collections."""

__all__: list[str] = []
