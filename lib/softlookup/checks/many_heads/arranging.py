"""Tasks that lay numbers out: split into heads, merge them, project for all heads."""

from typing import Any

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import known
from softlookup.checks.many_heads.page import PAGE
from softlookup.checks.task import Case, Task

RESHAPE_ALONE = (
    "The rows are cut by a reshape alone: it fills head 0 with pieces of the first tokens. Part the columns first, "
    "(T, N, H), then exchange the axes of T and N."
)
AXES = {"core": 0.7, "axes": 0.3}
"""With one batch axis in front, and with any number of axes or none."""

INTERLEAVED = (
    "Head i got the columns i, i + N, i + 2N, …; it owns the columns i*H to (i+1)*H, side by side: (N, H), not (H, N)."
)

FIXED_AXES = (
    "Axes 1 and 2 are exchanged whatever comes in: with more axes in front, or none, those of T and N are -3 and -2."
)
HEADS_IN_FRONT = (
    "The heads stand before all other axes, the batch's too, as `torch.stack` puts them: their place is axis -3 "
    "(`dim=-3`), behind the batch."
)


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


CUT = "cut = x.reshape(*x.shape[:-1], n_heads, head_width)\n    return cut.transpose(-3, -2)"
TURNED = "cut.transpose(-3, -2)"

SPLIT = Task(
    id="05.split",
    name="split_heads",
    title="Split into heads",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="many-heads-split",
    returns=("heads",),
    cases=_split_cases,
    oracle=_split,
    parts=AXES,
)


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


MERGED = "z.transpose(-3, -2).flatten(-2)"
MERGED_ALONE = (
    "The heads are merged by a reshape alone: a row then holds several tokens of one head, where it should hold all "
    "heads of one token. Exchange the axes of N and T first."
)
AVERAGED = (
    "The heads are averaged: they are laid side by side, so that the output matrix can weigh each number of each head."
)
ADDED = (
    "The heads are added up: they are laid side by side, so that the output matrix can weigh each number of each head."
)

MERGE = Task(
    id="05.merge",
    name="merge_heads",
    title="Side by side again",
    points=2,
    minutes=4,
    difficulty=1,
    page=PAGE,
    anchor="many-heads-split",
    returns=("rows",),
    cases=_merge_cases,
    oracle=_merge,
    parts=AXES,
)


def _project_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sequences of three tokens, D = 5, N = 4, H = 2", (normal(rng, 2, 3, 5), normal(rng, 5, 8), 4)),
        Case("D = N*H = 6, N = 2", (normal(rng, 2, 4, 6), normal(rng, 6, 6), 2)),
        Case(
            "the second slide's sizes: T = 8, D = 4, N = 2, H = 2, no batch axis",
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


PROJECTED = "split_heads(x @ w, n_heads)"
SLICED = (
    "The tokens are cut before the projection, so head i reads only its own slice of the D numbers. Every head reads "
    "all of them: project first, then cut the result."
)
ROWS_FOR_COLUMNS = (
    "The weights are cut by a reshape alone: w.reshape(N, D, H) gives head 0 the first rows of w. It owns the first "
    "columns: part the last axis, (D, N, H), then bring N to the front."
)
ONE_FOR_ALL = "All heads use the same columns of w: head i has columns of its own, i*H to (i+1)*H."

PROJECT_HEADS = Task(
    id="05.project-heads",
    name="project_heads",
    title="Project, then split",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="many-heads-project-then-split",
    returns=("heads",),
    cases=_project_cases,
    oracle=projected,
    parts=AXES,
)
