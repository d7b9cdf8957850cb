"""Tasks on what comes between the gradients and the step: clipping and accumulation."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task
from softlookup.checks.training.page import PAGE


def _clip_cases(rng: Rng) -> list[Case]:
    def case(label: str, max_norm: float, *scales: float, dtype: str = "float32") -> Case:
        shapes = ((2, 3), (3,), (4, 1))
        gradients = (normal(rng, *s, dtype=dtype, scale=k) for s, k in zip(shapes, scales, strict=True))
        # torch's own adds a millionth to the norm, against dividing by zero.
        return Case(label, (*gradients, max_norm), tolerance=1e-6 if dtype == "float64" else None)

    return [
        case("gradients of unequal size", 1.0, 3.0, 0.2, 1.0),
        case("long ones in float64, a bound of 2.5", 2.5, 4.0, 9.0, 5.0, dtype="float64"),
        case("short ones", 5.0, 0.02, 0.01, 0.03),
        case("one is much longer than the others", 0.5, 0.01, 20.0, 0.01),
        case("all of them are zero", 1.0, 0.0, 0.0, 0.0),
    ]


def _clip(g_1: Any, g_2: Any, g_3: Any, max_norm: float) -> Any:
    import torch

    norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in (g_1, g_2, g_3)]))
    if norm <= max_norm:
        return g_1, g_2, g_3, norm
    return g_1 / norm * max_norm, g_2 / norm * max_norm, g_3 / norm * max_norm, norm


NORM = "norm = torch.sqrt(sum((g**2).sum() for g in gradients))"
FACTOR = "factor = torch.clamp(max_norm / norm, max=1.0)"
GIVEN = "return (*(g * factor for g in gradients), norm)"

CLIP = Task(
    id="09.clip",
    name="clip",
    title="Clip by the common norm",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="training-clipping",
    returns=("g_1", "g_2", "g_3", "norm"),
    cases=_clip_cases,
    oracle=_clip,
    forbids=("torch.nn.utils",),
    mistakes=(
        known(
            "each-alone",
            (GIVEN, "return (*(g * torch.clamp(max_norm / g.norm(), max=1.0) for g in gradients), norm)"),
            says="Each gradient is clipped by its own norm, which turns the whole into another direction. One norm is "
            "taken of all together, and one factor for all.",
            number=68,
        ),
        known(
            "by-value",
            (GIVEN, "return (*(g.clamp(-max_norm, max_norm) for g in gradients), norm)"),
            says="Each NUMBER is cut off at the bound, which turns the gradient into another direction: shorten all by "
            "one factor.",
            number=68,
        ),
        known(
            "always-scaled",
            (FACTOR, "factor = max_norm / norm"),
            says="Short gradients are made longer: the factor is never above 1.",
        ),
        known(
            "root-forgotten",
            (NORM, "norm = sum((g**2).sum() for g in gradients)"),
            says="The root is missing: this is the square of the norm.",
        ),
        known(
            "norms-added",
            (NORM, "norm = sum(g.norm() for g in gradients)"),
            says="The norms are added: add the squares, and take the root of the sum.",
            number=68,
        ),
        known(
            "longest-alone",
            (NORM, "norm = max(g.norm() for g in gradients)"),
            says="The longest gradient's norm is taken for that of all: add the squares, and take the root of the sum.",
            number=68,
        ),
        known(
            "to-one",
            (FACTOR, "factor = 1.0 if norm <= max_norm else 1 / norm"),
            says="Long gradients get the norm 1, whatever the bound is: the factor is max_norm over the norm.",
        ),
        known(
            "norm-afterwards",
            (GIVEN, "return (*(g * factor for g in gradients), norm * factor)"),
            says="The norm after the clipping is returned: wanted is the one before. It says whether the run is calm.",
        ),
    ),
)


def _accumulate_cases(rng: Rng) -> list[Case]:
    def case(label: str, batches: int, width: int, every: int, dtype: str = "float32") -> Case:
        tokens = rng.permutation(np.arange(3, 3 + 4 * batches, 4))
        gradients = normal(rng, batches, width, dtype=dtype) * tokens[:, None].astype(dtype)
        return Case(label, (normal(rng, width, dtype=dtype), gradients, tokens, every, 0.3))

    return [
        case("six batches, three to a step", 6, 4, 3),
        case("seven batches, two to a step: one is left", 7, 3, 2),
        case("as many batches as weights", 5, 5, 2),
        case("each batch is a step", 3, 2, 1),
        case("fewer batches than a step has, in float64", 2, 3, 4, "float64"),
    ]


def _accumulate(w: Any, gradients: Any, tokens: Any, every: int, rate: float) -> Any:
    import torch

    after = []
    for group, counts in zip(gradients.split(every), tokens.split(every), strict=True):
        after += [w] * (len(group) - 1)
        w = w - rate * group.sum(dim=0) / counts.sum()
        after.append(w)
    return torch.stack(after)


DUE = "if (i + 1) % every == 0 or i + 1 == len(gradients):"
ADDED = "total, count = total + gradients[i], count + tokens[i]"
MOVED = "w = w - rate * total / count"
CLEARED = "            total, count = torch.zeros_like(w), 0\n"

ACCUMULATE = Task(
    id="09.accumulate",
    name="accumulate",
    title="Several batches, one step",
    points=4,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="training-accumulation",
    returns=("weights",),
    cases=_accumulate_cases,
    oracle=_accumulate,
    mistakes=(
        known(
            "at-zero",
            (DUE, DUE.replace("(i + 1) % every", "i % every")),
            says="A step is made at i = 0, after the first batch alone, and all others come one batch too late. It is "
            "due when i + 1 is a multiple of `every`.",
            number=67,
        ),
        known(
            "one-late",
            (DUE, DUE.replace("(i + 1) % every == 0", "(i % every == 0 and i > 0)")),
            says="All steps come one batch too late: counted from 0, the group is full when i + 1 is a multiple of "
            "`every`.",
            number=67,
        ),
        known(
            "each-batch",
            (DUE, "if True:"),
            says="Each batch makes a step: wait until `every` of them have been added up.",
            number=67,
        ),
        known(
            "rest-dropped",
            (DUE, DUE.replace(" or i + 1 == len(gradients)", "")),
            says="The batches that are left at the end make no step: the last group may be smaller.",
        ),
        known(
            "mean-of-means",
            (ADDED, "total, count = total + gradients[i] / tokens[i], count + 1"),
            says="Each batch is averaged first, then the averages: a token of a small batch weighs more. Add up the "
            "sums, and divide by all the tokens.",
            number=63,
        ),
        known(
            "by-batches",
            (MOVED, "w = w - rate * total / ((i % every) + 1)"),
            says="The sum is divided by the number of batches: these are sums over tokens, so divide by the tokens.",
            number=63,
        ),
        known(
            "by-every",
            (MOVED, "w = w - rate * total / every"),
            says="The sum is divided by `every`: these are sums over tokens, so divide by the tokens of the group.",
            number=63,
        ),
        known(
            "last-count",
            (ADDED, "total, count = total + gradients[i], tokens[i]"),
            says="The sum is divided by the tokens of the last batch alone: count those of the whole group.",
            number=63,
        ),
        known("not-divided", (MOVED, "w = w - rate * total"), says="The sum is not divided by the number of tokens."),
        known(
            "never-cleared",
            (CLEARED, ""),
            says="Old gradients are kept after the step, and are added to the next ones: begin again with zeros.",
        ),
        known(
            "sum-kept",
            (CLEARED, "            count = 0\n"),
            says="The count begins again after a step, but old gradients are kept: begin both again.",
        ),
        known(
            "count-kept",
            (CLEARED, "            total = torch.zeros_like(w)\n"),
            says="The gradients begin again after a step, but the tokens are counted on: begin both again.",
        ),
        known(
            "one-tensor",
            ("total, count, after = ", "w = w.clone()\n    total, count, after = "),
            (MOVED, "w -= rate * total / count"),
            says="All rows are the SAME tensor, changed in place, so all show its last state: append a copy "
            "(`w.clone()`), or make a new w.",
        ),
    ),
)
