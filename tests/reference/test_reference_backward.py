"""The gradients by hand: against autograd, against finite differences, and where a mask leaves nothing."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from softlookup import reference


def draw(seed, batch=(), t=3, s=5, h=4, hv=2):
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=(*batch, *shape)) for shape in ((t, h), (s, h), (s, hv), (t, hv))]
    mask = rng.random((*batch, t, s)) < 0.6
    return arrays, mask


def autograd(function, arrays, grad):
    leaves = [torch.from_numpy(a).requires_grad_() for a in arrays]
    function(*leaves).backward(torch.from_numpy(grad))
    return [leaf.grad.numpy() for leaf in leaves]


def slopes(function, arrays, grad, step=1e-6):
    """Central differences of sum(function * grad), one number of one array at a time."""
    gradients = []
    for which, array in enumerate(arrays):
        slope = np.zeros_like(array)
        for cell in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [a.copy() for a in arrays]
                moved[which][cell] += sign * step
                ends.append((function(*moved) * grad).sum())
            slope[cell] = (ends[0] - ends[1]) / (2 * step)
        gradients.append(slope)
    return gradients


def test_softmax_backward_equals_autograd():
    rng = np.random.default_rng(1)
    x, grad = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 3, 5))
    (expected,) = autograd(lambda x: torch.softmax(x, -1), [x], grad)
    np.testing.assert_allclose(reference.softmax_backward(reference.softmax(x), grad), expected, atol=1e-14)


@given(st.integers(0, 10**6), st.sampled_from([(), (2,), (2, 3)]), st.integers(1, 4), st.integers(1, 4))
def test_attention_backward_equals_autograd(seed, batch, t, s):
    (q, k, v, grad), mask = draw(seed, batch, t, s)
    mask[..., 0] = True
    allowed = torch.from_numpy(mask)
    expected = autograd(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=allowed), [q, k, v], grad)
    got = reference.attention_backward(q, k, v, grad, mask)
    for g, w in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
def test_attention_backward_equals_finite_differences_fully_masked_rows_included(masked):
    (q, k, v, grad), mask = draw(3)
    mask[1] = False
    mask = mask if masked else None
    got = reference.attention_backward(q, k, v, grad, mask)
    expected = slopes(lambda q, k, v: reference.scaled_dot_product_attention(q, k, v, mask), [q, k, v], grad)
    for g, w in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, w, atol=1e-8)


def test_backward_leaves_its_inputs_unchanged():
    (q, k, v, grad), mask = draw(6)
    for array in (q, k, v, grad, mask):
        array.flags.writeable = False
    before = [a.copy() for a in (q, k, v, grad)]
    results = reference.attention_backward(q, k, v, grad, mask)
    for a, b in zip((q, k, v, grad), before, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not any(np.shares_memory(r, a) for r in results for a in (q, k, v, grad))
