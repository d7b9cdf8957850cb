"""The shapes of a matrix product: which fit, what vanishes, and which row meets which column in each cell."""

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from softlookup_course.widgets.interactive import InteractiveFigure

MOST = 5
"""The largest size that a reader can choose; two matrices of this width still fit side by side on a phone."""

Shape = tuple[int, int]


def products(a: ArrayLike, b: ArrayLike) -> dict[str, list[list[list[int]]]]:
    """Compute every cell of every product of A and B, by which are turned and by the inner size."""
    a, b = np.asarray(a), np.asarray(b)
    tables = {}
    for turned in ("", "a", "b", "ab"):
        left, right = (a.T if "a" in turned else a), (b.T if "b" in turned else b)
        tables[turned] = [(left[:, :inner] @ right[:inner]).tolist() for inner in range(1, MOST + 1)]
    return tables


def static_tables(a: NDArray[np.int64], b: NDArray[np.int64], shape_a: Shape, shape_b: Shape) -> str:
    """Write A, B and their product as HTML, for readers whose browser runs no script."""
    left, right = a[: shape_a[0], : shape_a[1]], b[: shape_b[0], : shape_b[1]]
    tables = {"A": left, "B": right}
    if shape_a[1] == shape_b[0]:
        tables["A @ B"] = left @ right

    def table(name: str, numbers: NDArray[np.int64]) -> str:
        rows = "".join(f"<tr>{''.join(f'<td>{entry}</td>' for entry in line)}</tr>" for line in numbers)
        return f"<table><caption>{name}, {numbers.shape[0]} × {numbers.shape[1]}</caption><tbody>{rows}</tbody></table>"

    sentence = "<p>Row i and column j of the product: the dot product of row i of A and column j of B.</p>"
    return sentence + "".join(table(name, numbers) for name, numbers in tables.items())


class ProductShapes(InteractiveFigure):
    """Choose the shapes of two matrices, and see whether they fit, and where each cell of the product comes from."""

    a = traitlets.List(traitlets.List(), help="the numbers of A, MOST by MOST").tag(sync=True)
    b = traitlets.List(traitlets.List(), help="the numbers of B, MOST by MOST").tag(sync=True)
    products = traitlets.Dict(help="what `products` returned").tag(sync=True)
    shape_a = traitlets.List(traitlets.Int(min=1, max=MOST), help="rows and columns of A as shown").tag(sync=True)
    shape_b = traitlets.List(traitlets.Int(min=1, max=MOST), help="rows and columns of B as shown").tag(sync=True)
    turned = traitlets.Enum(["", "a", "b", "ab"], "", help="which of the two are transposed").tag(sync=True)
    most = traitlets.Int(MOST, help="the largest size").tag(sync=True)

    def __init__(self, a: ArrayLike, b: ArrayLike, shape_a: Shape = (2, 3), shape_b: Shape = (3, 4)):
        a_pool, b_pool = np.asarray(a), np.asarray(b)
        super().__init__(
            a=a_pool.tolist(),
            b=b_pool.tolist(),
            products=products(a_pool, b_pool),
            shape_a=list(shape_a),
            shape_b=list(shape_b),
            fallback=static_tables(a_pool, b_pool, shape_a, shape_b),
        )
