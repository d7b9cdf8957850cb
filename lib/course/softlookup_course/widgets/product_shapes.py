"""The shapes of a matrix product: which fit, what vanishes, and which row meets which column in each cell."""

from collections.abc import Sequence

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from softlookup_course.widgets.interactive import InteractiveFigure

MOST = 5
"""The largest size that a reader can choose; two matrices of this width still fit side by side on a phone."""

Shape = tuple[int, int]


def _pool(name: str, pool: ArrayLike) -> NDArray[np.int64]:
    """Take a square of whole numbers, out of whose corner the shown matrices are cut.

    A ValueError if it is not MOST by MOST, or holds other numbers than whole ones.
    """
    numbers = np.asarray(pool)
    if numbers.shape != (MOST, MOST):
        raise ValueError(f"{name} has shape {numbers.shape}, wanted {(MOST, MOST)}")
    if numbers.dtype.kind not in "iu" or np.abs(numbers).max() > 9:
        raise ValueError(f"{name} holds {numbers.dtype} from {numbers.min()} to {numbers.max()}, wanted -9 to 9, whole")
    return numbers.astype(np.int64)


def _size(name: str, shape: Sequence[int]) -> Shape:
    """Take a shape that can be shown: a ValueError if it is not two sizes from 1 to MOST."""
    sizes = tuple(int(size) for size in shape)
    if len(sizes) != 2 or not all(1 <= size <= MOST for size in sizes):
        raise ValueError(f"{name} is {sizes}, wanted two sizes from 1 to {MOST}")
    return sizes[0], sizes[1]


def products(a: ArrayLike, b: ArrayLike) -> dict[str, list[list[list[int]]]]:
    """Compute every cell of every product of A and B, (MOST, MOST) each, that a reader can ask for.

    Under "", "a", "b" and "ab" (which of the two are turned): for each inner size from 1 to MOST, the full table. Row i
    and column j of a product do not depend on how many other rows and columns there are, only on the inner size.
    """
    a, b = np.asarray(a), np.asarray(b)
    tables = {}
    for turned in ("", "a", "b", "ab"):
        left, right = (a.T if "a" in turned else a), (b.T if "b" in turned else b)
        tables[turned] = [(left[:, :inner] @ right[:inner]).tolist() for inner in range(1, MOST + 1)]
    return tables


def static_tables(a: NDArray[np.int64], b: NDArray[np.int64], shape_a: Shape, shape_b: Shape) -> str:
    """Write A, B and their product as HTML, for readers whose browser runs no script."""
    left, right = a[: shape_a[0], : shape_a[1]], b[: shape_b[0], : shape_b[1]]
    shown = {"A": left, "B": right}
    if shape_a[1] == shape_b[0]:
        shown["A @ B"] = left @ right

    def table(name: str, numbers: NDArray[np.int64]) -> str:
        rows = "".join(f"<tr>{''.join(f'<td>{number}</td>' for number in line)}</tr>" for line in numbers)
        return f"<table><caption>{name}, {numbers.shape[0]} × {numbers.shape[1]}</caption><tbody>{rows}</tbody></table>"

    sentence = "<p>Row i and column j of the product: the dot product of row i of A and column j of B.</p>"
    return sentence + "".join(table(name, numbers) for name, numbers in shown.items())


class ProductShapes(InteractiveFigure):
    """Choose the shapes of two matrices, and see whether they fit, which axis vanishes, and where each cell comes from.

    Every number shown is computed here, with numpy; the browser chooses what to show and spells out one cell's sum. A
    and B are (MOST, MOST), whole numbers from -9 to 9, of which the upper left corner is shown, in the shapes, two
    sizes from 1 to MOST, that they begin with. Others are a ValueError.
    """

    a = traitlets.List(traitlets.List(), help="the numbers of A, MOST by MOST").tag(sync=True)
    b = traitlets.List(traitlets.List(), help="the numbers of B, MOST by MOST").tag(sync=True)
    products = traitlets.Dict(help="what `products` returned").tag(sync=True)
    shape_a = traitlets.List(traitlets.Int(min=1, max=MOST), help="rows and columns of A as shown").tag(sync=True)
    shape_b = traitlets.List(traitlets.Int(min=1, max=MOST), help="rows and columns of B as shown").tag(sync=True)
    turned = traitlets.Enum(["", "a", "b", "ab"], "", help="which of the two are transposed").tag(sync=True)
    most = traitlets.Int(MOST, help="the largest size").tag(sync=True)

    def __init__(self, a: ArrayLike, b: ArrayLike, shape_a: Sequence[int] = (2, 3), shape_b: Sequence[int] = (3, 4)):
        left, right = _pool("a", a), _pool("b", b)
        sizes = _size("shape_a", shape_a), _size("shape_b", shape_b)
        super().__init__(
            a=left.tolist(),
            b=right.tolist(),
            products=products(left, right),
            shape_a=list(sizes[0]),
            shape_b=list(sizes[1]),
            fallback=static_tables(left, right, *sizes),
        )
