"""Terms of texts against a plain count."""

from collections import Counter
from collections.abc import Sequence

import pytest
from groundkit_core.index import counting
from groundkit_core.index.counting import TermCounts, count, count_terms
from groundkit_core.terms import Analyzer, term_hash
from hypothesis import given, settings
from hypothesis import strategies as st

WORDS = ("pump", "pumps", "retry_limit", "café", "茶壶", "R", "x", "e-mail", "the")


def plain(texts: Sequence[str], analyzer: Analyzer) -> dict[int, list[tuple[int, int]]]:
    """For each term its texts, and how often each holds it."""
    found: dict[int, list[tuple[int, int]]] = {}
    for number, text in enumerate(texts):
        for term, often in Counter(analyzer.terms(text)).items():
            found.setdefault(term_hash(term), []).append((number, often))
    return dict(sorted(found.items()))


def unpacked(counts: TermCounts) -> dict[int, list[tuple[int, int]]]:
    offsets = counts.offsets.tolist()
    pairs = list(zip(counts.ordinals.tolist(), counts.frequencies.tolist(), strict=True))
    return {
        term: pairs[start:end]
        for term, start, end in zip(counts.hashes.tolist(), offsets, offsets[1:], strict=False)
    }


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=9),
    st.sampled_from(["english", "none"]),
    st.sampled_from((1, 2, 5_000)),
)
def test_terms_are_counted_in_each_text(texts: list[str], language: str, at_once: int) -> None:
    analyzer = Analyzer(language)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_TEXTS_AT_ONCE", at_once)
        counts = count_terms(texts, analyzer)

    assert unpacked(counts) == plain(texts, analyzer)
    assert counts.lengths.tolist() == [len(analyzer.terms(text)) for text in texts]


def keys(*hashes: int) -> bytes:
    """What a word is counted as."""
    return b"".join(value.to_bytes(8) for value in hashes)


def test_a_frequency_may_be_of_any_size() -> None:
    counts = count([[0] * 70_000, [0, 1]], [keys(5), keys(3, 5)])

    assert unpacked(counts) == {3: [(1, 1)], 5: [(0, 70_000), (1, 2)]}
    assert counts.lengths.tolist() == [70_000, 3]
