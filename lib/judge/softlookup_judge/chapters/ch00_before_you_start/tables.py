"""Questions on tensors: along which axis, what a whole number becomes, and turning against cutting anew."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _share_cases(rng: Rng) -> list[Case]:
    def case(label: str, *shape: int) -> Case:
        counts = rng.integers(0, 9, size=shape)
        counts[..., -1] += 1  # so that no row is empty
        return Case(label, (counts.astype("int64"),))

    return [
        case("three rows of five", 3, 5),
        case("four rows of four", 4, 4),
        case("two tables", 2, 3, 4),
        case("three tables of three rows of three", 3, 3, 3),
        case("four axes", 2, 3, 2, 5),
        case("one row", 1, 6),
        case("rows of one number", 4, 1),
    ]


def _shares(counts: Any) -> Any:
    import torch

    return torch.nn.functional.normalize(counts.double(), p=1.0, dim=-1)


SHARES = described("00.shares", cases=_share_cases, oracle=_shares)


def _transpose_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sentences of three tokens, D = 4", (normal(rng, 2, 3, 4),)),
        Case("equal sizes", (normal(rng, 3, 3, 3),)),
        Case("as many sentences as tokens", (normal(rng, 4, 4, 5),)),
        Case("as many tokens as numbers", (normal(rng, 2, 4, 4),)),
        Case("float64", (normal(rng, 3, 2, 5, dtype="float64"),), keeps_dtype=True),
    ]


def _transpose(x: Any) -> Any:
    import torch

    return torch.einsum("btd->bdt", x)


TRANSPOSE = described("00.transpose", cases=_transpose_cases, oracle=_transpose)
