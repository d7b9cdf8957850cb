"""Linear attention in numpy: weights by hand, and at the edges."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from softlookup.reference.linear_attention import elu_plus_one, linear_attention, linear_attention_weights
from tests.refusing import refused


def draw(seed, t=4, s=6, h=3, hv=2):
    rng = np.random.default_rng(seed)
    return (*(rng.normal(size=shape) for shape in ((t, h), (s, h), (s, hv))), rng.random((t, s)) < 0.6)


def f(x):
    return x + 1 if x > 0 else math.exp(x)


@given(st.integers(0, 10**6), st.booleans())
def test_weights_are_dot_products_of_features_over_their_sum(seed, masked):
    q, k, v, mask = draw(seed)
    mask = mask if masked else np.ones_like(mask)
    similar = [
        [sum(f(a) * f(b) for a, b in zip(q_t, k_s, strict=True)) * mask[t, s] for s, k_s in enumerate(k)]
        for t, q_t in enumerate(q)
    ]
    expected = np.array([[x / (sum(row) or 1.0) for x in row] for row in similar])
    got = linear_attention_weights(q, k, mask if masked else None)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(linear_attention(q, k, v, mask if masked else None), expected @ v, rtol=0, atol=1e-14)


def test_large_numbers_do_not_overflow():
    assert elu_plus_one(np.array([1e4, -1e4])).tolist() == [10001.0, 0.0]


Q, K, VALUES, _ = draw(3)

test_what_does_not_fit_is_named = refused(
    (lambda: linear_attention(Q, np.zeros((6, 4)), VALUES), "head width 4, q has 3"),
    (lambda: linear_attention(Q, K, np.zeros((5, 2))), r"v has shape \(5, 2\)"),
    (lambda: linear_attention(Q, K, VALUES, np.ones((4, 5), bool)), r"mask has shape \(4, 5\)"),
    (lambda: linear_attention(Q, K, VALUES, np.ones((4, 6))), TypeError, "mask has dtype float64"),
)
