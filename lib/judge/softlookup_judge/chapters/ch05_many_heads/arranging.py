"""Tasks that lay numbers out: split and merge heads, project for all heads, and the output matrix."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.oracles import from_heads, projected, torch
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


@graded("05.split", _split_cases, parts=AXES)
def split(x: Any, n_heads: int) -> Any:
    """Torch's own, and a stack."""
    return torch.stack(torch.tensor_split(x, n_heads, dim=-1), dim=-3)


def _merge_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sequences, N = 4, T = 3, H = 5", (normal(rng, 2, 4, 3, 5),)),
        Case("one sequence without a batch axis, N = 2, T = 5, H = 3", (normal(rng, 2, 5, 3),), part="axes"),
        Case("N = T = H = 3", (normal(rng, 2, 3, 3, 3),)),
        Case("five axes, N = 2, T = 3, H = 4", (normal(rng, 2, 5, 2, 3, 4),), part="axes"),
        Case("one head", (normal(rng, 2, 1, 3, 4),)),
    ]


@graded("05.merge", _merge_cases, parts=AXES)
def merge(z: Any) -> Any:
    """The heads side by side."""
    return torch.cat(z.unbind(dim=-3), dim=-1)


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


PROJECT_HEADS = described("05.project-heads", _project_cases, projected, parts=AXES)


def _packed_cases(rng: Rng, order: tuple[int, ...], wording: str) -> list[Case]:
    return [
        Case("two sequences of three tokens, D = 5, N = 4, H = 2", (normal(rng, 2, 3, 5), normal(rng, 5, 24), 4)),
        Case("D = N*H = 6, N = 3", (normal(rng, 2, 4, 6), normal(rng, 6, 18), 3)),
        Case("T = N = H = 3, D = 9", (normal(rng, 2, 3, 9), normal(rng, 9, 27), 3)),
        Case("no batch axis, T = 4, D = 5, N = 2, H = 3", (normal(rng, 4, 5), normal(rng, 5, 18), 2), part="axes"),
        Case("four axes, T = 3, D = 4, N = 2, H = 5", (normal(rng, 2, 5, 3, 4), normal(rng, 4, 30), 2), part="axes"),
        Case("one head", (normal(rng, 2, 3, 4), normal(rng, 4, 6), 1)),
    ]


WORDS = ("query", "key", "value")
ORDERS = ((0, 1, 2), (2, 1, 0), (2, 0, 1))
"""For each variant: where the blocks of the queries, the keys and the values stand. None is the public one with two
neighbours exchanged, once or twice: those are mistakes with names of their own."""


def _named(order: tuple[int, ...]) -> str:
    return ", ".join(sorted(WORDS, key=lambda name: order[WORDS.index(name)]))


@graded(
    "05.packed",
    _packed_cases,
    parts=AXES,
    variants=tuple({"order": order, "wording": _named(order)} for order in ORDERS),
)
def _packed(x: Any, w_qkv: Any, n_heads: int, order: tuple[int, ...], wording: str) -> Any:
    wide = w_qkv.shape[1] // 3
    return tuple(projected(x, w_qkv[:, i * wide : (i + 1) * wide], n_heads) for i in order)


def _blend_cases(rng: Rng) -> list[Case]:
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


OUTPUT = described("05.output", _blend_cases, from_heads, parts=AXES)


@graded("05.shares", _blend_cases, parts=AXES)
def _shares(z: Any, w_o: Any) -> Any:
    width = z.shape[-1]
    return torch.stack(
        [torch.nn.functional.linear(z[..., i, :, :], w_o[i * width : (i + 1) * width].mT) for i in range(z.shape[-3])],
        dim=-3,
    )
