"""Models over HTTP and redaction: the only groundkit package with outbound connections."""

__all__: list[str] = []
