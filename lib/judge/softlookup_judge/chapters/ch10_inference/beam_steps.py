"""The task on one step of a beam search."""

from itertools import product
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def log_shares(x: np.ndarray) -> np.ndarray:
    """Logarithms of the softmax of each row."""
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _step_cases(rng: Rng) -> list[Case]:
    def case(label: str, w: int, v: int, beams: int) -> Case:
        totals = -np.abs(normal(rng, w, dtype="float64", scale=2.0)) - 1.0
        return Case(label, (totals, log_shares(normal(rng, w, v, dtype="float64", scale=1.5)), beams))

    first = np.array([-0.25]), log_shares(normal(rng, 1, 6, dtype="float64")), 3
    # The likeliest text has the two best continuations, and another one none at all.
    totals = np.array([-1.0, -6.0, -2.0])
    log_p = np.log(np.array([[0.5, 0.3, 0.15, 0.05], [0.9, 0.05, 0.03, 0.02], [0.6, 0.2, 0.15, 0.05]]))
    return [
        case("W = 3, V = 7, four are kept", 3, 7, 4),
        case("W = V = 4, four are kept", 4, 4, 4),
        Case("a single text is open", first),
        Case("a text that nothing comes of", (totals, log_p, 3)),
        case("everything is kept", 2, 3, 6),
        case("one is kept: greedy", 1, 5, 1),
        case("W = 2, V = 300, forty are kept", 2, 300, 40),
    ]


def _step(totals: Any, log_p: Any, beams: int) -> Any:
    """All continuations in a list, sorted."""
    import torch

    w, v = log_p.shape
    continuations = sorted(
        ((float(totals[i] + log_p[i, j]), i, j) for i, j in product(range(w), range(v))), reverse=True
    )
    kinds = torch.float64, torch.int64, torch.int64  # a stand-in's parents and tokens are looked up with
    return tuple(
        torch.tensor([continuation[n] for continuation in continuations[:beams]], dtype=kind)
        for n, kind in enumerate(kinds)
    )


BEAM_STEP = described("10.beam-step", cases=_step_cases, oracle=_step)
