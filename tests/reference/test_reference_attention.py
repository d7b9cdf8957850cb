"""The reference's attention and its gradients by hand, at the edges. That they are torch's: test_model_attention."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from softlookup import reference

BATCHES = [(), (2,), (3, 2), (2, 1, 2)]


def draw(seed: int, batch: tuple[int, ...] = (), t: int = 3, s: int = 5, h: int = 4, hv: int = 2):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(*batch, t, h)),
        rng.normal(size=(*batch, s, h)),
        rng.normal(size=(*batch, s, hv)),
        rng.random((*batch, t, s)) < 0.6,
    )


@given(st.integers(0, 10**6), st.sampled_from(BATCHES), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4))
def test_attention_weights_rows_sum_to_one_or_zero_and_masked_cells_are_zero(seed, batch, t, s, h):
    q, k, _, mask = draw(seed, batch, t, s, h)
    weights = reference.attention_weights(q, k, mask)
    assert (weights >= 0).all()
    assert (weights[~mask] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), mask.any(-1).astype(float), atol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_equals_torch_on_every_axis(axis):
    x = np.random.default_rng(3).normal(size=(3, 4, 5)) * 10
    np.testing.assert_allclose(reference.softmax(x, axis), torch.softmax(torch.from_numpy(x), axis).numpy(), rtol=1e-12)


def test_softmax_of_huge_logits_stays_finite():
    np.testing.assert_allclose(reference.softmax(np.array([1000.0, 1001.0])), [1 / (1 + math.e), math.e / (1 + math.e)])
    np.testing.assert_array_equal(reference.softmax(np.array([-1e300, 1e300])), [0, 1])


def test_softmax_of_nothing_but_minus_infinity_gives_zeros():
    x = np.array([[-np.inf, -np.inf], [-np.inf, 5.0]])
    np.testing.assert_array_equal(reference.softmax(x), [[0, 0], [0, 1]])


def test_softmax_refuses_plus_infinity_and_passes_nan_on():
    with pytest.raises(ValueError, match=r"\+inf in scores of shape \(2,\)"):
        reference.softmax(np.array([0.0, np.inf]))
    assert np.isnan(reference.softmax(np.array([0.0, np.nan]))).all()


def test_no_keys_at_all_give_zeros():
    q, k, v, _ = draw(6, s=0)
    np.testing.assert_array_equal(reference.scaled_dot_product_attention(q, k, v), np.zeros((3, 2)))


@pytest.mark.parametrize("shape", [(3, 5), (1, 5), (3, 1), (1, 1, 5), (2, 1, 5), (2, 3, 5)])
def test_masks_of_every_fitting_shape_equal_the_mask_written_out(shape):
    q, k, v, _ = draw(7, (2,))
    mask = np.random.default_rng(7).random(shape) < 0.5
    expected = reference.scaled_dot_product_attention(q, k, v, np.broadcast_to(mask, (2, 3, 5)))
    np.testing.assert_array_equal(reference.scaled_dot_product_attention(q, k, v, mask), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8])
def test_other_dtypes_are_converted_to_float64(dtype):
    q, k, v = ((np.abs(a) * 3).astype(dtype) for a in draw(8)[:3])
    got = reference.scaled_dot_product_attention(q, k, v)
    assert got.dtype == np.float64
    expected = reference.scaled_dot_product_attention(*(a.astype(np.float64) for a in (q, k, v)))
    np.testing.assert_array_equal(got, expected)


def test_inputs_are_left_unchanged_and_need_not_be_contiguous():
    q, k, v, mask = draw(9, (2,))
    expected = reference.scaled_dot_product_attention(q, k, v, mask)
    views = [np.swapaxes(np.ascontiguousarray(np.swapaxes(a, -1, -2)), -1, -2) for a in (q, k, v, mask)]
    assert not any(a.flags["C_CONTIGUOUS"] for a in views)
    for a in views:
        a.flags.writeable = False
    got = reference.scaled_dot_product_attention(*views)
    np.testing.assert_allclose(got, expected, rtol=1e-13)
    for view, original in zip(views, (q, k, v, mask), strict=True):
        np.testing.assert_array_equal(view, original)


def test_softmax_backward_equals_autograd():
    rng = np.random.default_rng(1)
    x, grad = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 3, 5))
    leaf = torch.from_numpy(x).requires_grad_()
    torch.softmax(leaf, -1).backward(torch.from_numpy(grad))
    np.testing.assert_allclose(reference.softmax_backward(reference.softmax(x), grad), leaf.grad, atol=1e-14)


def test_backward_leaves_its_inputs_unchanged():
    q, k, v, mask = draw(6)
    arrays = (q, k, v, np.ones((3, 2)), mask)
    for array in arrays:
        array.flags.writeable = False
    before = [a.copy() for a in arrays]
    results = reference.attention_backward(*arrays)
    for a, b in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not any(np.shares_memory(r, a) for r in results for a in arrays)
