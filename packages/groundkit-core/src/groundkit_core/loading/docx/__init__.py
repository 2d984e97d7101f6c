"""Word: the text of a .docx file in the order of its body."""

from groundkit_core.loading.docx.extract import extract

__all__ = ["extract"]
