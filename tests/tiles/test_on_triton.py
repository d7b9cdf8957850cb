"""A reader's own kernel on Triton: the sentence that comes back, and the kernels that it calls."""

import sys
from unittest import mock

import numpy as np
import pytest

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
