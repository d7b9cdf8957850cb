"""Questions for a pencil: a shape, a product, shares, a slope. The wanted numbers are not shown."""

from typing import Any

import numpy as np

from softlookup.checks.before_you_start.refreshers import PAGE, slip
from softlookup.checks.draws import Rng
from softlookup.checks.task import Case, Task

Shape = tuple[int, int]

A_TD = np.array([[1, 2, 0], [3, 1, 2]])
B_DH = np.array([[2, 1], [0, 3], [1, 4]])
"""The two matrices of the product by hand."""

POWERS_TS = np.array([[1, 2, 5], [3, 1, 4]])
"""What the exponentials of the scores in the question on shares are."""


def _shape_cases(rng: Rng, x: Shape, w: Shape, v: Shape) -> list[Case]:
    return [Case("the three shapes of the question", (), frame="plain")]


def _shape(x: Shape, w: Shape, v: Shape) -> np.ndarray:
    return np.array([x[0], v[0]])


CHAIN = "(x @ w @ v.T).shape"

SHAPES = Task(
    id="00.shapes",
    name="shape_of_product",
    title="The shape of a product",
    points=1,
    minutes=1,
    difficulty=1,
    page=PAGE,
    anchor="before-products",
    returns=("shape",),
    cases=_shape_cases,
    oracle=_shape,
    frame="plain",
    reveals=False,
    variants=(
        {"x": (5, 3), "w": (3, 4), "v": (2, 4)},
        {"x": (7, 2), "w": (2, 6), "v": (3, 6)},
        {"x": (4, 6), "w": (6, 5), "v": (3, 5)},
        {"x": (2, 8), "w": (8, 3), "v": (9, 3)},
    ),
    mistakes=(
        slip(
            "products",
            "not-turned",
            (CHAIN, "(x @ w).shape"),
            says="The second size is that of `v` as it stands, or of `x @ w` alone. `v.T` has the rows of `v` as its "
            "columns.",
        ),
        slip(
            "products",
            "order-swapped",
            (CHAIN, "(v @ (x @ w).T).shape"),
            says="Rows and columns have changed places: the result has the rows of the first factor and the columns "
            "of the last.",
        ),
        slip(
            "products",
            "first-alone",
            (CHAIN, "x.shape"),
            says="This is the shape of `x` itself. Its rows stay; its columns meet the rows of `w`, and vanish.",
        ),
        slip(
            "products",
            "inner-sizes",
            (CHAIN, "w.shape"),
            says="These are the inner sizes. They have to agree, and then they vanish; the outer ones stay.",
        ),
        slip(
            "products",
            "all-sizes",
            (CHAIN, "(*x.shape, w.shape[1], v.shape[0])"),
            says="A product of matrices is a matrix again, with two sizes: the inner ones are summed over.",
        ),
        slip(
            "products",
            "rows-everywhere",
            (CHAIN, "(len(x), len(w), len(v))"),
            says="These are the rows of all three. The result has the rows of the first factor and the columns of the "
            "last.",
        ),
    ),
)


def _product_cases(rng: Rng) -> list[Case]:
    return [Case("A and B", (), frame="plain", tolerance=1e-6, absolute=True)]


def _product() -> np.ndarray:
    return np.einsum("td,dh->th", A_TD, B_DH)


PRODUCT = Task(
    id="00.product",
    name="product_by_hand",
    title="A product with a pencil",
    points=1,
    minutes=2,
    difficulty=1,
    page=PAGE,
    anchor="before-products",
    returns=("A @ B",),
    cases=_product_cases,
    oracle=_product,
    frame="plain",
    reveals=False,
    mistakes=(
        slip(
            "products",
            "other-order",
            ("A @ B", "B @ A"),
            says="This is `B @ A`. The order matters: rows of the first matrix meet columns of the second.",
        ),
        slip(
            "products",
            "turned",
            ("(A @ B)", "(A @ B).T"),
            says="The numbers are right and lie in the wrong places: row i of the result belongs to row i of `A`.",
        ),
        slip(
            "products",
            "elementwise",
            ("A @ B", "A * B.T"),
            says="This multiplies cell by cell. In a matrix product a whole row meets a whole column, and the products "
            "are added up.",
        ),
        slip(
            "products",
            "rows-as-columns",
            ("A @ B", "A @ B.reshape(2, 3).T"),
            says="The numbers of `B` were taken in the order of its rows. Go down its columns.",
        ),
        slip(
            "products",
            "not-added",
            ("(A @ B)", "(A[:, :, None] * B)"),
            says="The products of a row and a column are there, but they are not added up: each pair gives one number.",
        ),
    ),
)


def _softmax_cases(rng: Rng) -> list[Case]:
    return [Case("the table U", (), frame="plain", tolerance=0.0051, absolute=True)]


def _softmax() -> Any:
    import torch

    return torch.softmax(torch.from_numpy(np.log(POWERS_TS)), dim=1)


SHARED = "e / e.sum(axis=1, keepdims=True)"

SOFTMAX = Task(
    id="00.softmax",
    name="softmax_by_hand",
    title="Shares with a pencil",
    points=1,
    minutes=3,
    difficulty=1,
    page=PAGE,
    anchor="before-softmax",
    returns=("shares",),
    cases=_softmax_cases,
    oracle=_softmax,
    frame="plain",
    reveals=False,
    mistakes=(
        slip(
            "axes",
            "over-columns",
            ("axis=1", "axis=0"),
            says="Your columns sum to 1. Each row is to be shared out by itself: the sum runs along the row.",
            number=8,
        ),
        slip(
            "axes",
            "whole-table",
            (SHARED, "e / e.sum()"),
            says="All six numbers together sum to 1. Each row has a sum of its own.",
            number=10,
        ),
        slip(
            "softmax",
            "no-exponential",
            ("e = np.exp(U)", "e = U"),
            says="The scores themselves were divided by their sum: take the exponential of each first.",
            number=2,
        ),
        slip(
            "softmax",
            "not-shared",
            (SHARED, "e"),
            says="These are the exponentials. Divide each by the sum of its row.",
            number=2,
        ),
        slip(
            "softmax",
            "by-the-largest",
            (SHARED, "e / e.max(axis=1, keepdims=True)"),
            says="The largest of each row became 1. It is the sum of the row that has to: divide by the sum.",
        ),
        slip(
            "softmax",
            "powers-of-two",
            ("np.exp(U)", "np.exp2(U)"),
            says="These are powers of 2. The exponential is a power of e: it undoes the natural logarithm.",
        ),
        slip(
            "softmax",
            "logarithms",
            (f"return ({SHARED})", f"return np.log({SHARED})"),
            says="These are the logarithms of the shares; the shares themselves are asked for.",
        ),
    ),
)


def _slope_cases(rng: Rng, w: float, x: float, t: float) -> list[Case]:
    return [Case("the three numbers of the question", (), frame="plain", tolerance=1e-6, absolute=True)]


def _slope(w: float, x: float, t: float) -> float:
    """Half the difference over two steps, which is exact for a square."""
    return float(((w + 1) * x - t) ** 2 - ((w - 1) * x - t) ** 2) / 2


SLOPED = "return 2 * error * x"

SLOPE = Task(
    id="00.slope",
    name="slope_by_hand",
    title="A slope with a pencil",
    points=1,
    minutes=2,
    difficulty=1,
    page=PAGE,
    anchor="before-derivatives",
    returns=("dL/dw",),
    cases=_slope_cases,
    oracle=_slope,
    frame="plain",
    reveals=False,
    variants=(
        {"w": 2.0, "x": 3.0, "t": 1.0},
        {"w": 3.0, "x": 5.0, "t": 11.0},
        {"w": 4.0, "x": 3.0, "t": 5.0},
        {"w": 2.0, "x": 5.0, "t": 3.0},
    ),
    mistakes=(
        slip(
            "derivatives",
            "inner-missing",
            (SLOPED, "return 2 * error"),
            says="The chain rule has a second factor: the error itself moves by `x` when `w` moves by 1.",
        ),
        slip(
            "derivatives",
            "no-two",
            (SLOPED, "return error * x"),
            says="The factor 2 is missing: the derivative of a square is twice what was squared.",
        ),
        slip(
            "derivatives",
            "by-the-input",
            (SLOPED, "return 2 * error * w"),
            says="This is the derivative by `x`; the question is what happens when `w` moves.",
        ),
        slip(
            "derivatives",
            "the-loss",
            (SLOPED, "return error**2"),
            says="This is the loss itself; its derivative by `w` is asked for.",
        ),
        slip(
            "derivatives",
            "sign-flipped",
            (SLOPED, "return -2 * error * x"),
            says="The sign is the wrong way round: here the loss grows when `w` grows.",
        ),
        slip(
            "derivatives",
            "expanded-wrongly",
            (SLOPED, "return 2 * w * x**2"),
            says="The target is missing: what was squared is `w * x - t`.",
        ),
    ),
)
