"""Tasks on what comes between the gradients and the step: clipping and accumulation."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _clip_cases(rng: Rng) -> list[Case]:
    def case(label: str, max_norm: float, *scales: float, dtype: str = "float32") -> Case:
        shapes = ((2, 3), (3,), (4, 1))
        gradients = (normal(rng, *s, dtype=dtype, scale=k) for s, k in zip(shapes, scales, strict=True))
        return Case(label, (*gradients, max_norm))

    return [
        case("gradients of unequal size", 1.0, 3.0, 0.2, 1.0),
        case("long ones in float64, a bound of 2.5", 2.5, 4.0, 9.0, 5.0, dtype="float64"),
        case("short ones", 5.0, 0.02, 0.01, 0.03),
        # torch's own function adds a millionth to the norm.
        case("a norm of some millionths, float64", 1e-6, 2e-6, 1e-6, 1e-6, dtype="float64"),
        case("one is much longer than the others", 0.5, 0.01, 20.0, 0.01),
        case("all of them are zero", 1.0, 0.0, 0.0, 0.0),
    ]


def _clip(g_1: Any, g_2: Any, g_3: Any, max_norm: float) -> Any:
    import torch

    norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in (g_1, g_2, g_3)]))
    if norm <= max_norm:
        return g_1, g_2, g_3, norm
    return g_1 / norm * max_norm, g_2 / norm * max_norm, g_3 / norm * max_norm, norm


CLIP = described("09.clip", cases=_clip_cases, oracle=_clip, forbids=("torch.nn.utils",))


def _accumulate_cases(rng: Rng) -> list[Case]:
    def case(label: str, batches: int, width: int, every: int, rate: float, dtype: str = "float32") -> Case:
        tokens = rng.permutation(np.arange(3, 3 + 4 * batches, 4))
        gradients = normal(rng, batches, width, dtype=dtype) * tokens[:, None].astype(dtype)
        return Case(label, (normal(rng, width, dtype=dtype), gradients, tokens, every, rate))

    return [
        case("six batches, three to a step", 6, 4, 3, 0.3),
        case("seven batches, two to a step: one is left", 7, 3, 2, 2.0),
        case("as many batches as weights", 5, 5, 2, 0.3),
        case("each batch is a step", 3, 2, 1, 0.05),
        case("fewer batches than a step has, in float64", 2, 3, 4, 0.7, "float64"),
    ]


def _accumulate(w: Any, gradients: Any, tokens: Any, every: int, rate: float) -> Any:
    import torch

    after = []
    for group, counts in zip(gradients.split(every), tokens.split(every), strict=True):
        after += [w] * (len(group) - 1)
        w = w - rate * group.sum(dim=0) / counts.sum()
        after.append(w)
    return torch.stack(after)


ACCUMULATE = described("09.accumulate", cases=_accumulate_cases, oracle=_accumulate)
