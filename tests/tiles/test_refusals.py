"""What is said of a kernel that Triton's compiler refuses, and that nothing else changes by it."""

import traceback

import numpy as np
import pytest

from softlookup.tiles import KernelError, jit, tl
from softlookup_inside.tiles.tracing import record
from tests.tiles import conformance, kernels

SENTENCES = {
    "s = 0\nfor i in range(n):\n    s = s + tl.sum(t, 0)\nt = t + s": "`s` is a tl.int32 scalar before a loop and a "
    "tl.float32 scalar after a turn of it, and Triton's compiler refuses a loop that changes a variable's type: begin "
    "with a float, as in `s = 0.0`",
    "s = 0.0\nwhile n > 0:\n    s = s + t\n    n = n - 1\nt = t + s": "begin with a tile of shape (16,), "
    "written with the constants of the kernel, as in `s = tl.full((BLOCK,), 0.0, tl.float32)`",
    "TAU = 2.0\n---\nt = t / TAU": "`TAU` is a global variable, and Triton's compiler lets a kernel use those only as "
    "constants: write `TAU = tl.constexpr(2.0)` outside",
    "def twice(u):\n    return u * 2\n---\nt = twice(t)": "`twice` is a plain function of Python, which Triton's "
    "compiler cannot call from a kernel: write @jit above `def twice`",
    "for i in range(cdiv(n, BLOCK)):\n    t += i": "in a kernel write tl.cdiv",
    "f = lambda u: u\nt = f(t)": "no lambda in a kernel: write a function outside, with @jit above it",
    "d = {'a': t}\nt = d['a']": "no dict in a kernel: give each value a name",
    "t = np.float32(2) * t": "`np.float32` is no function of a kernel to Triton's compiler: use those of tl",
    "d = []\nd.append(t)": "a list is a tuple to Triton's compiler, which cannot `append`",
    "b = 16\nt = t + tl.arange(0, b)": "tl.arange takes whole numbers that stand in the kernel",
    "for i in range(n):\n    u = t * i\nt = u": "`u` is assigned in a loop and used outside of that turn",
    "if n > 3:\n    s = 1.0\nt = t + s": "`s` is assigned in one branch of an `if` on a number of the launch",
    "for i in range(n):\n    if i > 300:\n        break": "no `break` in a kernel",
    "t = t * (2 if n > 3 else 3.0)": "is a tl.int32 scalar in one case and a tl.float32 scalar in the other",
}


@pytest.mark.parametrize("text", list(SENTENCES))
def test_sentence_says_what_to_write_instead(text: str) -> None:
    with pytest.raises(KernelError) as error:
        record(conformance.kernel_of(text), (2,), conformance.arguments(7))
    assert SENTENCES[text] in str(error.value)


def test_traceback_shows_the_line_of_the_kernel() -> None:
    kernel = conformance.kernel_of("t = t + 1\nt = t + abs(t)")
    with pytest.raises(KernelError) as error:
        record(kernel, (1,), conformance.arguments(7))
    lines = [frame.line for frame in traceback.extract_tb(error.value.__traceback__) if frame.name == "kernel"]
    assert lines == ["t = t + abs(t)"]


@pytest.mark.parametrize("name", ["add", "softmax", "matmul with a function", "causal attention", "rotated", "grids"])
def test_numbers_and_costs_are_those_of_a_kernel_without_text(name: str) -> None:
    kernel, grid, args, named, written = kernels.CASES[name]
    hidden = type(kernel.function)(
        kernel.function.__code__.replace(co_filename="<nowhere>"), kernel.function.__globals__
    )
    hidden.__annotations__ = kernel.function.__annotations__
    hidden.__defaults__ = kernel.function.__defaults__
    results = []
    for each in (kernel, jit(hidden)):
        arrays = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        cost = each[grid](*arrays, **named)
        results.append((cost, [arrays[at].tobytes() for at in written]))
    assert results[0] == results[1]


def test_a_blank_kernel_raises_what_its_cell_says() -> None:
    with pytest.raises(NotImplementedError):
        record(conformance.kernel_of("raise NotImplementedError"), (1,), conformance.arguments(7))


def test_constants_are_numbers_everywhere_else() -> None:
    tau, sizes, name = tl.constexpr(2.0), tl.constexpr((4, 4)), tl.constexpr("relu")
    assert (tau / 2, sizes, name) == (1.0, (4, 4), "relu")
    assert tl.constexpr(tl.float32) is tl.float32
    text = "K = tl.constexpr(16)\nHALF = K // 2 + 8\n---\nt = t + tl.arange(0, HALF)"
    record(conformance.kernel_of(text), (1,), conformance.arguments(7))
