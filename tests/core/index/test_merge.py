"""One segment in place of many: the arrays of one that was built at once."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from groundkit_core.index import merge
from groundkit_core.index.counting import ChunkKeys, build_arrays, count
from groundkit_core.index.merge import Part, merged
from groundkit_core.index.segment_file import Array
from groundkit_core.terms import term_key
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = [term_key(f"term {n}") for n in range(6)]

texts = st.lists(st.lists(st.integers(0, 5), max_size=8), min_size=1, max_size=12)


def arrays(chunks: Sequence[tuple[int, list[int]]]) -> dict[str, Array]:
    """A segment of numbered texts."""
    used = sorted({term for _, text in chunks for term in text})
    place = {term: at for at, term in enumerate(used)}
    counts = count(
        [[place[term] for term in text] for _, text in chunks], [KEYS[term] for term in used]
    )
    rows = np.array([number for number, _ in chunks], np.uint64)
    return build_arrays(counts, ChunkKeys(rows, rows // 2, rows * 3, rows * 5, rows * 7))


def same(found: dict[str, Array], wanted: dict[str, Array]) -> bool:
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        assert (name, found[name].dtype, found[name].tolist()) == (
            name,
            array.dtype,
            array.tolist(),
        )
    return True


@settings(max_examples=150, deadline=None)
@given(texts, st.data())
def test_a_merge_of_any_cuts_is_a_rebuild_of_what_lives(
    held: list[list[int]], data: st.DataObject
) -> None:
    chunks = list(enumerate(held))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(chunks) - 1)) if held[1:] else st.just([])))
    living = data.draw(st.lists(st.booleans(), min_size=len(chunks), max_size=len(chunks)))
    parts = []
    for start, end in pairwise([0, *cuts, len(chunks)]):
        dead = [at for at, alive in enumerate(living[start:end]) if not alive]
        parts.append(Part(arrays(chunks[start:end]), np.array(dead, np.uint32)))
    wanted = arrays([chunk for chunk, alive in zip(chunks, living, strict=True) if alive])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge, "_AT_ONCE", data.draw(st.sampled_from((1, 3, 1 << 20))))
        at_once = merged(parts)
        in_steps = merged([Part(merged(parts[:2]), np.empty(0, np.uint32)), *parts[2:]])

    assert same(at_once, wanted)
    assert same(in_steps, wanted)


def test_frequencies_are_as_wide_as_the_living_need() -> None:
    often = arrays([(0, [0] * 300), (1, [0, 1])])
    rare = arrays([(2, [0])])
    none, first = np.empty(0, np.uint32), np.array([0], np.uint32)

    assert merged([Part(often, none), Part(rare, none)])["frequencies"].tolist() == [300, 1, 1, 1]
    assert merged([Part(often, first), Part(rare, none)])["frequencies"].dtype == np.uint8
