"""Muon: the step of a matrix is its averaged gradient with all its stretching taken out."""

import torch
from jaxtyping import Float
from torch import Tensor

QUINTIC = (3.4445, -4.7750, 2.0315)
"""The polynomial of Jordan et al.: steep at 0, and from there on it keeps singular values near 1, not at 1."""


def orthogonalise(
    matrix: Float[Tensor, "M K"], *, steps: int = 5, dtype: torch.dtype = torch.bfloat16
) -> Float[Tensor, "M K"]:
    """Bring the singular values of a matrix near 1, all but the smallest, and leave its directions.

    By Newton-Schulz steps X <- a X + (b G + c G^2) X with G = X X^T: products alone, no decomposition.

    Of U S V^T about U V^T is left, in ``dtype``, in which it is computed. Five steps bring values of at least 0.002
    times the matrix's norm (the root of the sum of all squares) to between 0.68 and 1.2; smaller ones grow, and stay
    below. ValueError if it is no matrix, or steps is below 1.

    Source: Jordan et al. 2024 (Muon).
    """
    if matrix.ndim != 2:
        raise ValueError(f"matrix has shape {tuple(matrix.shape)}; wanted two axes")
    if steps < 1:
        raise ValueError(f"steps must be at least 1; got {steps}")
    a, b, c = QUINTIC
    tall = matrix.shape[0] > matrix.shape[1]
    x = (matrix.mT if tall else matrix).to(dtype)  # the smaller of the two products
    x = x / x.norm().clamp_min(1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        polynomial = torch.addmm(gram, gram, gram, beta=b, alpha=c)  # addmm rounds once where + and @ round twice
        x = torch.addmm(x, polynomial, x, beta=a)
    return x.mT if tall else x
