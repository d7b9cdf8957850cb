"""Tasks that add up: what rounding explains, rows of weights, the checksum of a product."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, softmax


def round_to(numbers: np.ndarray, decimals: int) -> np.ndarray:
    """Numbers as a slide prints them."""
    return np.rint(numbers * 10**decimals) / 10**decimals


def near(printed: np.ndarray, true: np.ndarray, decimals: int) -> np.ndarray:
    """Cell by cell: whether rounding explains what is printed."""
    return np.asarray(np.abs(printed - true) <= 0.5 * 10.0**-decimals * (1 + 1e-9))


def slipped(rng: Rng, table: np.ndarray, decimals: int, units: int = 7) -> np.ndarray:
    """A printed table with one cell that is off by so many units of its last place."""
    changed = table.copy()
    changed[tuple(int(rng.integers(n)) for n in table.shape)] += units * 10.0**-decimals
    return round_to(changed, decimals)


def _one_table(rng: Rng, shape: tuple[int, ...], decimals: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers away from halves; most are rounded, the others slipped in one of five ways."""
    whole = rng.integers(1, most, shape) * rng.choice([-1, 1], shape)
    part = rng.uniform(0.1, 0.45, shape) * rng.choice([-1, 1], shape)
    kinds = rng.permutation(np.arange(whole.size) % 7).reshape(shape)
    part = np.where(kinds == 2, -np.sign(whole) * np.abs(part), np.where(kinds == 5, 0.0, part))
    true = whole + part
    printed = np.select(
        [kinds == 1, kinds == 2, kinds == 3, kinds == 4], [whole + 1, np.trunc(true), -whole, whole - 10], whole
    )
    unit = 10.0**decimals
    return printed / unit, np.where(kinds == 5, whole / unit, true / unit)


def _printed_cases(rng: Rng) -> list[Case]:
    cases = [
        Case(
            f"a table of shape {shape}, printed to {decimals} places",
            (*_one_table(rng, shape, decimals, most), decimals),
        )
        # Numbers in the millions: a tolerance relative to them is too wide.
        for shape, decimals, most in (
            *(((4, 7), 2, 400), ((14,), 3, 400), ((3, 7), 1, 400), ((2, 2, 7), 3, 400)),
            *(((7, 2), 0, 5_000_000), ((5, 7), 4, 50_000)),
        )
    ]
    cases.append(Case("one number that agrees", (0.33, 0.3261, 2)))
    cases.append(Case("one number that does not", (-0.66, -0.6536, 2)))
    return [Case(case.label, case.args) for case in cases]


@graded("14.printed", _printed_cases, frame="numpy")
def _agrees(printed: np.ndarray, true: np.ndarray, places: int) -> np.ndarray:
    return near(np.asarray(printed), np.asarray(true), places)


def _rows(rng: Rng, s: int, decimals: int, off: tuple[int, ...], negative: tuple[int, ...] = ()) -> np.ndarray:
    """Rows of shares, in units of the last place, whose sums are off by so many; some with a negative cell."""
    whole = 10**decimals
    table = np.rint(softmax(rng.standard_normal((len(off), s))) * whole).astype(np.int64)
    for i, row in enumerate(table):
        if i in negative:
            row[int(rng.integers(s - 1))] = -3
        row[-1] += whole + off[i] - row.sum()
    for row in table:
        rng.shuffle(row)
    return np.asarray(table / whole)


def _rows_cases(rng: Rng) -> list[Case]:
    tables = (
        ("five keys, three places", _rows(rng, 5, 3, (0, 1, -2, 3, -4, 5, 0), (6,)), 3),
        ("four keys, two places", _rows(rng, 4, 2, (0, -1, 3, -3, 1)), 2),
        ("nine keys, three places", _rows(rng, 9, 3, (4, -4, 5, -6, 9, 0), (5,)), 3),
        ("two heads", np.stack([_rows(rng, 5, 2, (0, 3, -1)), _rows(rng, 5, 2, (-5, 0, 2))]), 2),
        ("weights so small that 0 is printed", np.array([[0.0, 0.97, 0.03], [0.5, 0.5, 0.0], [0.0, 0.9, 0.0]]), 2),
        ("a sound table", _rows(rng, 6, 3, (0, 1, -2, 2, 0)), 3),
        ("as many rows as keys", _rows(rng, 5, 3, (0, 4, 0, -3, 0)), 3),
        ("three keys, four places", _rows(rng, 3, 4, (1, 2, -1, 0)), 4),
    )
    return [Case(label, (table, decimals)) for label, table, decimals in tables]


@graded("14.rows", _rows_cases, frame="numpy")
def _impossible(weights: np.ndarray, places: int) -> np.ndarray:
    """In whole units, row by row."""
    flat = weights.reshape(-1, weights.shape[-1])
    verdicts = []
    for row in flat:
        units = [round(float(weight) * 10**places) for weight in row]
        verdicts.append(2 * abs(sum(units) - 10**places) > len(units) or min(units) < 0)
    return np.array(verdicts).reshape(weights.shape[:-1])


def _product(
    rng: Rng, t: int, d: int, h: int, decimals: int, scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, w = scale * rng.standard_normal((t, d)), rng.standard_normal((d, h))
    return x, w, round_to(x @ w, decimals)


def _checksum_cases(rng: Rng) -> list[Case]:
    def product_with_errors(
        t: int, d: int, h: int, decimals: int, *cells: tuple[int, int, int], scale: float = 1.0
    ) -> tuple[np.ndarray, ...]:
        x, w, printed = _product(rng, t, d, h, decimals, scale)
        for i, j, units in cells:
            printed[i, j] = (np.rint(printed[i, j] * 10**decimals) + units) / 10**decimals
        return x, w, printed

    # One-hot tokens, so that every cell of a column is rounded the same way, by nearly half a unit: still sound.
    tokens = np.eye(3)[[0, 1, 2, 1, 0]]
    whole = rng.integers(-90, 90, (3, 4)).astype(float)
    rounded_down = tokens, (whole + 0.47) / 100, tokens @ whole / 100
    one_cell = tokens, rounded_down[1], rounded_down[2].copy()
    one_cell[2][1, 2] += 0.4
    # Two units for a row of three, three for a column of five: no more than rounding alone could not do.
    few = tokens, (whole[:, :3] + 0.05) / 100, tokens @ whole[:, :3] / 100
    few[2][1, 2] += 0.03
    two = tokens, few[1], few[2].copy()
    two[2][[1, 3], 2] += -0.01, 0.3
    both = product_with_errors(5, 3, 4, 2, (1, 2, 40), (3, 0, -25))
    tables = (
        ("one cell is off", product_with_errors(5, 3, 4, 2, (2, 1, 30)), 2),
        ("two cells are off, in two rows and two columns", both, 2),
        ("two cells of one row", product_with_errors(6, 4, 3, 1, (4, 0, 20), (4, 2, 30)), 1),
        ("two cells of one row, which cancel out", product_with_errors(4, 2, 5, 2, (1, 0, 30), (1, 3, -30)), 2),
        ("nothing is off", product_with_errors(5, 3, 4, 2), 2),
        ("nothing is off, and all was rounded down", rounded_down, 2),
        ("one cell, where all was rounded down", one_cell, 2),
        ("one cell, off by little", few, 2),
        ("two cells of one column, one of them off by little", two, 2),
        ("as many tokens as columns", product_with_errors(4, 3, 4, 3, (3, 1, 60)), 3),
        ("numbers in the millions, no decimals", product_with_errors(3, 4, 5, 0, (0, 4, 9), scale=2e6), 0),
    )
    return [Case(label, (*args, decimals)) for label, args, decimals in tables]


@graded("14.checksum", _checksum_cases, frame="numpy")
def _suspects(x: np.ndarray, w: np.ndarray, printed: np.ndarray, places: int) -> np.ndarray:
    """With a row and a column of ones beside the factors, as checksums are made in hardware."""
    t, h = printed.shape
    whole = np.vstack([x, np.ones(t) @ x]) @ np.hstack([w, w @ np.ones((h, 1))])
    unit = 10.0**-places
    suspects = np.zeros((t, h), dtype=bool)
    for i in range(t):
        for j in range(h):
            in_row = abs(sum(printed[i]) - whole[i, h]) > h * unit / 2
            suspects[i, j] = in_row and abs(sum(printed[:, j]) - whole[t, j]) > t * unit / 2
    return suspects
