"""Small kernels that Triton's compiler takes, and others that it refuses, as text."""

import itertools
import linecache
import math
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from softlookup.tiles import Kernel, cdiv, jit, tl

FOLDER = Path(__file__).parent

_HEAD = """
@jit
def kernel(x, y, out, h, ints, n, a, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    t = tl.load(x + at, mask=mask, other=0.0)
"""
_END = "    tl.store(out + at, t, mask=mask)\n"

_numbers = itertools.count()


def texts(verdict: str) -> list[str]:
    """The texts of all kernels that are "taken" or "refused": what stands outside, `---`, and the kernel's lines."""
    return (FOLDER / f"kernels_{verdict}.txt").read_text(encoding="utf-8").strip("\n").split("\n\n")


def kernel_of(text: str) -> Kernel:
    """The kernel ``(x, y, out, h, ints, n, a, BLOCK: tl.constexpr)`` of a text.

    It begins with ``t`` of ``x``, at ``at`` where ``mask`` holds, and ends with a store of ``t`` to ``out``; ``h`` is
    in float16, ``ints`` in int32, ``a`` a float.
    """
    outside, _, lines = text.rpartition("---\n")
    kernel: Kernel = defined(f"{outside}{_HEAD}{textwrap.indent(lines, '    ')}\n{_END}")["kernel"]
    return kernel


def defined(source: str) -> dict[str, Any]:
    """The names that a cell of a notebook about kernels defines; its lines are kept, as a notebook keeps them."""
    name = f"<kernels {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {"__name__": "kernels", "np": np, "math": math, "jit": jit, "tl": tl, "cdiv": cdiv}
    exec(compile(source, name, "exec"), space)
    return space


def arguments(n: int) -> list[Any]:
    """What such a kernel is called with."""
    dtypes = ("float32", "float32", "float32", "float16", "int32")
    return [np.ones(1024, dtype) for dtype in dtypes] + [n, 2.5, 16]
