"""What a beginner does wrong with a kernel gets a sentence that helps."""

import math
import re
from typing import Any

import numpy as np
import pytest
import torch

from softlookup.tiles import KernelError, jit, tl
from tests.tiles.bodies import kernel_of, launched

WRONG = [
    ("tl.lod(x + at)", AttributeError, "tl has no 'lod' here: did you mean tl.load?"),
    ("tl.atomic_add(x, 1)", AttributeError, "tl has no 'atomic_add' here, where Triton has it: programs run one after"),
    ("tl.load(x[0])", KernelError, r"numbers are read with tl.load\(pointer \+ offsets\), not with an index"),
    ("x[at] = 1", KernelError, r"numbers are written with tl.store\(pointer \+ offsets, value\), not with an index"),
    ("tl.load(at)", KernelError, "tl.load takes a pointer first"),
    ("tl.store(tl.load(x + at, mask=mask), out + at)", KernelError, "tl.store takes a pointer first"),
    ("tl.store(out + at, y + at)", KernelError, "a pointer is no tile: read what it points to with tl.load"),
    ("tl.load(x + at) + y", KernelError, "or a tile of them; got <tl.float32 tile of shape"),
    ("2 * x", KernelError, "a pointer is a place, no number"),
    ("x + y", KernelError, "a pointer moves by whole numbers, or a tile of them; got a pointer"),
    ("x + 0.5", KernelError, "a pointer moves by whole numbers, or a tile of them"),
    ("x + at / 2", KernelError, "a pointer moves by whole numbers, or a tile of them"),
    ("tl.load(x + at < n)", KernelError, "a pointer is not compared: write `x \\+ cols` and the mask `cols < n` apart"),
    (
        "if tl.load(x) > 0:\n    pass",
        KernelError,
        "a number that is loaded, or computed from such, can be a condition in Triton, and not here",
    ),
    ("max(tl.load(x), 0.0)", KernelError, "use tl.where, tl.maximum, tl.minimum or a mask"),
    ("tl.zeros((16, 16), tl.float32) @ tl.zeros((16, 16), tl.float32)", KernelError, r"use tl.dot\(a, b\)"),
    ("tl.load(x + at, mask=0 <= at < n)", KernelError, "`max` and `min` need them: use tl.where, `&` and `|`"),
    ("tl.load(x + at, mask=mask and at > 2)", KernelError, "use tl.where, `&` and `|`"),
    ("for i in range(tl.load(x)):\n    pass", KernelError, "can be a bound of a loop in Triton, and not here"),
    ("for i in range(at):\n    pass", KernelError, "a loop or an index needs them: loop over whole numbers"),
    ("if at:\n    pass", KernelError, "`max` and `min` need them: use tl.where"),
    ("x * tl.load(x) ** 2", KernelError, r"`\*\*` takes constants alone in Triton: write `x \* x`"),
    ("tl.float32(n)", KernelError, r"tl.float32 is no function: cast a tile or a scalar with `.to\(tl.float32\)`"),
    ("at.to(x.dtype)", KernelError, "the dtype of a pointer to tl.float32 is no dtype of numbers: write `.dtype.elem"),
    (
        "tl.zeros(16, tl.float32)",
        KernelError,
        r"a shape is a tuple, as in `tl.zeros\(\(BLOCK,\), tl.float32\)`; got 16",
    ),
    ("for i in at:\n    pass", KernelError, "a loop over a tile needs them: work on the whole tile at once"),
    ("at[0]", KernelError, "a tile is indexed with `:` and `None` alone"),
    ("at[mask]", KernelError, "a tile is indexed with `:` and `None` alone"),
    ("at[0] = 1", KernelError, "a tile's numbers are not set one by one: make a new tile with tl.where"),
    ("at[:, :, None]", KernelError, r"too many indices for a tile of shape \(32,\)"),
    ("np.exp(at)", KernelError, "numpy and torch cannot compute with a tile: use tl"),
    ("np.sum(at)", KernelError, "numpy and torch cannot compute with a tile: use tl"),
    ("np.array(at)", KernelError, "numpy and torch cannot compute with a tile: use tl"),
    ("torch.exp(at)", KernelError, "numpy and torch cannot compute with a tile: use tl"),
    ("math.exp(at)", KernelError, "cannot compute with a tile or a scalar: use those of tl"),
    ("math.sqrt(n)", KernelError, "cannot compute with a tile or a scalar: use those of tl"),
    ("tl.exp(at)", KernelError, r"tl.exp takes float32, got int32: write `.to\(tl.float32\)` before it"),
    ("tl.exp(at.to(tl.float16))", KernelError, "tl.exp takes float32, got float16"),
    ("at.to(np.float16)", KernelError, "a dtype of tl is needed here"),
    ("at.to(float)", KernelError, "a dtype of tl is needed here"),
    ("at.mean()", AttributeError, "a tile has no 'mean', and neither has Triton"),
    ("tl.arange(0, 100)", KernelError, r"the length of tl.arange\(0, 100\) must be a power of 2"),
    ("tl.arange(0, n)", KernelError, "arguments marked as in `BLOCK: tl.constexpr`"),
    ("tl.zeros((n,), tl.float32)", KernelError, "arguments marked as in `BLOCK: tl.constexpr`"),
    ("tl.arange(4, 4)", KernelError, "must be a power of 2, at least 1"),
    ("tl.zeros((100,), tl.float32)", KernelError, r"a tile's sizes are powers of 2, got \(100,\)"),
    ("tl.zeros((1024, 1024), tl.float32)", KernelError, "is too large: it may hold 131,072 numbers"),
    ("tl.zeros((2, 2, 2, 2), tl.float32)", KernelError, "a shape has up to three sizes"),
    ("tl.full((4,), 0.5, tl.int32)", KernelError, "tl.full takes a whole number for int32, got 0.5"),
    ("tl.full((4,), at, tl.int32)", KernelError, "tl.full takes one number, got a tile of shape"),
    ("at + tl.arange(0, 16)", KernelError, r"tiles of shapes \(32,\) and \(16,\) do not fit together: `\[:, None\]`"),
    ("tl.sum(at, axis=1)", KernelError, r"a tile of shape \(32,\) has no axis 1, which tl.sum is called with"),
    ("tl.max(3.0)", KernelError, r"a tile of shape \(\) has no axis"),
    ("tl.dot(at, at)", KernelError, r"tl.dot multiplies tiles \(M, K\) and \(K, N\), got \(32,\) and \(32,\)"),
    (
        "tl.dot(at[:, None] + tl.zeros((1, 4), tl.float32), tl.zeros((4, 32), tl.float32))",
        KernelError,
        r"tl.dot of float32 multiplies .* where K is at least 8, got \(32, 4\) and \(4, 32\)",
    ),
    ("tl.dot(tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.float32))", KernelError, "got float16 and float32"),
    (
        "tl.dot(*[tl.zeros((16, 16), tl.float16)] * 2, tl.zeros((16, 32), tl.float32))",
        *(KernelError, r"adds to a float32 tile of shape \(16, 16\), got float32 of shape \(16, 32\)"),
    ),
    ("tl.dot(*[tl.zeros((16, 16), tl.float16)] * 2, out_dtype=tl.int8)", KernelError, "tl.dot gives tl.float32 or"),
    ("tl.trans(at)", KernelError, r"tl.trans takes a tile with two axes or more, got shape \(32,\)"),
    ("tl.reshape(at, (4, 4))", KernelError, r"a tile of shape \(32,\) cannot be reshaped to \(4, 4\)"),
    ("tl.broadcast_to(at, (32, 32))", KernelError, r"a tile of shape \(32,\) cannot be broadcast to \(32, 32\)"),
    ("tl.store(out, at)", KernelError, "tl.store has a tile beside a pointer to a single number: add tl.arange"),
    ("tl.store(out + at, at[:, None])", KernelError, r"a tile of shape \(32, 32\) to a pointer of shape \(32,\)"),
    ("tl.load(x + at, mask=at)", KernelError, "the mask of tl.load is a tile of booleans, as `cols < n` is; got int32"),
    ("tl.load(x + at, other=0)", KernelError, "tl.load takes `other` beside a `mask` alone"),
    ("tl.load(x + at, mask=mask, other='zero')", KernelError, "a tile or a number is needed here, got str"),
    ("tl.where(mask, x, 0)", KernelError, "a pointer is no tile: read what it points to with tl.load"),
    ("tl.where(mask, at)", KernelError, "tl.where takes condition, x, y: missing a required argument"),
    ("tl.program_id(3)", KernelError, "tl.program_id takes an axis 0, 1 or 2, got 3"),
    ("~tl.load(x + at, mask=mask)", KernelError, "`~` takes whole numbers or booleans, got float32"),
    ("tl.load(x + at, mask=mask) // 2", KernelError, "`//` takes whole numbers or booleans, got float32"),
    ("mask // mask", KernelError, "`//` takes no booleans"),
    ("at.to(tl.uint8) * 300", KernelError, "the number 300 is outside of uint8: cast the tile first"),
    ("at.to(tl.uint8) // at", KernelError, "`//` takes two numbers with a sign or two without, got uint8 and int32"),
    ("tl.static_assert(BLOCK < 8, 'small blocks alone')", KernelError, "small blocks alone"),
    ("return at", KernelError, "a kernel returns nothing: it stores its results with tl.store"),
    ("range(2.5 * n)", KernelError, "a whole number is needed here, got 250"),
    ("for i in range(11000):\n    at += 1", KernelError, "the programs do more than 10,000 operations on tiles"),
    ("kept.append(at)\nkept[0] + at", KernelError, "a tile of another program is not on this chip"),
]


@pytest.mark.parametrize(("body", "error", "message"), WRONG, ids=[body for body, _, _ in WRONG])
def test_kernel_error_says_what_to_do(body: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        launched(body, math=math, torch=torch, kept=[])


@jit
def _copy(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


@pytest.mark.parametrize(
    ("grid", "x", "message"),
    [
        ((0,), np.ones(4), "a grid is one to three counts, together at most 4,096 programs; got (0,)"),
        ((2, 2, 2, 2), np.ones(4), "a grid is one to three counts"),
        ((5000,), np.ones(4), "together at most 4,096 programs; got (5000,)"),
        ((1.0,), np.ones(4), "a grid is one to three counts"),
        ((1,), [1.0, 2.0], "`x` is a list: a kernel takes arrays and numbers"),
        ((1,), np.ones(4, complex), "`x` holds complex128, which tl does not know"),
        ((1,), torch.ones(4).to(torch.float8_e4m3fn), "`x` cannot be used as an array"),
        ((1,), 2**60, "`x` is 1152921504606846976: whole numbers stay below 2^53"),
        ((1,), np.ones((4, 4)).T, "`x` is not in one piece in memory: copy it with np.ascontiguousarray"),
    ],
)
def test_launch_refuses_arguments_with_a_sentence(grid: Any, x: Any, message: str) -> None:
    error = ValueError if "piece" in message else KernelError
    with pytest.raises(error, match=re.escape(message)):
        _copy[grid](x, np.ones(4), 4, BLOCK=16)


def test_kernel_without_a_grid_or_an_argument_says_so() -> None:
    x = np.ones(16)
    with pytest.raises(TypeError, match=r"launch a kernel with a grid: _copy\[grid\]"):
        _copy(x, x, 16, BLOCK=16)
    with pytest.raises(TypeError, match="missing a required argument: 'BLOCK'"):
        _copy[(1,)](x, x, 16)
    with pytest.raises(KernelError, match="`tl` works inside a kernel alone: launch it as"):
        tl.arange(0, 4)


def test_printing_in_a_kernel_says_what_a_tile_is(capsys: pytest.CaptureFixture[str]) -> None:
    kernel_of("print(at, n, tl.program_id(0), x)")[(1,)](np.ones(4), np.ones(4), np.ones(4), 4, BLOCK=4)
    assert capsys.readouterr().out == "<tl.int32 tile of shape (4,)> 4 0 <pointer to tl.float64>\n"
