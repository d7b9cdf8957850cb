"""The reference's embeddings: a one-hot product is a lookup."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.reference.embeddings import embed, one_hot, tied_logits

V, D = 9, 4
TABLE = np.random.default_rng(0).normal(size=(V, D))


@given(st.lists(st.integers(0, V - 1), min_size=1, max_size=6), st.floats(0.1, 9))
def test_embedding_is_the_row_of_the_table_times_the_scale(ids, scale):
    got = embed(np.array([ids]), TABLE, scale)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got[0], [[scale * number for number in TABLE[i]] for i in ids], rtol=1e-13)
    np.testing.assert_allclose(embed(np.array(ids, dtype=np.uint8), TABLE), TABLE[ids], rtol=1e-13)


def test_one_hot_rows_hold_a_single_one():
    ids = np.array([[0, V - 1], [3, 3]])
    rows = one_hot(ids, V)
    assert rows.shape == (2, 2, V) and (rows.sum(-1) == 1).all()
    np.testing.assert_array_equal(rows.argmax(-1), ids)


def test_tied_logits_are_dot_products_with_each_row():
    x = np.random.default_rng(1).normal(size=(2, 3, D))
    got = tied_logits(x, TABLE)
    assert got.shape == (2, 3, V)
    for v in range(V):
        np.testing.assert_allclose(got[..., v], (x * TABLE[v]).sum(-1), rtol=1e-12, atol=1e-13)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: embed(np.array([0, V]), TABLE), ValueError, "ids holds 9; .* V = 9 words, ids 0 to 8"),
        (lambda: embed(np.array([0, -1]), TABLE), ValueError, "ids holds -1"),
        (lambda: embed(np.array([0.0]), TABLE), TypeError, "ids has dtype float64; wanted integers"),
        (lambda: one_hot(np.array([True]), 2), TypeError, "ids has dtype bool"),
        (lambda: embed(np.array([0]), TABLE[0]), ValueError, r"table has shape \(4,\); wanted a matrix"),
        (lambda: tied_logits(np.zeros((3, 5)), TABLE), ValueError, r"x has shape \(3, 5\), table has \(9, 4\)"),
        (lambda: tied_logits(np.zeros((3, 4)), TABLE[0]), ValueError, r"table has \(4,\)"),
    ],
)
def test_what_does_not_fit_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
