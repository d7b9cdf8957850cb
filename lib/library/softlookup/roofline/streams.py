"""Add, multiply, add: what three passes over memory cost beside one, counted and carried out in four ways."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from softlookup.roofline import compiled


@dataclass(frozen=True)
class Stream:
    """A pass, or passes, over long arrays: for each place so many numbers read and written, so many operations.

    Attributes:
        name: What is computed.
        reads: Numbers read from memory.
        writes: Numbers written to it.
        operations: Additions and multiplications.
    """

    name: str
    reads: int
    writes: int
    operations: int

    def n_flops(self, n: int) -> int:
        """Operations for arrays of n numbers.

        Args:
            n: Numbers in an array.

        Returns:
            Additions and multiplications.
        """
        return self.operations * n

    def n_bytes(self, n: int, bytes_per_number: int = 4, *, write_allocate: bool = False) -> int:
        """Bytes moved for arrays of n numbers.

        Args:
            n: Numbers in an array.
            bytes_per_number: 4 for float32, 2 for the half precisions.
            write_allocate: Count a read for each store: what a cache does that fetches a line before it is written.

        Returns:
            Bytes, read and written.
        """
        return (self.reads + self.writes * (2 if write_allocate else 1)) * bytes_per_number * n

    def intensity(self, bytes_per_number: int = 4) -> Fraction:
        """Operations for each byte, exactly.

        Args:
            bytes_per_number: 4 for float32, 2 for the half precisions.

        Returns:
            FLOP / byte, as a fraction.

        >>> CHAIN.intensity(), FUSED.intensity()
        (Fraction(1, 12), Fraction(3, 20))
        """
        return Fraction(self.operations, (self.reads + self.writes) * bytes_per_number)


ADD = Stream("add", 2, 1, 1)
MUL = Stream("mul", 2, 1, 1)
CHAIN = Stream("add, mul, add", 6, 3, 3)
"""E = D + (A + B) * C in three passes: what lies in between is written and read again."""
FUSED = Stream("fused", 4, 1, 3)
"""The same in one pass."""

BLOCK = 1 << 15
"""Numbers in a block: 128 KiB of float32, which a second-level cache holds."""

Arrays = tuple[np.ndarray, ...]
Way = Callable[[], object]


def operands(n: int, seed: int = 0) -> Arrays:
    """A, B, C, D, and room for E and two arrays in between: seven arrays (n,), float32, every page touched.

    ValueError if n is not a multiple of 32, or not above 0.
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


TORCH_TWO = Stream("add, addcmul", 5, 2, 3)
"""What torch can do without a compiler of its own: two passes."""
