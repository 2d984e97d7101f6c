"""HTML: the text of a web page as a browser shows it, its main content or all of it."""

from groundkit_core.loading.html.extract import extract

__all__ = ["extract"]
