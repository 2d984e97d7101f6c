import json
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from groundkit_core.retrieval.quotes import locate_quote

from tests.shared_data import shared

pytest.importorskip("selectolax")

# Typed from pages as a browser and a word processor render them.
QUOTES = [
    json.loads(line)
    for line in (Path(__file__).parent / "quotes_html_docx.jsonl").read_text("utf-8").splitlines()
]


@cache
def text_of(name: str) -> str:
    data = shared("data", "docs_docling", *name.split("/")).read_bytes()
    reader = import_module(f"groundkit_core.loading.{name.partition('/')[0]}")
    text: str = reader.extract(data).text
    return text


@pytest.mark.parametrize("read", QUOTES, ids=[f"{q['file']}-{i}" for i, q in enumerate(QUOTES)])
def test_a_sentence_read_from_the_rendered_page_is_found(read: dict[str, str]) -> None:
    assert locate_quote(text_of(read["file"]), read["quote"]).status in {"exact", "normalized"}


def test_quotes_come_from_files_of_both_formats() -> None:
    files = {read["file"] for read in QUOTES}
    assert len([name for name in files if name.startswith("html/")]) >= 6
    assert len([name for name in files if name.startswith("docx/")]) >= 6
