"""The reference's norms: against torch's layers, and the properties in their names."""

import numpy as np
import pytest
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import from_numpy

from softlookup.reference.norms import layer_norm, rms_norm

D = 6


def draw(seed, shape=(2, 3, D)):
    rng = np.random.default_rng(seed)
    return 3 + 5 * rng.normal(size=shape), rng.normal(size=D), rng.normal(size=D)


@given(st.integers(0, 10**6), st.sampled_from([(D,), (3, D), (2, 1, 3, D)]), st.sampled_from([1e-5, 0.7]))
def test_norms_equal_torch(seed, shape, eps):
    x, gain, shift = draw(seed, shape)
    x_t, gain_t, shift_t = map(from_numpy, (x, gain, shift))
    expected = F.layer_norm(x_t, (D,), gain_t, shift_t, eps)
    np.testing.assert_allclose(layer_norm(x, gain, shift, eps), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        layer_norm(x, gain, eps=eps), F.layer_norm(x_t, (D,), gain_t, eps=eps), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(rms_norm(x, gain, eps), F.rms_norm(x_t, (D,), gain_t, eps), rtol=0, atol=1e-12)


def test_defaults_are_those_of_the_papers_programs():
    x, gain, shift = draw(1)
    np.testing.assert_array_equal(layer_norm(x, gain, shift), layer_norm(x, gain, shift, 1e-5))
    np.testing.assert_array_equal(rms_norm(x, gain), rms_norm(x, gain, 1e-6))


def test_equal_numbers_give_the_shift_and_float32_comes_back_as_float64():
    shift = np.arange(4.0)
    np.testing.assert_array_equal(layer_norm(np.full((1, 4), 5, dtype=np.float32), np.ones(4), shift), [shift])
    assert rms_norm(np.zeros((1, 4), dtype=np.float32), np.ones(4)).dtype == np.float64


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: layer_norm(np.zeros((2, 3)), np.ones(4)), r"gain has shape \(4,\), x has \(2, 3\)"),
        (lambda: layer_norm(np.zeros((2, 3)), np.ones((1, 3))), r"gain has shape \(1, 3\)"),
        (lambda: layer_norm(np.zeros((2, 3)), np.ones(3), np.ones(1)), r"shift has shape \(1,\)"),
        (lambda: rms_norm(np.zeros((2, 3)), np.ones(1)), r"gain has shape \(1,\).* one number for each of x's D"),
    ],
)
def test_rows_of_another_width_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
