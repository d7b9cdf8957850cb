"""Questions for a pencil: a shape, a product, shares, a slope. The wanted numbers are not shown."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, variants_by
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import torch

Shape = tuple[int, int]

A_TD = np.array([[1, 2, 0], [3, 1, 2]])
B_DH = np.array([[2, 1], [0, 3], [1, 4]])
"""The two matrices of the product by hand."""

POWERS_TS = np.array([[1, 2, 5], [3, 1, 4]])
"""What the exponentials of the scores in the question on shares are."""


def _shape_cases(rng: Rng, x: Shape, w: Shape, v: Shape) -> list[Case]:
    return [Case("the three shapes of the question", ())]


@graded(
    "00.shapes",
    _shape_cases,
    frame="plain",
    reveals=False,
    variants=variants_by(
        x=((5, 3), (7, 2), (4, 6), (2, 8), (3, 7), (6, 2), (8, 3), (9, 4), (3, 5)),
        w=((3, 4), (2, 6), (6, 5), (8, 3), (7, 4), (2, 5), (3, 2), (4, 7), (5, 6)),
        v=((2, 4), (3, 6), (3, 5), (9, 3), (6, 4), (4, 5), (5, 2), (2, 7), (7, 6)),
    ),
)
def _shape(x: Shape, w: Shape, v: Shape) -> np.ndarray:
    return np.array([x[0], v[0]])


def _product_cases(rng: Rng) -> list[Case]:
    return [Case("A and B", (), tolerance=1e-6, absolute=True)]


@graded("00.product", _product_cases, frame="plain", reveals=False)
def _product() -> np.ndarray:
    return np.einsum("td,dh->th", A_TD, B_DH)


def _softmax_cases(rng: Rng) -> list[Case]:
    return [Case("the table U", (), tolerance=0.0051, absolute=True)]


@graded("00.softmax", _softmax_cases, frame="plain", reveals=False)
def _softmax() -> Any:
    return torch.softmax(torch.from_numpy(np.log(POWERS_TS)), dim=1)


def _slope_cases(rng: Rng, w: float, x: float, t: float) -> list[Case]:
    return [Case("the three numbers of the question", (), tolerance=1e-6, absolute=True)]


@graded(
    "00.slope",
    _slope_cases,
    frame="plain",
    reveals=False,
    variants=variants_by(
        w=(2.0, 3.0, 4.0, 2.0, 5.0, 3.0, 2.0, 5.0, 4.0),
        x=(3.0, 5.0, 3.0, 5.0, 2.0, 4.0, 6.0, 3.0, 5.0),
        t=(1.0, 11.0, 5.0, 3.0, 4.0, 5.0, 5.0, 9.0, 12.0),
    ),
)
def _slope(w: float, x: float, t: float) -> float:
    """Half the difference over two steps, which is exact for a square."""
    return float(((w + 1) * x - t) ** 2 - ((w - 1) * x - t) ** 2) / 2
