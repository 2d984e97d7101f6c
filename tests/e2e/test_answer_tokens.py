"""The estimate of tokens against two real tokenizers."""

import base64
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from groundkit_providers.budget import estimate_tokens

from scripts.servers import token_count
from tests.e2e.recorder import Recorder
from tests.note import Note
from tests.shared_data import shared

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ro", "ru", "th", "tr", "vi", "zh")
SOURCE = Path(__file__).parents[2] / "packages"


def texts() -> Iterator[tuple[str, str]]:
    for language in LANGUAGES:
        with gzip.open(shared("data", "xquad", language, "corpus.jsonl.gz"), "rt") as lines:
            for _, line in zip(range(25), lines, strict=False):
                yield language, json.loads(line)["text"]
    for path in sorted(shared("data", "docs_rust_book", "src").glob("*.md"))[:30]:
        yield "Markdown", path.read_text()[:3000]
    for path in sorted(SOURCE.rglob("*.py"))[:40]:
        yield "Python", path.read_text()[:3000]
    rng = random.Random(1)
    for _ in range(10):
        drawn = rng.randbytes(200)
        yield "hex", drawn.hex()
        yield "HEX", drawn.hex().upper()
        yield "base64", base64.b64encode(drawn).decode()
        yield "digits", str(rng.randrange(10**400))


def test_no_text_has_more_tokens_than_the_estimate(
    qwen: Recorder, smollm2: Recorder, note: Note
) -> None:
    least: dict[tuple[str, str], float] = {}
    for kind, text in texts():
        for model, server in (("Qwen", qwen), ("SmolLM2", smollm2)):
            ratio = estimate_tokens(text) / token_count(server.url, text)
            least[model, kind] = min(ratio, least.get((model, kind), ratio))
    note("estimated tokens / true ones, the least of each kind:")
    for (model, kind), ratio in sorted(least.items()):
        note(f"{model:8} {kind:8} {ratio:.2f}")
    assert {kind: ratio for kind, ratio in least.items() if ratio < 1} == {}
