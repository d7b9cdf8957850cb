"""A reader's own kernel on Triton: the sentence that comes back, and the kernels that it calls."""

import sys
from unittest import mock

import numpy as np
import pytest
import torch

from softlookup.tiles import cdiv, jit, on_triton, tl
from softlookup.tiles.on_triton import MISSING
from tests.tiles.twice import INTERPRETED, import_triton


@jit
def halved(tile):
    return tile / 2


@jit
def halved_twice(tile):
    return halved(halved(tile))


@jit
def mean(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = halved(tl.load(x + at, mask=at < n)) + halved(tl.load(y + at, mask=at < n))
    tl.store(out + at, total + halved_twice(total) - halved_twice(total), mask=at < n)


def launch(kernel):
    x, y = np.arange(10, dtype=np.float32), np.ones(10, np.float32)
    return on_triton(kernel, (cdiv(10, 4),), x, y, np.zeros_like(x), 10, BLOCK=4)


def test_without_triton_a_sentence_says_how_to_install_it() -> None:
    with mock.patch.dict(sys.modules, {"triton": None}):
        assert launch(mean) == MISSING


@pytest.mark.slow
def test_kernels_that_a_kernel_calls_run_on_triton_too() -> None:
    import_triton(INTERPRETED)
    assert launch(mean).startswith("Triton writes the same")


@jit
def short(x, out, n, CASTS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + at, mask=at < n, other=0.0)
    if CASTS:
        tl.store(out + at, (tile.to(tl.float32) * 0.5).to(tl.bfloat16), mask=at < n)
    else:
        tl.store(out + at, tile * 0.5, mask=at < n)


@pytest.mark.slow
@pytest.mark.parametrize(("casts", "sentence"), [(True, "Triton writes the same"), (False, "Triton writes something")])
def test_tensors_of_torch_are_compared_and_left_as_they_are(casts: bool, sentence: str) -> None:
    import_triton(INTERPRETED)
    x, out = torch.arange(10).to(torch.bfloat16), torch.zeros(10, dtype=torch.bfloat16)
    result = on_triton(short, (cdiv(10, 4),), x, out, 10, CASTS=casts, BLOCK=4)
    assert result.startswith(sentence)
    assert result.endswith("or run the kernel on a GPU.") != casts
    assert not out.any()


@pytest.mark.slow
def test_kernels_of_an_enclosing_function_run_on_triton_too() -> None:
    import_triton(INTERPRETED)

    @jit
    def fourth(tile):
        return tile / 4

    @jit
    def fourths(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, fourth(tl.load(x + at, mask=at < n)), mask=at < n)

    assert launch(fourths).startswith("Triton writes the same")


@jit
def summed(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + at, mask=at < n), 0))


def compared(kernel, there, *args, **named):
    """What is said if Triton leaves these arrays; on_triton's other side is put in their place."""
    module = sys.modules["softlookup.tiles.on_triton"]
    values = [*there, *named.values()][: len(args) + len(named)]
    with mock.patch.object(module, "launched", lambda *_, **__: values):
        return on_triton(kernel, (1,), *args, **named)


def test_nan_on_one_side_is_a_difference() -> None:
    x = np.arange(10, dtype=np.float32)
    sentence = compared(summed, [x, np.array([45.0], np.float32), 10], x, np.zeros(1, np.float32), 10, BLOCK=16)
    assert sentence.startswith("Triton writes something else to `out` at [0]: here NaN, there 45.")
    assert "masked load without `other`" in sentence
    sentence = compared(summed, [x, np.array([np.nan], np.float32), 10], x, np.zeros(1, np.float32), 10, BLOCK=16)
    assert sentence.startswith("Triton writes the same")


@pytest.mark.parametrize(
    ("dtype", "close", "far"),
    [("float32", 1e-6, 1e-4), ("float64", 1e-14, 1e-9), ("float16", 1e-3, 1e-2), ("int32", 0, 1)],
)
def test_tolerance_is_that_of_the_dtype(dtype, close, far) -> None:
    x = np.linspace(1, 8, 8).astype(dtype)
    for difference, begin in ((close, "Triton writes the same"), (far, "Triton writes something else to `out` at [3]")):
        there = x.copy()
        there[3] += np.array(8 * difference, dtype)
        sentence = compared(copied, [x, there, 8], x, np.zeros_like(x), 8, BLOCK=8)
        assert sentence.startswith(begin), sentence


def test_arrays_by_name_are_compared() -> None:
    x = np.ones(4, np.float32)
    sentence = compared(copied, [x, 4, 4, x * 2], x, n=4, BLOCK=4, out=np.zeros_like(x))
    assert sentence == (
        "Triton writes something else to `out` at [0]: here 1, there 2. 4 of 4 numbers differ by more than 1e-05 of "
        "their size."
    )


@jit
def copied(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


@pytest.mark.slow
def test_a_masked_load_without_other_differs_from_triton() -> None:
    import_triton(INTERPRETED)
    x = np.arange(10, dtype=np.float32)
    assert "here NaN, there" in on_triton(summed, (1,), x, np.zeros(1, np.float32), 10, BLOCK=16)
