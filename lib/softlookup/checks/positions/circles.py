"""Tasks of sinusoids: the angles of the hands, and the table."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.positions.page import PAGE
from softlookup.checks.task import Case, Task

ROUNDED = 5e-5
"""What float32 leaves of a sine whose angle is some tens of radians."""

ROOT = 1e-6
"""What is left where a root or a sine was taken in float32 (`torch.sqrt(torch.tensor(D))`) among float64 numbers."""

HALVED = "The exponent is i/D: pair i turns by base^(-2i/D), so the pairs count by twos."
DOUBLED = (
    "The exponent is 4i/D: pair i turns by base^(-2i/D). If i already runs over the columns 0, 2, 4, …, the 2 is in it."
)
COLUMNS = "Each column has a speed of its own: columns 2i and 2i + 1 are one pair, and share the exponent 2i/D."
BY_ONE_PAIR = "The pairs are counted from 1: they are counted from 0, so that pair 0 turns by one radian."
UPWARDS = "Later pairs turn faster here: they turn slower, so the position is divided by base^(2i/D)."
BY_ONE = "The positions begin at 1: the first token stands at position 0."


def _angle_cases(rng: Rng) -> list[Case]:
    drawn = rng.integers(-40, 400, size=6).astype("int64")
    cases = [
        ("positions 0 to 7, D = 4, base 10,000", np.arange(8), 4, 10000.0),
        ("positions from 3 on, D = 6, base 100", np.arange(3, 8), 6, 100.0),
        ("positions here and there, also negative ones, D = 8", drawn, 8, 10000.0),
        ("as many positions as pairs, D = 10", np.arange(5), 10, 1000.0),
        ("one position, D = 2", np.array([17]), 2, 10000.0),
        ("D = 64", np.array([1, 100]), 64, 10000.0),
        ("an odd width, D = 7: the last pair is half a pair", np.arange(2, 8), 7, 10000.0),
    ]
    # As strict as with an answer in float32: one with float32 speeds and float64 positions is no worse than that.
    return [Case(label, (where.astype("int64"), width, base), tolerance=1e-5) for label, where, width, base in cases]


def _angles(positions: Any, width: int, base: float) -> Any:
    """Each speed is the one before, times one and the same factor."""
    import torch

    factor = torch.tensor(base, dtype=torch.float64).pow(-2.0 / width)
    speeds = torch.cumprod(torch.cat([factor.new_ones(1), factor.repeat((width + 1) // 2 - 1)]), dim=0)
    return torch.outer(positions.double(), speeds)


PAIRS = "i = torch.arange((width + 1) // 2, dtype=torch.float64)"
SPEEDS = "base ** (-2 * i / width)"
EACH = "positions[:, None] * speeds"

ANGLES = Task(
    id="06.angles",
    name="position_angles",
    title="How far each hand has turned",
    points=2,
    minutes=8,
    difficulty=1,
    page=PAGE,
    anchor="positions-sinusoids",
    returns=("angles",),
    cases=_angle_cases,
    oracle=_angles,
    mistakes=(
        known("exponent-halved", (SPEEDS, "base ** (-i / width)"), says=HALVED, number=28),
        known("exponent-doubled", (SPEEDS, "base ** (-4 * i / width)"), says=DOUBLED, number=28),
        known(
            "width-of-pairs",
            (SPEEDS, "base ** (-2 * i / len(i))"),
            says="The exponent is divided by the number of pairs: it is divided by the width D, which is twice that.",
            number=28,
        ),
        known(
            "divided-upwards",
            (SPEEDS, "base ** (2 * i / width)"),
            says=UPWARDS,
        ),
        known(
            "odd-width-rounded",
            (SPEEDS, "base ** (-2 * i / (width + width % 2))"),
            says="An odd width is rounded up in the exponent: the exponent is 2i/D with the D that was asked for.",
            number=31,
        ),
        known(
            "half-pair-dropped",
            (PAIRS, "i = torch.arange(width // 2, dtype=torch.float64)"),
            says="An odd width loses its last hand: the last number has no partner, but a hand of its own.",
            number=31,
        ),
        known(
            "base-ignored",
            (SPEEDS, "10000.0 ** (-2 * i / width)"),
            says="The base is always 10,000 here: it is given as `base`.",
        ),
        known(
            "pairs-from-one",
            (PAIRS, "i = torch.arange(1, (width + 1) // 2 + 1, dtype=torch.float64)"),
            says=BY_ONE_PAIR,
            number=27,
        ),
        known(
            "hands-twice",
            (EACH, "(" + EACH + ").repeat_interleave(2, dim=1)[:, :width]"),
            says="Each angle stands there twice, once for each of the pair's two columns: there is one for each pair.",
        ),
        known(
            "column-by-column",
            (PAIRS, "i = torch.arange(width, dtype=torch.float64) / 2"),
            says=COLUMNS + " There are half as many angles as columns.",
            number=27,
        ),
        known("starts-at-one", (EACH, "(positions[:, None] + 1) * speeds"), says=BY_ONE, number=29),
        known(
            "counted-anew",
            (EACH, "torch.arange(len(positions))[:, None] * speeds"),
            says="The positions are counted anew from 0: they are given, and need not begin there.",
            number=70,
        ),
        known(
            "degrees",
            (EACH, "torch.deg2rad(positions[:, None] * speeds)"),
            says="These are the angles as if they had been degrees: pair 0 turns by 1 radian at each step.",
        ),
        known(
            "whole-turns",
            (EACH, EACH + " * 2 * math.pi"),
            says="A hand turns by 2 pi times too much: hand 0 turns by 1 radian at each step, not by a whole turn.",
        ),
        known(
            "sines",
            (EACH, "(" + EACH + ").sin()"),
            says="These are sines of the angles: return the angles themselves.",
        ),
        known(
            "transposed",
            (EACH, "(positions[:, None] * speeds).T"),
            says="Rows and columns have changed places: one row for each position.",
        ),
        known(
            "linear-speeds",
            (SPEEDS, "torch.where(i == 0, 1.0, 1 / (base * 2 * i / width).clamp(min=1e-9))"),
            says="The base is multiplied by 2i/D: it is raised to that power.",
        ),
    ),
)


def _table_cases(rng: Rng) -> list[Case]:
    def case(length: int, width: int, part: str = "core") -> Case:
        return Case(f"{length} positions, D = {width}", (length, width), part=part, tolerance=ROUNDED)

    return [
        case(8, 4),
        case(5, 6),
        case(8, 8),
        case(int(rng.integers(10, 25)), 16),
        case(1, 8),
        case(3, 128),
        case(6, 5, "odd"),
        case(7, 7, "odd"),
        case(4, 9, "odd"),
    ]


def _table(length: int, width: int) -> Any:
    """The imaginary and real parts of one complex number that turns."""
    import torch

    where = torch.arange(length, dtype=torch.float64)[:, None]
    speeds = torch.exp(-torch.log(torch.tensor(1e4, dtype=torch.float64)) * torch.arange(0, width, 2) / width)
    hands = torch.polar(torch.ones_like(where * speeds), where * speeds)
    return torch.view_as_real(hands).flip(-1).flatten(-2)[:, :width]


TURNED = "turned = position_angles(torch.arange(length), d_model, base)"
SINES = "table[:, 0::2] = turned.sin()"
COSINES = "table[:, 1::2] = turned.cos()[:, : d_model // 2]"
BACK = "return table"
EACH_COLUMN = (
    "turned = torch.arange(length)[:, None] * base ** (-{}torch.arange(d_model) / d_model)\n"
    "    table[:, 0::2], table[:, 1::2] = turned[:, 0::2].sin(), turned[:, 1::2].cos()\n    return table"
)

SINUSOIDS = Task(
    id="06.sinusoids",
    name="sinusoids",
    title="The table of sinusoids",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="positions-sinusoids",
    returns=("table",),
    cases=_table_cases,
    oracle=_table,
    parts={"core": 0.8, "odd": 0.2},
    forbids=("softlookup.model", "softlookup.reference"),
    mistakes=(
        known(
            "cosine-next",
            (
                COSINES,
                "i = torch.arange(d_model // 2) + 1\n    own = torch.arange(length)[:, None] * base ** (-2.0 * i / "
                "(d_model))\n    table[:, 1::2] = own.cos()",
            ),
            says="The cosine takes the exponent of the next pair: sine and cosine of one pair share their angle, so "
            "column 2i + 1 has the exponent 2i/D as well.",
            number=27,
        ),
        known("column-by-column", (BACK, EACH_COLUMN.format("")), says=COLUMNS, number=27),
        known(
            "columns-doubled",
            (BACK, EACH_COLUMN.format("2 * ")),
            says="The exponent of column c is 2c/D: the 2 is in the number of the column already. Columns 2i and "
            "2i + 1 share the exponent 2i/D.",
            number=28,
        ),
        known("transposed", (BACK, "return table.T"), says="One row for each position: rows and columns are swapped."),
        known(
            "last-sine-missing",
            (BACK, "table[:, d_model // 2 * 2 :] = 0\n    return table"),
            says="The last column of an odd width is 0: it holds the last hand's sine, whose cosine is left out.",
            number=31,
        ),
        known(
            "exponent-halved",
            (TURNED, "turned = position_angles(torch.arange(length), 2 * d_model, base)[:, : (d_model + 1) // 2]"),
            says=HALVED,
            number=28,
        ),
        known("exponent-doubled", ("base = 10000.0", "base = 10000.0**2"), says=DOUBLED, number=28),
        known("starts-at-one", ("torch.arange(length)", "torch.arange(1, length + 1)"), says=BY_ONE, number=29),
        known(
            "swapped",
            (SINES, "table[:, 0::2] = turned.COS()"),
            (COSINES, "table[:, 1::2] = turned.sin()[:, : d_model // 2]"),
            ("COS", "cos"),
            says="Sine and cosine have changed places: sines stand in the even columns, cosines in the odd "
            "ones, so that row 0 begins 0, 1.",
            number=30,
        ),
        known(
            "halves",
            (BACK, "return torch.cat([turned.sin(), turned.cos()], dim=-1)[:, :d_model]"),
            says="All sines come first, then all cosines: here sine and cosine of a pair stand side by side. (Some "
            "published programs have it your way; the numbers are the same, in another order.)",
            number=30,
        ),
        known(
            "sine-alone",
            ("turned.cos()", "turned.sin()"),
            says="The odd columns hold sines too: they hold the cosines.",
        ),
        known(
            "one-too-many",
            (BACK, "return torch.stack([turned.sin(), turned.cos()], dim=-1).flatten(-2)"),
            says="An odd width gets a column too many: there is one sine more than there are cosines, so "
            "the last cosine is left out.",
            number=31,
        ),
        known(
            "odd-width-rounded",
            (TURNED, "turned = position_angles(torch.arange(length), d_model + d_model % 2, base)"),
            says="An odd width is rounded up in the exponent: the exponent is 2i/D with the D that was asked for.",
            number=31,
        ),
    ),
)
