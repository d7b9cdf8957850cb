"""Tasks that lay numbers out: split into heads, merge them, project for all heads."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described

AXES = {"core": 0.7, "axes": 0.3}
"""With one batch axis in front, and with any number of axes or none."""


def _split_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sequences of three tokens, N = 4, H = 5", (normal(rng, 2, 3, 20), 4)),
        Case("one sequence without a batch axis, T = 5, N = 2, H = 3", (normal(rng, 5, 6), 2), part="axes"),
        Case("T = N = H = 3", (normal(rng, 2, 3, 9), 3)),
        Case("four axes, T = 3, N = 2, H = 4", (normal(rng, 2, 5, 3, 8), 2), part="axes"),
        Case("one head", (normal(rng, 2, 3, 4), 1)),
        Case("one token", (normal(rng, 3, 1, 6), 3)),
    ]


def _split(x: Any, n_heads: int) -> Any:
    import torch

    return torch.stack(torch.tensor_split(x, n_heads, dim=-1), dim=-3)


SPLIT = described("05.split", cases=_split_cases, oracle=_split, parts=AXES)


def _merge_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sequences, N = 4, T = 3, H = 5", (normal(rng, 2, 4, 3, 5),)),
        Case("one sequence without a batch axis, N = 2, T = 5, H = 3", (normal(rng, 2, 5, 3),), part="axes"),
        Case("N = T = H = 3", (normal(rng, 2, 3, 3, 3),)),
        Case("five axes, N = 2, T = 3, H = 4", (normal(rng, 2, 5, 2, 3, 4),), part="axes"),
        Case("one head", (normal(rng, 2, 1, 3, 4),)),
    ]


def _merge(z: Any) -> Any:
    import torch

    return torch.cat(z.unbind(dim=-3), dim=-1)


MERGE = described("05.merge", cases=_merge_cases, oracle=_merge, parts=AXES)


def _project_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sequences of three tokens, D = 5, N = 4, H = 2", (normal(rng, 2, 3, 5), normal(rng, 5, 8), 4)),
        Case("D = N*H = 6, N = 2", (normal(rng, 2, 4, 6), normal(rng, 6, 6), 2)),
        Case(
            "small sizes: T = 8, D = 4, N = 2, H = 2, no batch axis",
            (normal(rng, 8, 4), normal(rng, 4, 4), 2),
            part="axes",
        ),
        Case("N*H wider than D", (normal(rng, 2, 2, 4), normal(rng, 4, 15), 5)),
        Case("T = N = H = 3, D = 9", (normal(rng, 2, 3, 9), normal(rng, 9, 9), 3)),
        Case("four axes, T = 3, D = 4, N = 2, H = 5", (normal(rng, 2, 5, 3, 4), normal(rng, 4, 10), 2), part="axes"),
    ]


def projected(x: Any, w: Any, n_heads: int) -> Any:
    """The tokens through the weights, head by head (..., N, T, H), in one product over three axes."""
    import torch

    w_DNH = w.unflatten(1, (n_heads, w.shape[1] // n_heads))
    return torch.einsum("...td,dnh->...nth", x, w_DNH)


PROJECT_HEADS = described("05.project-heads", cases=_project_cases, oracle=projected, parts=AXES)
