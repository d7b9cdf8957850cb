"""Questions on tensors: along which axis, what a whole number becomes, and turning against cutting anew."""

from typing import Any

from softlookup.checks.before_you_start.refreshers import PAGE, slip
from softlookup.checks.draws import Rng, normal
from softlookup.checks.task import Case, Task


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


TOTALS = "counts.sum(dim=-1, keepdim=True)"

SHARES = Task(
    id="00.shares",
    name="row_shares",
    title="Each row shared out",
    points=1,
    minutes=2,
    difficulty=1,
    page=PAGE,
    anchor="before-axes",
    returns=("shares",),
    cases=_share_cases,
    oracle=_shares,
    mistakes=(
        slip(
            "axes",
            "over-columns",
            ("dim=-1", "dim=-2"),
            says="Your columns sum to 1, not your rows: the sum runs along the last axis, -1.",
            number=8,
        ),
        slip(
            "axes",
            "first-axis",
            ("dim=-1", "dim=0"),
            says="The sum runs along the first axis, so your columns sum to 1, or whole tables are mixed: take the "
            "last one, -1.",
            number=9,
        ),
        slip(
            "axes",
            "fixed-axis",
            ("dim=-1", "dim=1"),
            says="Axis 1 is the last one where there are two axes, and not where there are more: write -1.",
            number=9,
        ),
        slip(
            "axes",
            "whole-table",
            (TOTALS, "counts.sum()"),
            says="All numbers together sum to 1: each row has a sum of its own.",
            number=10,
        ),
        slip(
            "broadcasting",
            "keepdim-forgotten",
            (TOTALS, "counts.sum(dim=-1)"),
            says="The sums lost their axis (`keepdim=True` is missing), so they lie along the "
            "columns: in a square table column j is divided by the sum of row j.",
        ),
        slip(
            "tensors",
            "whole-numbers",
            ("counts / totals", "counts // totals"),
            says="Shares are fractions, and yours were cut down to whole numbers (`//`, or a dtype of whole numbers "
            "such as `torch.long`).",
        ),
        slip(
            "axes",
            "mean-for-sum",
            (TOTALS, "counts.float().mean(dim=-1, keepdim=True)"),
            says="Each row was divided by its mean, so it sums to its length: divide by the sum.",
        ),
        slip(
            "axes",
            "by-the-largest",
            (TOTALS, "counts.amax(dim=-1, keepdim=True)"),
            says="Each row was divided by its largest number: divide by its sum.",
        ),
    ),
)


def _transpose_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sentences of three tokens, D = 4", (normal(rng, 2, 3, 4),)),
        Case("equal sizes", (normal(rng, 3, 3, 3),)),
        Case("as many sentences as tokens", (normal(rng, 4, 4, 5),)),
        Case("as many tokens as numbers", (normal(rng, 2, 4, 4),)),
        Case("float64", (normal(rng, 3, 2, 5, dtype="float64"),)),
    ]


def _transpose(x: Any) -> Any:
    import torch

    return torch.einsum("btd->bdt", x)


TURNED = "x.transpose(-2, -1)"

TRANSPOSE = Task(
    id="00.transpose",
    name="turned",
    title="Turned, not cut anew",
    points=1,
    minutes=1,
    difficulty=1,
    page=PAGE,
    anchor="before-tensors",
    returns=("x_BDT",),
    cases=_transpose_cases,
    oracle=_transpose,
    mistakes=(
        slip(
            "tensors",
            "cut-anew",
            (TURNED, "x.reshape(x.shape[0], x.shape[2], x.shape[1])"),
            says="The shape is right and the numbers are in the wrong places: `reshape` and `view` keep the numbers in "
            "their order and cut the rows anew. Exchange two axes with `transpose`.",
            number=15,
        ),
        slip(
            "tensors",
            "all-axes-turned",
            (TURNED, "x.permute(2, 1, 0)"),
            says="All three axes were turned round, as `.T` does it: the sentences stay in front.",
        ),
        slip(
            "tensors",
            "first-two-swapped",
            (TURNED, "x.transpose(0, 1)"),
            says="The first two axes were exchanged: it is the last two, -2 and -1.",
        ),
        slip(
            "tensors",
            "axes-rotated",
            (TURNED, "x.permute(2, 0, 1)"),
            says="The last axis came to the front: the sentences stay there.",
        ),
        slip(
            "tensors",
            "unchanged",
            (TURNED, "x"),
            says="Nothing has moved. `transpose` gives a new tensor and leaves the old one as it was: return what it "
            "gives.",
        ),
    ),
)
