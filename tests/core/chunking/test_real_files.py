import pytest
from groundkit_core.chunking import chunk_document
from groundkit_core.config import ChunkingConfig
from groundkit_core.errors import RefusedError
from groundkit_core.loading.formats import media_format
from groundkit_core.loading.read import load_document
from groundkit_core.terms import count_words

from tests.core.chunking.passages import check_invariants
from tests.shared_data import shared

CONFIGS = [
    ChunkingConfig(),
    ChunkingConfig(size=40, overlap=10),
    ChunkingConfig(strategy="fixed", size=50, overlap=10),
]


@pytest.mark.parametrize(
    ("folder", "least"),
    [("docs_fastapi", 300), ("docs_rust_book", 100), ("docs_peps", 100), ("docs_udhr", 300)],
)
def test_every_file_is_cut_into_slices_that_cover_it(folder: str, least: int) -> None:
    seen = 0
    for path in sorted(shared("data", folder).rglob("*")):
        if not path.is_file():
            continue
        try:
            document = load_document(str(path), path.read_bytes()).document
        except RefusedError:
            continue
        blocks = media_format(document.media_type).blocks(document.text)
        for config in CONFIGS:
            passages = chunk_document(document, blocks, config)
            check_invariants(document.text, passages)
            sizes = [count_words(chunk.content) for chunk in passages]
            assert max(sizes, default=0) <= config.size, path
        seen += 1
    assert seen >= least
