import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from groundkit_core.loading.extracted import Extracted
from groundkit_core.loading.pdf import extract
from groundkit_core.retrieval.quotes import locate_quote

from tests.shared_data import shared

pytest.importorskip("pypdfium2")

QUOTES = [
    json.loads(line)
    for line in (Path(__file__).parent / "quotes_pdf.jsonl").read_text("utf-8").splitlines()
]


@cache
def extracted(name: str) -> Extracted:
    return extract(shared("data", "docs_pdf", "files", name).read_bytes())


@pytest.mark.parametrize("read", QUOTES, ids=[f"{q['file']}-{i}" for i, q in enumerate(QUOTES)])
def test_a_sentence_read_from_the_rendered_page_is_found_on_that_page(read: dict[str, Any]) -> None:
    found = extracted(read["file"])
    start = found.pages[read["page"] - 1]
    end = (*found.pages, len(found.text))[read["page"]]
    located = locate_quote(found.text[start:end], read["quote"])
    assert located.status in {"exact", "normalized"}


def test_quotes_come_from_twenty_files_and_thirty_places() -> None:
    assert len({read["file"] for read in QUOTES}) >= 20
    assert len({read["quote"] for read in QUOTES}) >= 30
