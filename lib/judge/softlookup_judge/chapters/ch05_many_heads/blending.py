"""Tasks about the output matrix: the heads blended, and what each head adds."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch05_many_heads.arranging import AXES
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _cases(rng: Rng) -> list[Case]:
    return [
        Case("two sequences, N = 4, T = 3, H = 2, D = 5", (normal(rng, 2, 4, 3, 2), normal(rng, 8, 5))),
        Case("N·H is not D: T = 2, N = 5, H = 3, D = 4", (normal(rng, 5, 2, 3), normal(rng, 15, 4)), part="axes"),
        Case("D = N*H = 6, N = 2, T = 4", (normal(rng, 2, 2, 4, 3), normal(rng, 6, 6))),
        Case("N = T = H = 3, D = 9", (normal(rng, 2, 3, 3, 3), normal(rng, 9, 9))),
        Case("five axes, N = 2, T = 3, H = 4, D = 7", (normal(rng, 2, 2, 2, 3, 4), normal(rng, 8, 7)), part="axes"),
        Case("one head, D = 5", (normal(rng, 2, 1, 3, 4), normal(rng, 4, 5))),
        Case("a batch of one sequence, N = 3, T = 4, H = 2, D = 5", (normal(rng, 1, 3, 4, 2), normal(rng, 6, 5))),
        Case("a batch of one sequence, one token, N = 3, H = 2, D = 5", (normal(rng, 1, 3, 1, 2), normal(rng, 6, 5))),
        Case("heads of width 1, N = 4, T = 3, D = 1", (normal(rng, 2, 4, 3, 1), normal(rng, 4, 1))),
        Case("one sequence, one head, one token, H = 1, D = 1", (normal(rng, 1, 1, 1, 1), normal(rng, 1, 1))),
    ]


def _blend(z: Any, w_o: Any) -> Any:
    import torch

    return torch.einsum("...nth,nhd->...td", z, w_o.unflatten(0, (z.shape[-3], z.shape[-1])))


OUTPUT = described("05.output", cases=_cases, oracle=_blend, parts=AXES)


def _shares(z: Any, w_o: Any) -> Any:
    import torch

    width = z.shape[-1]
    return torch.stack(
        [torch.nn.functional.linear(z[..., i, :, :], w_o[i * width : (i + 1) * width].mT) for i in range(z.shape[-3])],
        dim=-3,
    )


SHARES = described("05.shares", cases=_cases, oracle=_shares, parts=AXES)
