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
    mistakes=(
        known(
            "reshape-alone",
            (CUT, "return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], head_width)"),
            says=RESHAPE_ALONE,
            number=15,
        ),
        known(
            "interleaved",
            (CUT, "return x.reshape(*x.shape[:-1], head_width, n_heads).movedim(-1, -3)"),
            says=INTERLEAVED,
            number=17,
        ),
        known(
            "not-transposed",
            (TURNED, "cut"),
            says="The columns are parted, (T, N, H), but the heads still stand behind the positions: exchange these "
            "two axes.",
        ),
        known(
            "positions-last",
            (TURNED, "cut.movedim(-3, -1)"),
            says="The positions have become the last axis, (N, H, T): each head keeps one row for each position, (N, "
            "T, H).",
        ),
        known(
            "heads-in-front",
            (CUT, "return torch.stack(x.chunk(n_heads, dim=-1))"),
            says=HEADS_IN_FRONT,
        ),
        known(
            "counts-swapped",
            ("n_heads, head_width)", "head_width, n_heads)"),
            says="N and H have changed places: this makes H heads of width N.",
        ),
        known(
            "fixed-axes",
            (TURNED, "cut.transpose(1, 2)"),
            says=FIXED_AXES,
            number=9,
        ),
    ),
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
    mistakes=(
        known(
            "merged-without-transpose",
            (MERGED, "z.reshape(*z.shape[:-3], z.shape[-2], -1)"),
            says=MERGED_ALONE,
            number=16,
        ),
        known("heads-averaged", (MERGED, "z.mean(dim=-3)"), says=AVERAGED, number=24),
        known("heads-added", (MERGED, "z.sum(dim=-3)"), says=ADDED, number=24),
        known(
            "below-each-other",
            (MERGED, "z.flatten(-3, -2)"),
            says="The heads stand below each other, (N*T, H): each token gets one row with all its heads, (T, N*H).",
        ),
        known(
            "interleaved",
            (MERGED, "z.movedim(-3, -1).flatten(-2)"),
            says="The heads are shuffled into each other, number by number: head i fills the columns i*H to (i+1)*H.",
            number=17,
        ),
        known(
            "fixed-axes",
            (MERGED, "z.transpose(1, 2).flatten(2)"),
            says="Axes 1 and 2 are exchanged whatever comes in: those of N and T are -3 and -2.",
            number=9,
        ),
    ),
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
    mistakes=(
        known(
            "input-sliced",
            (
                f"return {PROJECTED}",
                "d, h = x.shape[-1] // n_heads, w.shape[1] // n_heads\n    heads = [x[..., i * d : i * d + d] @ w[i * "
                "d : i * d + d, i * h : i * h + h] for i in range(n_heads)]\n    return torch.stack(heads, dim=-3)",
            ),
            says=SLICED,
            number=19,
        ),
        known(
            "one-for-all",
            (PROJECTED, "torch.stack([x @ w[:, : w.shape[1] // n_heads]] * n_heads, dim=-3)"),
            says=ONE_FOR_ALL,
            number=20,
        ),
        known(
            "weights-transposed-in-projection",
            ("x @ w,", "x @ w.T,"),
            says="The weights are used transposed: a row vector times a matrix is `x @ w`, and w has shape (D, N*H) "
            "already.",
        ),
        known(
            "not-split",
            (PROJECTED, "x @ w"),
            says="The projection is there, but the heads still lie side by side in it: split it.",
        ),
        known(
            "reshape-alone",
            (PROJECTED, "(x @ w).reshape(*x.shape[:-2], n_heads, x.shape[-2], -1)"),
            says=RESHAPE_ALONE,
            number=15,
        ),
        known(
            "interleaved",
            (PROJECTED, "(x @ w).unflatten(-1, (-1, n_heads)).movedim(-1, -3)"),
            says=INTERLEAVED,
            number=17,
        ),
        known(
            "weights-reshaped-alone",
            (PROJECTED, "x.unsqueeze(-3) @ w.reshape(n_heads, w.shape[0], -1)"),
            says=ROWS_FOR_COLUMNS,
            number=15,
        ),
        known(
            "fixed-axes",
            (PROJECTED, "(x @ w).unflatten(-1, (n_heads, -1)).transpose(1, 2)"),
            says=FIXED_AXES,
            number=9,
        ),
    ),
)
