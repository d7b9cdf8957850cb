"""Add, multiply, add: three passes over memory and fewer, in C, numpy and torch."""

from collections.abc import Callable

import numpy as np

from benchmarks import compiled

BLOCK = 1 << 15
"""Numbers in a block: 128 KiB of float32, which a second-level cache holds."""

Arrays = tuple[np.ndarray, ...]
Way = Callable[[], object]


def operands(n: int, seed: int = 0) -> Arrays:
    """A, B, C, D, and room for E and two arrays in between: seven arrays (n,), float32, every page touched.

    Raises:
        ValueError: If n is not a multiple of 32, or not above 0.
    """
    if n <= 0 or n % 32:
        raise ValueError(f"n is {n}, wanted a multiple of 32 above 0")
    rng = np.random.default_rng(seed)
    inputs = tuple(rng.random(n, dtype=np.float32) for _ in range(4))
    return *inputs, *(np.full(n, np.float32(np.nan)) for _ in range(3))


def numpy_chain(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, e: np.ndarray, *tmp: np.ndarray) -> None:
    """Three passes; two arrays hold what lies in between."""
    np.add(a, b, out=tmp[0])
    np.multiply(tmp[0], c, out=tmp[1])
    np.add(tmp[1], d, out=e)


def numpy_blocks(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, e: np.ndarray, *tmp: np.ndarray) -> None:
    """The same three steps for one block after another: what lies in between never leaves the cache."""
    for at in range(0, a.size, BLOCK):
        part = slice(at, at + BLOCK)
        near = tmp[0][: e[part].size]
        np.add(a[part], b[part], out=near)
        np.multiply(near, c[part], out=near)
        np.add(near, d[part], out=e[part])


def ways(arrays: Arrays) -> dict[str, dict[str, Way]]:
    """Every way of computing E = D + (A + B) * C that this machine has, each in passes and with fewer bytes.

    Args:
        arrays: What ``operands`` made; every way writes to the fifth.

    Returns:
        For "C" (where there is a compiler), "numpy" and "torch": "chain", "fused" and for C "fused_around", ready to
        be called. numpy cannot fuse; its "fused" goes block by block. torch's "fused" is ``addcmul`` after one ``add``.
    """
    import torch

    a, b, c, d, e, tmp1, tmp2 = arrays
    by_language: dict[str, dict[str, Way]] = {}
    try:
        compiled.loops()
    except compiled.NoCompiler:
        pass
    else:
        by_language["C"] = {
            "chain": lambda: compiled.run("chain", a, b, c, d, e, tmp1, tmp2),
            "fused": lambda: compiled.run("fused", a, b, c, d, e),
        }
        if e.ctypes.data % 16 == 0 and compiled.run("fused_around", *(array[:32] for array in (a, b, c, d, e))):
            by_language["C"]["fused_around"] = lambda: compiled.run("fused_around", a, b, c, d, e)
    by_language["numpy"] = {"chain": lambda: numpy_chain(*arrays), "fused": lambda: numpy_blocks(*arrays)}
    ta, tb, tc, td, te, t1, t2 = (torch.from_numpy(array) for array in arrays)

    def torch_chain() -> None:
        torch.add(ta, tb, out=t1)
        torch.mul(t1, tc, out=t2)
        torch.add(t2, td, out=te)

    def torch_fused() -> None:
        torch.add(ta, tb, out=t1)
        torch.addcmul(td, t1, tc, out=te)

    by_language["torch"] = {"chain": torch_chain, "fused": torch_fused}
    return by_language
