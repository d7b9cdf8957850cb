"""One operation, counted: its products, its elementwise work, and every tensor that it reads or writes.

A multiply-add is two operations. Matrix products and elementwise work are two columns: only products run on the units
that a device's largest peak is about. Every input is read once and every output written once, as a kernel of its own
does.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

HALF_BYTES = 2
"""Bytes of a number in half precision, float16 or bfloat16."""
FLOAT_BYTES = 4
"""Bytes of a number in float32."""


@dataclass(frozen=True)
class Moved:
    """A tensor that is read or written.

    Attributes:
        name: What it is ("weights A", "w_q").
        shape: Its axes, whole numbers.
        number_bytes: Bytes of one number.
    """

    name: str
    shape: tuple[int, ...]
    number_bytes: int = HALF_BYTES

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """How many bytes it takes: elements times bytes of one."""
        return self.elements * self.number_bytes


@dataclass(frozen=True)
class Operation:
    """A step of a model, as one kernel.

    Attributes:
        name: What it does.
        product_flops: Operations of matrix products, a multiply-add counted as two.
        elementwise_flops: All other operations, as ``ELEMENTWISE`` counts them.
        reads: Tensors that are read, each once.
        writes: Tensors that are written, each once.
        times: How often the model does it (in each of L layers, say).
        part: What it belongs to: "attention", "cross-attention", "feed-forward", "norm", "residual", "embedding",
            "logits", "loss" or "optimizer".

    >>> row = Operation("add", 0, 6, (Moved("a", (2, 3)), Moved("b", (2, 3))), (Moved("c", (2, 3)),))
    >>> row.elements, row.bytes, round(row.intensity, 4)
    (18, 36, 0.1667)
    """

    name: str
    product_flops: int
    elementwise_flops: int
    reads: tuple[Moved, ...]
    writes: tuple[Moved, ...]
    times: int = 1
    part: str = ""

    @property
    def flops(self) -> int:
        """Operations of both kinds, once."""
        return self.product_flops + self.elementwise_flops

    @property
    def elements(self) -> int:
        """Numbers read and written, once."""
        return sum(tensor.elements for tensor in (*self.reads, *self.writes))

    @property
    def bytes(self) -> int:
        """Bytes read and written, once."""
        return sum(tensor.bytes for tensor in (*self.reads, *self.writes))

    @property
    def intensity(self) -> float:
        """Operations for each byte, FLOP / byte; 0 where nothing is moved."""
        return self.flops / self.bytes if self.bytes else 0.0

    @property
    def product_intensity(self) -> float:
        """Operations of the products alone for each byte, FLOP / byte."""
        return self.product_flops / self.bytes if self.bytes else 0.0

    def repeated(self, times: int) -> "Operation":
        """This operation, done so many times as often.

        Args:
            times: By how much.

        Returns:
            A new operation; this one stays as it was.
        """
        return replace(self, times=self.times * times)


@dataclass(frozen=True)
class Total:
    """The sums over several operations, each as often as it is done.

    Attributes:
        product_flops: Operations of matrix products.
        elementwise_flops: Operations beside them.
        read_bytes: Bytes read.
        written_bytes: Bytes written.
    """

    product_flops: int
    elementwise_flops: int
    read_bytes: int
    written_bytes: int

    @property
    def flops(self) -> int:
        """Operations of both kinds."""
        return self.product_flops + self.elementwise_flops

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.read_bytes + self.written_bytes

    @property
    def intensity(self) -> float:
        """Operations of both kinds for each byte, FLOP / byte."""
        return self.flops / self.bytes if self.bytes else 0.0


def total(operations: Iterable[Operation]) -> Total:
    """Add up operations, each as often as it is done.

    Args:
        operations: What is done.

    Returns:
        Operations and bytes of all of it.
    """
    sums = [0, 0, 0, 0]
    for operation in operations:
        read, written = (sum(t.bytes for t in side) for side in (operation.reads, operation.writes))
        for index, amount in enumerate((operation.product_flops, operation.elementwise_flops, read, written)):
            sums[index] += operation.times * amount
    return Total(*sums)


def product(
    name: str, left: Moved, right: Moved, out: Moved, inner: int, *, part: str = "", also: tuple[Moved, ...] = ()
) -> Operation:
    """A matrix product: every number of the result is a sum of ``inner`` products.

    Args:
        name: What it does.
        left: The first factor.
        right: The second factor.
        out: The result.
        inner: Length of the axis that is summed over.
        part: What it belongs to.
        also: What else is read (a bias: one addition for each number of the result).

    Returns:
        2 * elements of the result * inner operations; both factors read, the result written.

    Raises:
        ValueError: If the axis that is summed over is no axis of both factors: "NAME sums over I, but LEFT is SHAPE".
    """
    for factor in (left, right):
        if inner not in factor.shape:
            raise ValueError(f"{name} sums over {inner}, but {factor.name} is {factor.shape}")
    added = out.elements if also else 0
    return Operation(name, 2 * out.elements * inner, added, (left, right, *also), (out,), part=part)
