"""The reference's masks: each entry against the sentence that defines it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.reference.masks import causal_mask, combine_masks, padding_mask, window_mask

SMALL = st.integers(1, 6)


@given(SMALL, SMALL, st.none() | SMALL, st.integers(0, 4))
def test_causal_and_windowed_masks_equal_loops(length, width, keys, offset):
    causal = causal_mask(length, keys=keys, offset=offset)
    window = window_mask(length, width, keys=keys, offset=offset)
    both_ways = window_mask(length, width, causal=False, keys=keys, offset=offset)
    shape = (length, offset + length if keys is None else keys)
    assert causal.shape == window.shape == both_ways.shape == shape
    assert causal.dtype == window.dtype == both_ways.dtype == np.bool_
    for t, s in itertools.product(*map(range, shape)):
        back = offset + t - s
        assert causal[t, s] == (back >= 0)
        assert window[t, s] == (0 <= back < width)
        assert both_ways[t, s] == (abs(back) < width)


def test_padding_is_hidden_for_all_heads_and_queries():
    got = padding_mask(np.array([[4, 0, 7], [0, 0, 4]]), 0)
    assert got.shape == (2, 1, 1, 3)
    assert got[:, 0, 0].tolist() == [[True, False, True], [False, False, True]]


def test_combined_masks_let_see_only_what_all_do():
    rng = np.random.default_rng(0)
    shapes = [(3, 4), (1, 4), (2, 1, 1, 4), (2, 5, 3, 1)]
    given_masks = [rng.random(shape) < 0.7 for shape in shapes]
    got = combine_masks(None, *given_masks)
    assert got.shape == (2, 5, 3, 4) and got.dtype == np.bool_
    for b, n, t, s in itertools.product(range(2), range(5), range(3), range(4)):
        m = given_masks
        assert got[b, n, t, s] == (m[0][t, s] and m[1][0, s] and m[2][b, 0, 0, s] and m[3][b, n, t, 0])
    assert combine_masks() is None and combine_masks(None) is None


def yes(*shape):
    return np.ones(shape, dtype=bool)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: causal_mask(0), ValueError, "length 0"),
        (lambda: causal_mask(2, keys=0), ValueError, "keys 0"),
        (lambda: causal_mask(2, offset=-1, keys=3), ValueError, "offset must be at least 0; got -1"),
        (lambda: window_mask(2, 0), ValueError, "width must be at least 1, the position itself; got 0"),
        (lambda: padding_mask(np.zeros((1, 2)), 0), TypeError, "ids has dtype float64; wanted integers"),
        (lambda: padding_mask(np.zeros(2, dtype=int), 0), ValueError, r"ids has shape \(2,\)"),
        (lambda: combine_masks(np.zeros((2, 2))), TypeError, "float64; wanted bool, where True means"),
        (lambda: combine_masks(yes(2, 3), yes(2, 4)), ValueError, r"\(2, 3\), \(2, 4\).* must be equal, or 1"),
        (lambda: combine_masks(yes(2, 3, 3), yes(2, 1, 1, 3)), ValueError, "or all 4"),
        (lambda: combine_masks(yes(3)), ValueError, "each needs 2 axes"),
    ],
)
def test_what_does_not_fit_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
