"""The tiles in numpy: any block gives the whole, and what is remembered on the way is what it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup import reference
from softlookup.reference.tiled_attention import tiled_attention, tiles_of_attention


def draw(seed, batch=(), t=4, s=7, h=3, hv=2):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=(*batch, *shape)) for shape in ((t, h), (s, h), (s, hv)))
    return q, k, v, rng.random((*batch, t, s)) < 0.5


@given(
    st.integers(0, 10**6),
    st.sampled_from([(), (2,), (2, 3)]),
    st.integers(1, 5),
    st.integers(1, 8),
    st.integers(1, 9),
    st.booleans(),
)
def test_any_block_gives_what_all_at_once_gives(seed, batch, t, s, block, masked):
    q, k, v, mask = draw(seed, batch, t, s)
    mask = mask if masked else None
    got = tiled_attention(q, k, v, mask, block=block)
    np.testing.assert_allclose(got, reference.scaled_dot_product_attention(q, k, v, mask), rtol=0, atol=1e-13)


@pytest.mark.parametrize("block", [1, 3, 64])
def test_causal_is_a_mask_and_goes_with_another(block):
    q, k, v, mask = draw(1, (2,), 6, 6)
    below = np.tri(6, dtype=bool)
    for given_mask, whole in ((None, below), (mask, mask & below), (mask[:1, :1], mask[:1, :1] & below)):
        got = tiled_attention(q, k, v, given_mask, causal=True, block=block)
        np.testing.assert_allclose(
            got, reference.scaled_dot_product_attention(q, k, v, np.broadcast_to(whole, (2, 6, 6))), atol=1e-13
        )


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_each_tile_knows_largest_sum_and_mixture_of_the_keys_so_far(seed, block):
    q, k, v, mask = draw(seed, (2,))
    tiles = tiles_of_attention(q, k, v, mask, block=block)
    assert [(tile.start, tile.stop) for tile in tiles] == [(i, min(i + block, 7)) for i in range(0, 7, block)]
    for tile in tiles:
        for b, t in np.ndindex(2, 4):
            seen = [s for s in range(tile.stop) if mask[b, t, s]]
            scores = [float(q[b, t] @ k[b, s]) / 3**0.5 for s in seen]
            largest = max(scores, default=-np.inf)
            raised = [np.exp(score - largest) for score in scores]
            assert tile.largest[b, t] == pytest.approx(largest, abs=1e-14)
            assert tile.total[b, t] == pytest.approx(sum(raised), abs=1e-13)
            mixed = sum((w * v[b, s] for w, s in zip(raised, seen, strict=True)), np.zeros(2))
            np.testing.assert_allclose(tile.mixed[b, t], mixed, atol=1e-13)
        so_far = reference.scaled_dot_product_attention(
            q, k[:, : tile.stop], v[:, : tile.stop], mask[:, :, : tile.stop]
        )
        np.testing.assert_allclose(tile.output, so_far, atol=1e-13)


def test_scores_in_the_thousands_stay_finite():
    k = np.array([[-3000.0], [5000.0], [0.0], [4000.0]])
    for block in (1, 2, 4):
        got = tiled_attention(np.ones((1, 1)), k, np.arange(4.0)[:, None], block=block)
        assert got.item() == 1.0


def test_no_keys_at_all_give_zeros_and_no_tiles():
    q, k, v, mask = draw(2, s=0)
    assert tiles_of_attention(q, k, v, mask) == []
    np.testing.assert_array_equal(tiled_attention(q, k, v), np.zeros((4, 2)))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("change", "more", "error", "says"),
    [
        ({"k": np.zeros((7, 4))}, {}, ValueError, "head width 4, q has 3"),
        ({"v": np.zeros((6, 2))}, {}, ValueError, r"v has shape \(6, 2\)"),
        ({"mask": np.ones((4, 6), bool)}, {}, ValueError, r"mask has shape \(4, 6\)"),
        ({"mask": np.ones((4, 7))}, {}, TypeError, "mask has dtype float64"),
        ({}, {"causal": True}, ValueError, "causal attention of 4 queries to 7 keys: their numbers must be equal"),
        ({}, {"block": 0}, ValueError, "block must be at least 1 key; got 0"),
    ],
)
def test_what_does_not_fit_is_named(change, more, error, says):
    arguments = dict(zip(("q", "k", "v", "mask"), draw(3), strict=True)) | change
    with pytest.raises(error, match=says):
        tiled_attention(**arguments, **more)
