"""Add, multiply, add: what three passes over memory cost beside one, counted."""

from dataclasses import dataclass
from fractions import Fraction


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
TORCH_TWO = Stream("add, addcmul", 5, 2, 3)
"""What torch can do without a compiler of its own: two passes."""
