"""Tasks of what a table of positions is good for: adding it to embeddings, and a shift as a matrix."""

from typing import Any

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import dtype_lost, gradient_cut, known
from softlookup.checks.positions.circles import DOUBLED, HALVED, ROOT, ROUNDED
from softlookup.checks.positions.page import PAGE
from softlookup.checks.task import Case, Task


def _add_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, t: int, d: int, start: int, rows: int, **how: Any) -> Case:
        dtype = how.pop("dtype", "float32")
        return Case(label, (normal(rng, b, t, d, dtype=dtype), normal(rng, rows, d, dtype=dtype), start), **how)

    upstream = normal(rng, 2, 3, 5, dtype="float64")
    return [
        case("B = 2, T = 3, D = 5, from position 0 on", 2, 3, 5, 0, 12),
        case("B = T = D = 4, from position 0 on", 4, 4, 4, 0, 9),
        case("B = T = 3, D = 6, from position 2 on", 3, 3, 6, 2, 9),
        case("one sequence, from position 5 on", 1, 4, 6, 5, 12),
        case("one new token at position 7", 3, 1, 8, 7, 12),
        case("float64", 2, 3, 5, 1, 8, dtype="float64", keeps_dtype=True, part="dtype", tolerance=ROOT),
        case("float32", 2, 3, 5, 1, 8, keeps_dtype=True, part="dtype"),
        case(
            "gradients of tokens and table",
            2,
            3,
            5,
            1,
            8,
            dtype="float64",
            gradients=(0, 1),
            upstream=upstream,
            part="gradient",
            tolerance=ROOT,
        ),
    ]


def _add(x: Any, table: Any, start: int) -> Any:
    import torch

    where = torch.arange(start, start + x.shape[1])
    own = torch.nn.functional.embedding(where, table)
    return torch.stack([torch.add(own, tokens, alpha=tokens.shape[1] ** 0.5) for tokens in x])


SUM = "return x * math.sqrt(d_model) + rows"
ROWS = "rows = table[start : start + length]"

ADD = Task(
    id="06.add",
    name="add_positions",
    title="Scale and add",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="positions-adding",
    returns=("sum",),
    cases=_add_cases,
    oracle=_add,
    parts={"core": 0.7, "dtype": 0.15, "gradient": 0.15},
    mistakes=(
        known(
            "no-scale",
            (SUM, "return x + rows"),
            says="The embeddings are not scaled: they are multiplied by sqrt(D) before the positions are added.",
            number=32,
        ),
        known(
            "scaled-sum",
            (SUM, "return (x + rows) * math.sqrt(d_model)"),
            says="The positions are scaled as well: only the embeddings are multiplied by sqrt(D).",
            number=32,
        ),
        known(
            "divided",
            (SUM, "return x / math.sqrt(d_model) + rows"),
            says="The embeddings are divided by sqrt(D): they are multiplied by it.",
            number=32,
        ),
        known(
            "width-for-root",
            (SUM, "return x * d_model + rows"),
            says="The embeddings are multiplied by D: it is the square root of D.",
            number=32,
        ),
        known(
            "sqrt-of-tokens",
            (SUM, "return x * math.sqrt(length) + rows"),
            says="The root is taken of the number of tokens: it is that of the width D.",
            number=5,
        ),
        known(
            "along-the-batch",
            (ROWS, "rows = table[start : start + x.shape[0], None]"),
            says="The positions run along the batch: all tokens of sequence 0 get the first row. They run along the "
            "tokens, axis 1, and are the same for every sequence.",
            number=33,
        ),
        known(
            "rows-of-the-batch",
            (ROWS, "rows = table[start : start + x.shape[0]]"),
            says="As many rows are taken as there are sequences: there is one for each token, so count along axis 1.",
            number=33,
        ),
        known(
            "one-for-all",
            (ROWS, "rows = table[start]"),
            says="Every token gets the same row: token t stands at position start + t.",
        ),
        known(
            "start-ignored",
            (ROWS, "rows = table[:length]"),
            says="The first token is taken to stand at position 0: it stands at `start`.",
            number=70,
        ),
        known(
            "one-late",
            (ROWS, "rows = table[start + 1 : start + 1 + length]"),
            says="Every position is one too many: the first token stands at `start` itself.",
            number=29,
        ),
        known(
            "concatenated",
            (SUM, "return torch.cat([x * math.sqrt(d_model), rows.expand_as(x)], dim=-1)"),
            says="The positions stand behind the embeddings, 2D wide: they are added to them.",
        ),
        known(
            "multiplied",
            (SUM, "return x * math.sqrt(d_model) * rows"),
            says="The rows are multiplied in: they are added.",
        ),
        gradient_cut((SUM, "return (x * math.sqrt(d_model) + rows).detach()")),
        dtype_lost((SUM, "return (x * math.sqrt(d_model) + rows).double()")),
    ),
)


def _shift_cases(rng: Rng) -> list[Case]:
    def case(steps: int, width: int) -> Case:
        return Case(f"{steps} steps, D = {width}", (steps, width), tolerance=ROUNDED)

    return [case(1, 4), case(3, 6), case(-2, 8), case(0, 4), case(int(rng.integers(5, 30)), 10), case(7, 2)]


def _shift(steps: int, width: int) -> Any:
    """A turn without an end, for so many steps: the exponential of the slopes."""
    import torch

    speeds = torch.logspace(0, -4 + 8 / width, width // 2, dtype=torch.float64)
    slope = torch.block_diag(*(torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64) * w for w in speeds))
    return torch.linalg.matrix_exp(steps * slope)


ANGLE = "turned = position_angles(torch.tensor([steps]), d_model, base)[0]"
ALONG = "matrix[s, s] = matrix[c, c] = angle.cos()"
BELOW = "matrix[c, s] = angle.sin()"
ABOVE = "matrix[s, c] = -angle.sin()"
WHERE = "s, c = 2 * i, 2 * i + 1"

SHIFT = Task(
    id="06.shift",
    name="shift_matrix",
    title="A shift is a rotation",
    points=3,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="positions-shift",
    returns=("matrix",),
    cases=_shift_cases,
    oracle=_shift,
    mistakes=(
        known(
            "backwards",
            (BELOW, "matrix[c, s] = -angle.sin()"),
            (ABOVE, "matrix[s, c] = angle.sin()"),
            says="This turns the other way: it is the transpose, which leads from position p + k back to p, "
            "or which is written for columns. Here a row is multiplied from the left: PE(p) @ M = PE(p "
            "+ k).",
            number=35,
        ),
        known(
            "no-minus",
            (ABOVE, "matrix[s, c] = angle.sin()"),
            says="A minus is missing: cos(a + b) = cos a cos b - sin a sin b, so one of the two sines is negative.",
        ),
        known(
            "size-of-steps",
            (ANGLE, ANGLE.replace("steps", "abs(steps)")),
            says="Steps back are taken for steps on: `steps` may be negative, and then the hands turn back.",
        ),
        known(
            "one-step",
            (ANGLE, ANGLE.replace("steps", "1")),
            says="This is the matrix of one step: hand i turns by `steps` times its speed.",
        ),
        known(
            "swapped",
            (ALONG, "matrix[s, s] = matrix[c, c] = angle.sin()"),
            (BELOW, "matrix[c, s] = angle.cos()"),
            (ABOVE, "matrix[s, c] = -angle.cos()"),
            says="Sine and cosine have changed places: no step at all leaves every row as it is, so the diagonal holds "
            "cosines.",
            number=30,
        ),
        known(
            "one-sine",
            (ABOVE, "pass"),
            says="Each block has one sine: it has two, one of them with a minus.",
        ),
        known(
            "halves",
            (WHERE, "s, c = i, i + d_model // 2"),
            says="This is for tables with all sines first: here the sine of pair i stands in column 2i, its cosine in "
            "column 2i + 1.",
            number=30,
        ),
        known(
            "one-speed",
            (ANGLE, ANGLE + " * 0 + steps"),
            says="All pairs turn by the same angle: pair i turns by k * base^(-2i/D).",
        ),
        known("exponent-doubled", ("base = 10000.0", "base = 10000.0**2"), says=DOUBLED, number=28),
        known("exponent-halved", ("base = 10000.0", "base = 10000.0**0.5"), says=HALVED, number=28),
    ),
)
