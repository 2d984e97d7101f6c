import numpy as np
import pytest
from groundkit_core.errors import EmbeddingError
from groundkit_core.vectors import unit_vectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import ArrayLike

NAN, INF = float("nan"), float("inf")
GOOD = [[3.0, 4.0], [0.0, -2.0]]


def test_vectors_come_back_with_length_one() -> None:
    found = unit_vectors(GOOD, 2, 2, "m")
    assert found.dtype == np.float32
    assert found.tolist() == [[np.float32(0.6), np.float32(0.8)], [0.0, -1.0]]


@given(
    arrays.arrays(
        np.float32, (3, 5), elements=st.floats(-(2.0**60), 2.0**60, width=32, allow_subnormal=False)
    )
)
def test_any_vectors_keep_their_direction(rows: np.ndarray) -> None:
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    if not lengths.all():
        with pytest.raises(EmbeddingError, match="zeros"):
            unit_vectors(rows, 3, 5, "m")
        return
    found = unit_vectors(rows, 3, 5, "m")
    assert np.allclose(found, rows / lengths[:, None], atol=1e-6)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([[3.0, 4.0]], "m gave 1 x 2 numbers for 2 texts of 2 dimensions"),
        ([*GOOD, [1.0, 1.0]], "m gave 3 x 2 numbers for 2 texts of 2 dimensions"),
        ([[1.0, 2.0, 3.0]] * 2, "m gave 2 x 3 numbers for 2 texts of 2 dimensions"),
        ([1.0, 2.0], "m gave 2 numbers for 2 texts of 2 dimensions"),
        ([], "m gave 0 numbers for 2 texts of 2 dimensions"),
        ([[3.0, 4.0], [0.0, 0.0]], "m gave a vector of zeros or no numbers for text 2"),
        ([[3.0, NAN], [0.0, 0.0]], "m gave a vector of zeros or no numbers for text 1"),
        ([[3.0, 4.0], [-INF, 0.0]], "m gave a vector of zeros or no numbers for text 2"),
        ([[3.0, 4.0], [0.0]], "m gave vectors of different lengths or no numbers"),
        ([[3.0, None], [0.0, 1.0]], "m gave"),
        ([["a", "b"], ["c", "d"]], "m gave vectors of different lengths or no numbers"),
        ([[{}, 1.0], [0.0, 1.0]], "m gave vectors of different lengths or no numbers"),
    ],
)
def test_what_is_no_vector_a_text_is_refused(found: ArrayLike, said: str) -> None:
    with pytest.raises(EmbeddingError) as caught:
        unit_vectors(found, 2, 2, "m")
    assert str(caught.value).startswith(said)


def test_numbers_in_quotes_are_no_numbers() -> None:
    with pytest.raises(EmbeddingError):
        unit_vectors([["3", "4"]], 1, 2, "m")


def test_numbers_beyond_single_precision_are_refused() -> None:
    with pytest.raises(EmbeddingError, match="text 1"):
        unit_vectors([[1e39, 0.0]], 1, 2, "m")


def test_what_was_given_is_not_changed() -> None:
    given_rows = np.array(GOOD, np.float32)
    unit_vectors(given_rows, 2, 2, "m")
    assert given_rows.tolist() == GOOD
