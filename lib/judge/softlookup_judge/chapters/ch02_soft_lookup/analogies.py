"""Embedding arithmetic: the row nearest to a - b + c by cosine, the three words left out."""

from dataclasses import replace

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch02_soft_lookup.weighing import COSINES
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _analogy_cases(rng: Rng) -> list[Case]:
    def table(words: int, width: int) -> np.ndarray:
        return normal(rng, words, width, dtype="float64") * rng.uniform(0.4, 2.5, (words, 1))

    def case(label: str, rows: np.ndarray, *words: int) -> Case:
        return Case(label, (rows, *words), frame="numpy", tolerance=1e-9)

    # All but the three point away from the target: the best is the least bad, and its cosine is below 0.
    away = table(6, 3)
    towards = away[0] - away[1] + away[2]
    away[3:] = -towards * rng.uniform(0.5, 2.0, (3, 1)) + normal(rng, 3, 3, dtype="float64", scale=0.2)
    # The longest row is not the one that points best.
    long = table(7, 4)
    aim = long[4] - long[2] + long[0]
    long[5] = 0.3 * aim + normal(rng, 4, dtype="float64", scale=0.02)
    long[6] = 6.0 * aim + normal(rng, 4, dtype="float64", scale=4.0)
    # Each of the three words of the question is the nearest in one of these tables.
    first, middle, last = table(8, 5), table(8, 5), table(8, 5)
    first[2] *= 8.0
    middle[5] = 0.3 * (middle[2] + middle[6])
    last[6] *= 8.0
    return [
        case("a long first word", first, 2, 5, 6),
        case("a middle word that points where the sum does", middle, 2, 5, 6),
        case("a long last word", last, 2, 5, 6),
        case("nine words of width five", table(9, 5), 3, 7, 1),
        case("twelve words of width three", table(12, 3), 0, 5, 9),
        case("thirty words of width four", table(30, 4), 17, 2, 25),
        case("four words: one is left", table(4, 6), 2, 0, 3),
        case("four words of width one", np.array([[-4.0], [2.0], [-1.0], [-1.0]]), 1, 2, 3),
        case("a short row that points best, and a long one", long, 4, 2, 0),
        case("a table in which all others point away", away, 0, 1, 2),
        # An answer may add 1e-8 to each length instead of asking whether it is 0.
        replace(case("rows that are all short", 1e-4 * table(10, 4), 6, 1, 8), tolerance=1e-3),
    ]


def _analogy(table: np.ndarray, a: int, b: int, c: int) -> tuple[np.ndarray, np.ndarray]:
    import torch

    rows = torch.as_tensor(table)
    cosines = torch.nn.functional.cosine_similarity(rows, (rows[a] - rows[b] + rows[c])[None], dim=-1)
    allowed = [row for row in range(len(rows)) if row not in (a, b, c)]
    best = max(allowed, key=lambda row: float(cosines[row]))
    return np.array(best), cosines[best].numpy()


ANALOGY = described("02.analogy", cases=_analogy_cases, oracle=_analogy, frame="numpy", forbids=COSINES)
