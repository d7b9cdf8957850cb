"""Questions for a pencil: a shape, a product, shares, a slope. The wanted numbers are not shown."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

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


SHAPES = described(
    "00.shapes",
    cases=_shape_cases,
    oracle=_shape,
    frame="plain",
    reveals=False,
    variants=(
        {"x": (5, 3), "w": (3, 4), "v": (2, 4)},
        {"x": (7, 2), "w": (2, 6), "v": (3, 6)},
        {"x": (4, 6), "w": (6, 5), "v": (3, 5)},
        {"x": (2, 8), "w": (8, 3), "v": (9, 3)},
        {"x": (3, 7), "w": (7, 4), "v": (6, 4)},
        {"x": (6, 2), "w": (2, 5), "v": (4, 5)},
        {"x": (8, 3), "w": (3, 2), "v": (5, 2)},
        {"x": (9, 4), "w": (4, 7), "v": (2, 7)},
        {"x": (3, 5), "w": (5, 6), "v": (7, 6)},
    ),
)


def _product_cases(rng: Rng) -> list[Case]:
    return [Case("A and B", (), frame="plain", tolerance=1e-6, absolute=True)]


def _product() -> np.ndarray:
    return np.einsum("td,dh->th", A_TD, B_DH)


PRODUCT = described("00.product", cases=_product_cases, oracle=_product, frame="plain", reveals=False)


def _softmax_cases(rng: Rng) -> list[Case]:
    return [Case("the table U", (), frame="plain", tolerance=0.0051, absolute=True)]


def _softmax() -> Any:
    import torch

    return torch.softmax(torch.from_numpy(np.log(POWERS_TS)), dim=1)


SOFTMAX = described("00.softmax", cases=_softmax_cases, oracle=_softmax, frame="plain", reveals=False)


def _slope_cases(rng: Rng, w: float, x: float, t: float) -> list[Case]:
    return [Case("the three numbers of the question", (), frame="plain", tolerance=1e-6, absolute=True)]


def _slope(w: float, x: float, t: float) -> float:
    """Half the difference over two steps, which is exact for a square."""
    return float(((w + 1) * x - t) ** 2 - ((w - 1) * x - t) ** 2) / 2


SLOPE = described(
    "00.slope",
    cases=_slope_cases,
    oracle=_slope,
    frame="plain",
    reveals=False,
    variants=(
        {"w": 2.0, "x": 3.0, "t": 1.0},
        {"w": 3.0, "x": 5.0, "t": 11.0},
        {"w": 4.0, "x": 3.0, "t": 5.0},
        {"w": 2.0, "x": 5.0, "t": 3.0},
        {"w": 5.0, "x": 2.0, "t": 4.0},
        {"w": 3.0, "x": 4.0, "t": 5.0},
        {"w": 2.0, "x": 6.0, "t": 5.0},
        {"w": 5.0, "x": 3.0, "t": 9.0},
        {"w": 4.0, "x": 5.0, "t": 12.0},
    ),
)
