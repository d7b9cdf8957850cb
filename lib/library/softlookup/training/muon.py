"""Muon: the step of a matrix is its averaged gradient with all its stretching taken out."""

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

QUINTIC = (3.4445, -4.7750, 2.0315)
"""The polynomial of Jordan et al.: steep at 0, and from there on it keeps singular values near 1, not at 1."""

Shape = Literal["original", "match_rms_adamw"]


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


def shape_factor(shape: tuple[int, int] | torch.Size, kind: Shape = "original") -> float:
    """Say what the rate of a matrix is multiplied by, so that one rate suits matrices of all shapes.

    The shape is rows and columns, as torch's optimiser counts them. original is sqrt(max(1, rows / columns));
    match_rms_adamw is 0.2 sqrt(max(rows, columns)), which makes steps as large as AdamW's. ValueError if there are not
    two sizes, or for another kind.

    Source: Jordan et al. 2024; Liu et al. 2025 (arXiv 2502.16982).
    """
    if len(shape) != 2:
        raise ValueError(f"shape is {tuple(shape)}; wanted rows and columns")
    rows, columns = shape
    if kind == "original":
        return math.sqrt(max(1.0, rows / columns))
    if kind == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    raise ValueError(f"kind is {kind!r}; wanted original or match_rms_adamw")


def muon_step(
    weight: Float[Tensor, "M K"],
    gradient: Float[Tensor, "M K"],
    average: Float[Tensor, "M K"],
    *,
    rate: float,
    momentum: float = 0.95,
    weight_decay: float = 0.1,
    kind: Shape = "original",
    dtype: torch.dtype = torch.bfloat16,
) -> tuple[Float[Tensor, "M K"], Float[Tensor, "M K"]]:
    """Take one step, as torch.optim.Muon does it.

    The average of the gradients is brought up to date, looked at one step ahead (Nesterov), and orthogonalised.

    ``average`` is zeros before the first step, and ``momentum`` of it stays; ``weight_decay`` times the rate of the
    weight is taken away; ``dtype`` is what to orthogonalise in. Gives the new weight and average; the old ones stay.
    ValueError if it is no matrix, the three shapes differ, or the kind is unknown.

    Source: Jordan et al. 2024; Liu et al. 2025 (arXiv 2502.16982).
    """
    if not weight.shape == gradient.shape == average.shape:
        shapes = ", ".join(str(tuple(x.shape)) for x in (weight, gradient, average))
        raise ValueError(f"weight, gradient and average have shapes {shapes}: they must be equal")
    factor = shape_factor(weight.shape, kind)
    average = momentum * average + (1 - momentum) * gradient
    ahead = momentum * average + (1 - momentum) * gradient
    direction = orthogonalise(ahead, dtype=dtype)
    return weight * (1 - rate * weight_decay) - rate * factor * direction.to(weight.dtype), average


def muon_groups(model: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Divide a model's parameters between Muon and AdamW.

    Gives the matrices of hidden layers, for Muon; and for AdamW tables of embeddings, the output matrix, vectors, and
    stacks of matrices, of which torch's Muon takes none. ValueError if there is no hidden matrix.

    Source: Jordan et al. 2024 (embeddings and the output belong to AdamW).
    """
    ends = {
        id(weight)
        for name, part in model.named_modules()
        if isinstance(part, nn.Embedding) or name.split(".")[-1] in ("embedder", "head")
        for weight in part.parameters()
    }
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    hidden = [weight for weight in trained if weight.ndim == 2 and id(weight) not in ends]
    if not hidden:
        raise ValueError("the model has no matrix between its embeddings and its output")
    chosen = {id(weight) for weight in hidden}
    return hidden, [weight for weight in trained if id(weight) not in chosen]
