"""Conversions from and to float16 give numpy's numbers to the bit, in a time that does not depend on the numbers."""

import numpy as np
import pytest

from softlookup_inside.tiles.halves import as_dtype
from softlookup_inside.tiles.operations import DTYPES, compute

HALF = np.dtype(np.float16)
EVERY = np.arange(2**16, dtype=np.uint16).view(np.float16)


def _assert_same(got: np.ndarray, expected: np.ndarray) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got, expected)
    if got.dtype.kind == "f":
        is_number = ~np.isnan(got)
        np.testing.assert_array_equal(np.signbit(got)[is_number], np.signbit(expected)[is_number])


@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
def test_every_half_is_converted_as_numpy_does(dtype: str) -> None:
    with np.errstate(all="ignore"):
        _assert_same(as_dtype(EVERY, np.dtype(dtype)), EVERY.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_at_and_beside_every_tie_are_rounded_as_numpy_does(dtype: str) -> None:
    numbers = np.unique(EVERY[np.isfinite(EVERY)].astype(np.float64))
    ties = ((numbers[1:] + numbers[:-1]) / 2).astype(dtype)
    infinity = np.array(np.inf, dtype)
    with np.errstate(all="ignore"):
        for near in (ties, np.nextafter(ties, infinity), np.nextafter(ties, -infinity)):
            _assert_same(as_dtype(near, HALF), near.astype(HALF))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_bits_are_rounded_as_numpy_does(dtype: str) -> None:
    word = "uint32" if dtype == "float32" else "uint64"
    bits = np.random.default_rng(4).integers(0, np.iinfo(word).max, 100_000, word, endpoint=True).view(dtype)
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519.99, 65520, 65536, 2.0**-25, 2.0**-26, 1e-45])
    with np.errstate(all="ignore"):
        for numbers in (bits, edges.astype(dtype), edges.astype(dtype)[:, None].T, np.array(3e-6, dtype)):
            _assert_same(as_dtype(numbers, HALF), numbers.astype(HALF))


@pytest.mark.parametrize("dtype", [dtype.name for dtype in DTYPES if dtype.kind in "iub"])
def test_whole_numbers_are_rounded_as_numpy_does(dtype: str) -> None:
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    numbers = np.clip(np.arange(-70_000, 70_000), max(low, -70_000), min(high, 70_000)).astype(dtype)
    with np.errstate(all="ignore"):
        _assert_same(as_dtype(numbers, HALF), numbers.astype(HALF))


@pytest.mark.parametrize(
    ("name", "ufunc"), [("add", np.add), ("multiply", np.multiply), ("remainder", np.fmod), ("maximum", np.fmax)]
)
def test_operation_on_halves_gives_what_numpy_gives(name: str, ufunc: np.ufunc) -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.permutation(EVERY) for _ in range(2))
    with np.errstate(all="ignore"):
        # The remainder of two float16 is one of float32 in Triton.
        expected = ufunc(a.astype(np.float32), b.astype(np.float32)) if name == "remainder" else ufunc(a, b)
    _assert_same(compute(name, [a, b], []), expected)
