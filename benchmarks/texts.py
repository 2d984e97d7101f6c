"""Seeded text of made-up words whose frequencies follow Zipf's law."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

__all__ = ["sentences", "vocabulary", "write_documents"]

_SYLLABLES = [a + b for a, b in itertools.product("bdfgklmnprstvz", "aeiou")]


def vocabulary(rng: random.Random, size: int) -> list[str]:
    """Distinct words, the most frequent first."""
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4)))] = None
    return list(words)


def sentences(rng: random.Random, words: list[str]) -> Iterator[str]:
    """Endless sentences of 5 to 20 words."""
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    while True:
        chosen = rng.choices(words, cum_weights=weights, k=rng.randint(5, 20))
        yield " ".join(chosen).capitalize() + "."


def write_documents(
    folder: Path, files: int, sections: int, seed: int = 0, per_section: int = 8
) -> list[str]:
    """Markdown files whose sections are a passage each; returns the words they are made of."""
    rng = random.Random(seed)
    words = vocabulary(rng, 8_000)
    stream = sentences(rng, words)
    for number in range(files):
        parts = [
            f"## Part {section}\n\n{' '.join(itertools.islice(stream, per_section))}\n"
            for section in range(sections)
        ]
        (folder / f"{number:04}.md").write_text("\n".join(parts), "utf-8")
    return words
