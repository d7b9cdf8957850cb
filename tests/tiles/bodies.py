"""Kernels from a few lines of text, launched on small arrays."""

from textwrap import indent
from typing import Any

import numpy as np

from softlookup.tiles import Kernel, Traffic, jit, tl


def kernel_of(body: str, **names: Any) -> Kernel:
    """A kernel ``(x, y, out, n, BLOCK: tl.constexpr)`` of these lines.

    ``at`` and ``mask`` cover ``n`` numbers, and ``write(tile)`` stores to ``out`` there.

    Args:
        body: What it does.
        **names: What it sees besides.
    """
    begin = (
        "at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\nmask = at < n\n"
        "write = lambda tile: tl.store(out + at, tile, mask=mask)\n"
    )
    text = f"def kernel(x, y, out, n, BLOCK: tl.constexpr):\n{indent(begin + body, '    ')}\n"
    namespace: dict[str, Any] = {"tl": tl, "np": np, "jit": jit, **names}
    exec(text, namespace)
    return jit(namespace["kernel"])


def launched(body: str, grid: tuple[int, ...] = (4,), n: int = 100, **names: Any) -> tuple[np.ndarray, Traffic]:
    """What such a kernel writes, of ``x`` = 0, 1, 2, ... and ``y`` = 2, 4, 6, ... in float32, and what it costs."""
    x, y = np.arange(n, dtype=np.float32), 2 + 2 * np.arange(n, dtype=np.float32)
    out = np.full(n, np.nan, np.float32)
    return out, kernel_of(body, **names)[grid](x, y, out, n, BLOCK=32)
