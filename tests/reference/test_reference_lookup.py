"""The soft lookup against torch's own functions, at its limits, and where it refuses."""

import numpy as np
import pytest
import torch

from softlookup import reference

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("tau", [0.02, 0.5, 1.0, 7.0])
def test_soft_lookup_is_torchs_attention_with_another_scale(tau):
    q, k, v = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 4)), RNG.normal(size=(2, 5, 6))
    expected = torch.nn.functional.scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v)), scale=1 / tau)
    np.testing.assert_allclose(reference.soft_lookup(q, k, v, tau), expected.numpy(), rtol=1e-10, atol=1e-12)


def test_attention_is_a_soft_lookup_at_the_root_of_the_head_width():
    q, k, v = RNG.normal(size=(3, 7)), RNG.normal(size=(4, 7)), RNG.normal(size=(4, 2))
    np.testing.assert_allclose(
        reference.soft_lookup(q, k, v, 7**0.5), reference.scaled_dot_product_attention(q, k, v), rtol=1e-12
    )


def test_cosines_are_torchs_and_know_no_length():
    q, k = RNG.normal(size=(3, 5)), RNG.normal(size=(4, 5))
    expected = torch.cosine_similarity(torch.from_numpy(q)[:, None], torch.from_numpy(k)[None], dim=-1).numpy()
    np.testing.assert_allclose(reference.cosine_similarity(q, k), expected, rtol=1e-12)
    np.testing.assert_allclose(reference.cosine_similarity(1e-100 * q, 1e100 * k), expected, rtol=1e-12)
    assert np.abs(reference.cosine_similarity(q, np.vstack([3 * q, -q]))).max() <= 1.0


@pytest.mark.parametrize("scale", [1e200, 1e307, 1e-200, 1e-300])
def test_cosines_hold_where_squares_overflow_or_vanish(scale):
    q, k = RNG.normal(size=(3, 5)), RNG.normal(size=(4, 5))
    expected = reference.cosine_similarity(q, k)
    for a, b in ((scale, 1.0), (1.0, scale), (scale, scale), (scale, 1 / scale)):
        np.testing.assert_allclose(reference.cosine_similarity(a * q, b * k), expected, rtol=1e-12)


def test_cosine_with_a_vector_of_zeros_is_zero():
    assert reference.cosine_similarity(np.zeros((1, 2)), np.ones((2, 2))).tolist() == [[0.0, 0.0]]


def test_weights_go_to_the_limits_as_the_temperature_does():
    scores = np.array([[1.0, 3.0, 3.0, -2.0], [0.0, -1.0, 5.0, 4.75]])
    cold, hot = reference.lookup_weights(scores, 0.0), reference.lookup_weights(scores, np.inf)
    assert cold.tolist() == [[0, 0.5, 0.5, 0], [0, 0, 1, 0]] and (hot == 0.25).all()
    np.testing.assert_allclose(reference.lookup_weights(scores, 1e-3), cold, atol=1e-12)
    np.testing.assert_allclose(reference.lookup_weights(scores, 1e9), hot, atol=1e-8)


@pytest.mark.parametrize("tau", [0.0, 1e-320, 0.3, np.inf])
def test_keys_that_may_not_be_chosen_get_nothing_at_any_temperature(tau):
    weights = reference.lookup_weights(np.array([[2.0, -np.inf, 1.0], [-np.inf] * 3]), tau)
    assert weights[0, 1] == 0 and weights[0].sum() == pytest.approx(1)
    assert weights[1].tolist() == [0, 0, 0]


def test_smallest_temperatures_overflow_nothing():
    weights = reference.lookup_weights(np.array([1000.0, 1000.5, -1e300]), 1e-300)
    assert weights.tolist() == [0, 1, 0]


@pytest.mark.parametrize("tau", [-1.0, np.nan])
def test_temperature_that_is_none_is_refused(tau):
    with pytest.raises(ValueError, match="a temperature is 0 or more"):
        reference.lookup_weights(np.ones(3), tau)


def test_infinite_score_is_refused_at_every_temperature():
    for tau in (0.0, 1.0, np.inf):
        with pytest.raises(ValueError, match=r"got \+inf in scores of shape \(2,\)"):
            reference.lookup_weights(np.array([1.0, np.inf]), tau)


@pytest.mark.usefixtures("unchecked")
def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="k has head width 3, q has 2"):
        reference.soft_lookup(np.ones((1, 2)), np.ones((4, 3)), np.ones((4, 1)))
    with pytest.raises(ValueError, match="each key needs one value"):
        reference.soft_lookup(np.ones((1, 2)), np.ones((4, 2)), np.ones((3, 1)))
    with pytest.raises(ValueError, match="k has head width 3, q has 2"):
        reference.cosine_similarity(np.ones((1, 2)), np.ones((4, 3)))
