"""Tasks that are experiments: tokens in another order, and what a straight line can read from a sum."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch


def _order_cases(rng: Rng) -> list[Case]:
    def case(t: int, d: int, causal: bool) -> Case:
        order = np.roll(np.arange(t), 2)  # no order that undoes itself, and no token stays
        while np.array_equal(order[order], np.arange(t)) or (order == np.arange(t)).any():
            order = rng.permutation(t)
        mask_name = "causal" if causal else "all see all"
        return Case(f"T = {t}, D = {d}, {mask_name}", (normal(rng, t, d), order.astype("int64"), causal))

    return [
        case(5, 4, False),
        case(5, 4, True),
        case(4, 4, True),
        case(7, 3, True),
        case(6, 6, False),
        case(6, 2, True),
        Case("one token alone, causal", (normal(rng, 1, 4), np.zeros(1, dtype="int64"), True)),
    ]


@graded("06.equivariance", _order_cases)
def _order(x: Any, order: Any, causal: bool) -> Any:
    """Without a mask nothing is left; with one, what is left is what the moved mask would have given."""
    fused = torch.nn.functional.scaled_dot_product_attention
    if not causal:
        return torch.zeros_like(x)
    mask = torch.ones(len(x), len(x), dtype=torch.bool).tril()
    moved = x[order]
    along = mask[order][:, order]
    return fused(moved, moved, moved, attn_mask=mask) - fused(moved, moved, moved, attn_mask=along)


def _probe_cases(rng: Rng) -> list[Case]:
    def case(m: int, d: int, r: int, classes: int) -> Case:
        labels = np.concatenate([np.arange(classes), rng.integers(0, classes, size=m - classes)])
        labels = rng.permutation(labels).astype("int64")
        shift = doubles(rng, d)
        x = doubles(rng, classes, d)[labels] + doubles(rng, m, d) + shift
        new = doubles(rng, r, d) + shift
        return Case(f"{m} vectors of width {d}, {classes} classes, {r} new ones", (x, labels, new), tolerance=1e-6)

    return [case(30, 4, 5, 3), case(40, 6, 9, 6), case(25, 3, 25, 2), case(60, 8, 1, 5)]


@graded("06.probe", _probe_cases)
def _probe(x: Any, labels: Any, new: Any) -> Any:
    """The line through the means: fit what is left after both means are taken away."""
    one_hot = torch.eye(int(labels.max()) + 1, dtype=x.dtype)[labels]
    x_mean, one_hot_mean = x.mean(dim=0), one_hot.mean(dim=0)
    slopes = torch.linalg.pinv(x - x_mean) @ (one_hot - one_hot_mean)
    return one_hot_mean + (new - x_mean) @ slopes
