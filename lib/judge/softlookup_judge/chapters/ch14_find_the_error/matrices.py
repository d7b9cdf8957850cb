"""Tasks on scores: the token that is claimed to be looked at most, and the rank that a table can have."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch14_find_the_error.printing import round_to, slipped
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _place_cases(rng: Rng) -> list[Case]:
    cases = []
    for t, s, h, scale in ((3, 5, 4, 2), (5, 5, 3, 2), (6, 4, 2, 2), (4, 4, 4, 2), (1, 7, 3, 2), (7, 11, 2, 2000)):
        q, k = normal(rng, t, h, dtype="float64"), normal(rng, s, h, dtype="float64", scale=scale)
        large = ", scores in the thousands" * (scale > 2)
        cases.append(Case(f"{t} queries, {s} keys{large}", (q, k, rng.integers(0, s, t)), frame="numpy"))
    x = rng.uniform(0.2, 1.5, (5, 3))
    cases.append(Case("tokens that ask themselves", (x, x, np.arange(5)[::-1].copy()), frame="numpy"))
    return cases


def _place(q: np.ndarray, k: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """By sorting."""
    order = [sorted(range(len(k)), key=lambda j, row=row: -float(row @ k[j])) for row in q]  # type: ignore[misc]
    return np.array([ranking.index(int(key)) + 1 for ranking, key in zip(order, claimed, strict=True)])


PLACE = described("14.place", cases=_place_cases, oracle=_place, frame="numpy")


def _rank_cases(rng: Rng) -> list[Case]:
    def scores(t: int, s: int, h: int, places: int) -> np.ndarray:
        return round_to(rng.standard_normal((t, h)) @ rng.standard_normal((h, s)), places)

    flat = np.full((2, 2), 1.0)
    little, within, beyond = flat.copy(), flat.copy(), flat.copy()
    little[1, 1], within[1, 1], beyond[1, 1] = 1.01, 1.02, 1.03
    small = np.diag([1.0, 0.02, 0.02, 0.02, 0.02, 0.0])
    tables = (
        ("sound scores", scores(8, 6, 2, 2), 2, 2),
        ("sound scores, few places", scores(9, 9, 3, 1), 3, 1),
        ("scores with a slip", slipped(rng, scores(5, 7, 3, 2), 2, 60), 3, 2),
        ("scores with two slips", slipped(rng, slipped(rng, scores(6, 6, 2, 3), 3, 900), 3, 700), 2, 3),
        ("scores with a small slip", slipped(rng, scores(10, 10, 1, 2), 2, 30), 1, 2),
        ("numbers made up", round_to(rng.standard_normal((7, 5)), 2), 3, 2),
        ("a head wider than the table", round_to(rng.standard_normal((4, 5)), 2), 6, 2),
        ("a head as wide as there are queries", round_to(rng.standard_normal((3, 5)), 2), 3, 2),
        ("a second direction that one rounding could have made", little, 1, 2),
        ("one that four could have made", within, 1, 2),
        ("one that they could not", beyond, 1, 2),
        (
            "whole numbers of the largest rank, which need no rounding",
            np.array([[2, 1], [1, 3], [0, 2]]) @ [[1.0, 2, 4], [3, 1, 0]],
            2,
            0,
        ),
        ("several small directions, none of them too large", small, 1, 2),
    )
    return [Case(label, (table, width, places), frame="numpy") for label, table, width, places in tables]


def _rank(scores: np.ndarray, width: int, places: int) -> tuple[int, bool]:
    """What is left of the table after its nearest one of that rank."""
    import torch

    u, s, v = torch.linalg.svd(torch.from_numpy(scores), full_matrices=False)
    largest = min(len(s), width)
    rest = (u[:, largest:] * s[largest:]) @ v[largest:]
    left = float(torch.linalg.matrix_norm(rest, 2)) if rest.numel() and largest < len(s) else 0.0
    return largest, left > 10.0**-places / 2 * scores.size**0.5


RANK = described("14.rank", cases=_rank_cases, oracle=_rank, frame="numpy")
