"""PDF: the text of its pages in reading order, by paragraphs, with the outline's headings."""

from groundkit_core.loading.pdf.extract import extract

__all__ = ["extract"]
