"""A layer with a low-rank adapter, and a loss that compares two models."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import SOFTMAXES
from softlookup_judge.data.published import described

LARGE = "large"
"""The part of questions with logits in the thousands."""


def _lora_cases(rng: Rng) -> list[Case]:
    def case(label: str, lead: tuple[int, ...], d: int, f: int, r: int, alpha: float) -> Case:
        shapes = ((*lead, d), (f, d), (r, d), (f, r))
        return Case(label, (*(normal(rng, *shape, dtype="float64") for shape in shapes), alpha), frame="numpy")

    untrained = case("b is zero, as before the first step", (2,), 3, 4, 2, 8.0)
    untrained.args[3][:] = 0.0
    return [
        case("five rows, D = 4, F = 6, rank 3", (5,), 4, 6, 3, 6.5),
        case("two sequences of three rows, rank 2", (2, 3), 5, 4, 2, 16.0),
        case("a vector", (), 5, 3, 2, 1.0),
        case("rank 1", (3,), 4, 2, 1, 0.5),
        case("alpha equal to the rank", (2,), 5, 6, 4, 4.0),
        case("as many rows, columns and ranks", (3,), 3, 3, 3, 5.0),
        case("a rank above both widths", (4,), 2, 3, 5, 2.0),
        untrained,
        case("D = 33, F = 40, rank 17", (3,), 33, 40, 17, 8.0),
    ]


def _lora(x: Any, w: Any, a: Any, b: Any, alpha: float) -> Any:
    """The sum of the ranks' outer products, and the plain layer that it makes."""
    w, a, b = (np.asarray(array, dtype=np.float64) for array in (w, a, b))
    update = np.einsum("fr,rd->fd", b, a) * alpha / a.shape[0]
    merged = w + update
    return np.einsum("...d,fd->...f", x, merged), merged


LORA = described("20.lora", frame="numpy", cases=_lora_cases, oracle=_lora)


def _distill_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, v: int, tau: float, scale: float = 2.0, **facts: Any) -> Case:
        both = [normal(rng, t, v, dtype="float64", scale=scale) for _ in range(2)]
        return Case(label, (*both, tau), frame="numpy", **facts)

    equal = normal(rng, 3, 4, dtype="float64")
    apart = normal(rng, 4, 5, dtype="float64", scale=2.0)
    levels = np.array([-3000.0, 800.0, 0.0, 4000.0])[:, None]
    sure = np.where(np.arange(6) == np.array([[1], [5], [0]]), 40.0, 0.0)
    return [
        case("four tokens, V = 6, tau = 2", 4, 6, 2.0),
        case("a temperature of 1", 3, 5, 1.0),
        case("a temperature below 1", 2, 7, 0.5),
        case("a high temperature", 3, 4, 8.0, 4.0),
        case("as many tokens as ids", 4, 4, 3.0),
        case("one token", 1, 5, 1.5),
        Case("a student that is sure of another token", (sure[:, ::-1].copy(), sure, 4.0), frame="numpy"),
        Case("the student is the teacher, moved by a constant", (equal + 3.0, equal, 2.5), frame="numpy"),
        Case(
            "tokens whose logits lie thousands apart", (apart[::-1] + levels, apart + levels[::-1], 2.0), LARGE, "numpy"
        ),
        case("logits in the thousands", 3, 5, 2.0, 1500.0, part=LARGE),
        case("a vocabulary of more than 600 ids", 2, int(rng.integers(601, 700)), 1.5, 1.0),
        case("three hundred tokens", 300, 3, 2.0),
        Case("logits near 5,000", (apart + 5000.0, apart[:, ::-1] + 5000.0, 1.5), LARGE, "numpy", tolerance=1e-8),
    ]


def _distill_loss(student: Any, teacher: Any, tau: float) -> Any:
    import torch

    log_q, log_p = (
        torch.log_softmax(torch.from_numpy(np.ascontiguousarray(logits)) / tau, dim=-1) for logits in (student, teacher)
    )
    divergence = torch.nn.functional.kl_div(log_q, log_p, reduction="batchmean", log_target=True)
    return (tau**2 * divergence).numpy()


DISTILL = described(
    "20.distill",
    frame="numpy",
    cases=_distill_cases,
    oracle=_distill_loss,
    parts={"core": 0.7, LARGE: 0.3},
    forbids=(*SOFTMAXES, "torch.nn.functional.kl_div", "torch.nn.KLDivLoss", "scipy.special.rel_entr"),
)
