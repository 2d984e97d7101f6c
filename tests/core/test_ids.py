from hashlib import blake2b

import pytest
from groundkit_core.ids import chunk_id, content_hash, document_id, hash_bytes
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import texts

DOCUMENT = "0b65877655f160c5c50691c57dacb562"


def test_ids_never_change() -> None:
    """Saved citations and indexes hold them."""
    assert document_id("docs/a.md") == DOCUMENT
    assert chunk_id(DOCUMENT, "Keep valve shut.", 0) == "12020e7fadb17dcaf7d7534caef0aa39"
    assert chunk_id(DOCUMENT, "Keep valve shut.", 1) == "c3a37e2897a0fa6a995abed7242c6aad"
    assert content_hash("Keep valve shut.") == "f9e043b4a0501d225b3e9d60e7f4137c"
    assert content_hash("🚰 Café") == "bd38df5849250d1f6e37bade902985ad"
    assert hash_bytes(b"Keep valve shut.") == "9d989093c13ce76e393aa43838731454"


def hashed(kind: bytes, *fields: str) -> str:
    state = blake2b(digest_size=16, person=kind)
    for field in fields:
        data = field.encode()
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


@given(texts, texts, st.integers(0, 10**6))
def test_ids_are_blake2b_over_length_prefixed_fields(a: str, b: str, occurrence: int) -> None:
    assert document_id(a) == hashed(b"document", a)
    assert chunk_id(a, b, occurrence) == hashed(b"chunk", a, b, str(occurrence))
    assert content_hash(a) == content_hash(a.encode()) == hashed(b"content", a)
    assert hash_bytes(a.encode()) == blake2b(a.encode(), digest_size=16).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c", 0), ("a", "bc", 0)),
        (("a", "b1", 0), ("a", "b", 10)),
        (("a", "b", 0), ("a", "b", 1)),
        (("a", "e\u0301", 0), ("a", "é", 0)),
    ],
)
def test_no_two_fields_run_into_one_another(
    one: tuple[str, str, int], other: tuple[str, str, int]
) -> None:
    assert chunk_id(*one) != chunk_id(*other)


def test_the_same_text_has_another_hash_as_a_source_than_as_a_passage() -> None:
    assert len({document_id("a"), content_hash("a"), hash_bytes(b"a")}) == 3


def test_a_lone_surrogate_can_be_hashed() -> None:
    assert content_hash("\ud800") != content_hash("\ud801")
