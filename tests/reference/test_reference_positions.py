"""The reference's positions: against the formulas by loops, complex numbers, and the laws they have to keep."""

import math

import numpy as np
import pytest

from softlookup.reference.positions import alibi_slopes, angles, rotary, sinusoidal
from tests.refusing import refused


@pytest.mark.parametrize(("length", "width", "offset", "base"), [(1, 2, 0, 1e4), (7, 6, 0, 50.0), (5, 8, 90, 10.0)])
def test_sinusoids_equal_loops_over_the_paper(length, width, offset, base):
    got = sinusoidal(length, width, offset=offset, base=base)
    halves = sinusoidal(length, width, offset=offset, base=base, layout="halves")
    for t in range(length):
        for i in range(width // 2):
            angle = (t + offset) / base ** (2 * i / width)
            assert got[t, 2 * i] == pytest.approx(math.sin(angle), abs=1e-12) == halves[t, i]
            assert got[t, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12) == halves[t, i + width // 2]
            assert angles(np.array([t + offset]), width, base)[0, i] == pytest.approx(angle, rel=1e-13)


def test_default_base_is_that_of_the_paper():
    assert sinusoidal(2, 4)[1, 2] == pytest.approx(math.sin(0.01), abs=1e-15)
    assert rotary(np.eye(4)[[2, 2]])[1, 3] == pytest.approx(math.sin(0.01), abs=1e-15)


@pytest.mark.parametrize("offset", [0, 11])
def test_rotation_is_a_product_with_a_unit_complex_number(offset):
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 6))
    unit = np.exp(1j * angles(np.arange(offset, offset + 5), 6, 30.0))
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * unit
    got = rotary(x, offset=offset, base=30.0)
    np.testing.assert_allclose(got[..., 0::2], turned.real, atol=1e-13)
    np.testing.assert_allclose(got[..., 1::2], turned.imag, atol=1e-13)
    turned = (x[..., :3] + 1j * x[..., 3:]) * unit
    got = rotary(x, offset=offset, base=30.0, pairing="halves")
    np.testing.assert_allclose(got, np.concatenate([turned.real, turned.imag], -1), atol=1e-13)


test_what_does_not_fit_is_named = refused(
    (lambda: angles(np.zeros(3), 4), TypeError, "positions has dtype float64; wanted integers"),
    (lambda: angles(np.arange(3), 5), "width must be even and at least 2.* got 5"),
    (lambda: sinusoidal(3, 0), "got 0"),
    (lambda: sinusoidal(0, 4), "length must be at least 1; got 0"),
    (lambda: sinusoidal(3, 4, layout="mixed"), "layout is 'mixed'; wanted interleaved or halves"),
    (lambda: rotary(np.zeros((3, 5))), "got 5"),
    (lambda: rotary(np.zeros(4)), r"x has shape \(4,\); wanted at least two axes"),
    (lambda: rotary(np.zeros((3, 4)), pairing="thirds"), "pairing is 'thirds'"),
    (lambda: alibi_slopes(0), "n_heads must be at least 1; got 0"),
)
