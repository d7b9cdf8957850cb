"""Kernels that are written as few would, and are right."""

from typing import Any

import numpy as np
import pytest
import torch

from softlookup.tiles import Traffic, cdiv, jit, tl
from softlookup.tiles.replay import Step, replay
from softlookup_inside.tiles.tracing import record
from tests.tiles.bodies import kernel_of, launched

X = np.arange(100, dtype=np.float32)
Y = 2 + 2 * X


@jit
def _square(a):
    return a * a


@jit
def _load(p, at, n, other: tl.constexpr = 0.0):
    return tl.load(p + at, mask=at < n, other=other)


ODD = {
    "a jit function as a helper": ("write(square(tl.load(x + at, mask=mask)))", X * X),
    "a helper that loads": ("write(load(x, at, n) + load(y, at, n, other=1.0))", X + Y),
    "a Python function as a helper": (
        "def twice(a):\n    return a + a\nwrite(twice(load(x, at, n)))",
        X + X,
    ),
    "a lambda": ("f = lambda a: a - 1\nwrite(f(load(x, at, n)))", X - 1),
    "pointers moved in place": ("x += at\nout += at\ntl.store(out, tl.load(x, mask=mask) + 1, mask=mask)", X + 1),
    "a pointer that moves back": ("p = x + at + 5\np -= 5\nwrite(tl.load(p, mask=mask))", X),
    "offset and pointer the other way round": ("tl.store(at + out, tl.load(at + x, mask=mask), mask=mask)", X),
    "a tile of pointers with a new axis": (
        "p = (x + at)[:, None]\ntl.store((out + at)[:, None], tl.load(p, mask=mask[:, None]), mask=mask[:, None])",
        X,
    ),
    "places in int64": ("far = at.to(tl.int64)\ntl.store(out + far, tl.load(x + far, mask=mask), mask=mask)", X),
    "a mask as a number": ("write(load(x, at, n) * mask)", X),
    "a mask in whole numbers": ("m = mask.to(tl.int32)\ntl.store(out + at, load(x, at, n), mask=m == 1)", X),
    "masks in a chain": ("tl.store(out + at, load(x, at, n), mask=(at >= 0) & mask & ~(at < 0) & (at != -1))", X),
    "a loop from high to low": (
        "a = load(x, at, n)\nfor i in range(3, 0, -1):\n    a += i\nwrite(a)",
        X + 6,
    ),
    "a while loop": ("i = 0\na = load(x, at, n)\nwhile i < 3:\n    a, i = a + i, i + 1\nwrite(a)", X + 3),
    "tl.static_range": ("a = load(x, at, n)\nfor i in tl.static_range(4):\n    a += i\nwrite(a)", X + 6),
    "tl.range with a hint": (
        "a = load(x, at, n)\nfor i in tl.range(0, 4, 2, num_stages=3):\n    a += i\nwrite(a)",
        X + 2,
    ),
    "a loop over programs": (
        "for i in range(tl.program_id(0), cdiv(n, BLOCK), tl.num_programs(0)):\n"
        "    here = i * BLOCK + tl.arange(0, BLOCK)\n    tl.store(out + here, load(x, here, n), mask=here < n)",
        X,
    ),
    "an argument in an expression": ("half = n // 2\nwrite(load(x, at, n) + half / 4)", X + 12.5),
    "arithmetic of constexpr": ("W: tl.constexpr = BLOCK // 2\nwrite(load(x, at, n) + W)", X + 16),
    "tl.constexpr as a call": ("W = tl.constexpr(3)\nwrite(load(x, at, n) * W)", X * 3),
    "a program that stays out": ("if tl.program_id(0) > 3:\n    return\nwrite(load(x, at, n))", X),
    "programs that differ": (
        "a = load(x, at, n)\nif tl.program_id(0) == tl.num_programs(0) - 1:\n    a = a + 1\n"
        "write(a)",
        X + (X >= 96),
    ),
    "min and max of Python": (
        "last = min(n, (tl.program_id(0) + 1) * BLOCK)\ntl.store(out + at, load(x, at, n), mask=at < last)",
        X,
    ),
    "tl.cdiv of tiles": ("write(tl.cdiv(at, 3).to(tl.float32))", np.ceil(X / 3)),
    "tl.zeros_like": ("a = load(x, at, n)\nwrite(a + tl.zeros_like(a))", X),
    "tl.full of an argument": ("write(tl.full((BLOCK,), n, tl.float32))", X * 0 + 100),
    "a scalar in a tile": ("write(tl.zeros((1,), tl.float32) + load(x, at, n))", X),
    "a loaded scalar": ("write(load(x, at, n) * tl.load(y))", X * 2),
    "a scalar stored": (
        "if tl.program_id(0) == 0:\n    write(0.0)\n    tl.store(out, tl.sum(load(x, at, n)))\n"
        "else:\n    write(0.0)",
        np.where(X == 0, np.arange(32).sum(), 0),
    ),
    "methods of a tile": ("a = load(x, at, n)\nwrite((a - a.max(0)).exp().sum(axis=0) * 0 + a.abs())", X),
    "numbers in boxes": ("boxes = [load(p, at, n) for p in (x, y)]\nwrite(sum(boxes))", X + Y),
    "names in a dictionary": ("d = {'a': load(x, at, n)}\nd['a'] *= 2\nwrite(d['a'])", X * 2),
    "two tiles at once": ("a, b = load(x, at, n), load(y, at, n)\na, b = b, a\nwrite(a - b)", Y - X),
    "two stores, one place": ("write(0.0)\nwrite(load(x, at, n))", X),
    "halves of a tile": (
        "for part in range(2):\n    here = tl.program_id(0) * BLOCK + part * (BLOCK // 2) + tl.arange(0, BLOCK // 2)\n"
        "    tl.store(out + here, load(x, here, n), mask=here < n)",
        X,
    ),
    "programs in reverse": (
        "i = tl.num_programs(0) - 1 - tl.program_id(0)\nhere = i * BLOCK + tl.arange(0, BLOCK)\n"
        "tl.store(out + here, load(x, here, n), mask=here < n)",
        X,
    ),
    "all places modulo n": ("write(tl.load(x + at % n))", X),
    "infinity in where": ("a = tl.where(mask, load(x, at, n), float('-inf'))\nwrite(tl.maximum(a, 5))", X.clip(5)),
    "dtype by its pointer": ("write(load(x, at, n).to(out.dtype.element_ty))", X),
    "hints on caches": ("a = tl.load(x + at, mask=mask, eviction_policy='evict_last')\nwrite(a)", X),
    "hints on places": ("at = tl.max_contiguous(tl.multiple_of(at, 16), 16)\nwrite(load(x, at, n))", X),
    "a reduction by a product": (
        "ones = tl.full((16, BLOCK), 1.0, tl.float32)\n"
        "numbers = load(x, at, n)[:, None] + tl.zeros((1, 16), tl.float32)\n"
        "total = tl.max(tl.max(tl.dot(ones, numbers), 0), 0)\n"
        "write(load(x, at, n) + (total - tl.sum(load(x, at, n))))",
        X,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), ODD.values(), ids=list(ODD))
def test_odd_kernel_gives_what_it_says(body: str, expected: np.ndarray) -> None:
    out, _ = launched(body, square=_square, load=_load, cdiv=cdiv)
    np.testing.assert_array_equal(out, expected)


@jit
def _tiles_of_a_matrix(x, out, *, rows: tl.constexpr, BLOCK: tl.constexpr = 8):
    """Arguments by name alone, a default, and a grid of two axes."""
    i = tl.program_id(0) * 4 + tl.arange(0, 4)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = i[:, None] * 16 + j[None, :]
    tl.store(out + at, tl.load(x + at) * (i[:, None] * rows + j[None, :]))


def test_launch_takes_arguments_by_name_defaults_and_a_grid_that_is_computed() -> None:
    x, out = np.ones((8, 16), np.float32), np.zeros((8, 16), np.float32)
    _tiles_of_a_matrix[lambda named: (2, cdiv(16, named["BLOCK"]))](x, out, rows=16, num_warps=4)
    np.testing.assert_array_equal(out, np.arange(128).reshape(8, 16))


def test_launch_takes_torch_tensors_and_writes_to_them() -> None:
    x, out = torch.arange(8.0, requires_grad=True), torch.zeros(8)
    traffic = kernel_of("tl.store(out + at, tl.load(x + at) * 2)")[(1,)](x, x, out, 8, BLOCK=8)
    assert torch.equal(out, 2 * x)
    assert traffic.read_bytes == 32


def test_watcher_is_shown_each_step_and_its_places() -> None:
    steps: list[Step] = []
    x = np.arange(4, dtype=np.float32)
    args = (x, x.copy(), np.zeros(4, np.float32), 3, 2)
    rows = record(kernel_of("write(tl.load(x + at, mask=mask))"), (2,), args)
    traffic = replay(rows, args, ("x", "y", "out", "n", "BLOCK"), watch=steps.append)
    accesses = [
        (step.program, step.name, step.argument, step.offsets.tolist()) for step in steps if step.offsets is not None
    ]
    expected: list[Any] = [(0, "load", 0, [0, 1]), (0, "store", 2, [0, 1]), (1, "load", 0, [2]), (1, "store", 2, [2])]
    assert accesses == expected
    assert traffic == Traffic(12, 12, 12, 12, 0, 8, [16, 8])
    assert max(step.chip_bytes for step in steps) == 8
