"""The task of one matrix for three projections: part its blocks, then their heads."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch05_many_heads.arranging import AXES, projected
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _packed_cases(rng: Rng, order: tuple[int, ...], named: str) -> list[Case]:
    return [
        Case("two sequences of three tokens, D = 5, N = 4, H = 2", (normal(rng, 2, 3, 5), normal(rng, 5, 24), 4)),
        Case("D = N*H = 6, N = 3", (normal(rng, 2, 4, 6), normal(rng, 6, 18), 3)),
        Case("T = N = H = 3, D = 9", (normal(rng, 2, 3, 9), normal(rng, 9, 27), 3)),
        Case("no batch axis, T = 4, D = 5, N = 2, H = 3", (normal(rng, 4, 5), normal(rng, 5, 18), 2), part="axes"),
        Case("four axes, T = 3, D = 4, N = 2, H = 5", (normal(rng, 2, 5, 3, 4), normal(rng, 4, 30), 2), part="axes"),
        Case("one head", (normal(rng, 2, 3, 4), normal(rng, 4, 6), 1)),
    ]


def _packed(x: Any, w_qkv: Any, n_heads: int, order: tuple[int, ...], named: str) -> Any:
    wide = w_qkv.shape[1] // 3
    return tuple(projected(x, w_qkv[:, i * wide : (i + 1) * wide], n_heads) for i in order)


WORDS = ("query", "key", "value")
ORDERS = ((0, 1, 2), (2, 1, 0), (2, 0, 1))
"""For each variant: where the blocks of the queries, the keys and the values stand. None is the public one with two
neighbours exchanged, once or twice: those are mistakes with names of their own."""


def _named(order: tuple[int, ...]) -> str:
    return ", ".join(sorted(WORDS, key=lambda word: order[WORDS.index(word)]))


PACKED = described(
    "05.packed",
    cases=_packed_cases,
    oracle=_packed,
    parts=AXES,
    variants=tuple({"order": order, "named": _named(order)} for order in ORDERS),
)
