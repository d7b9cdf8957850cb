"""Tasks on masks and scores: polarity, leaks, ranks, and whether two models were measured on the same data."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.ch14_find_the_error.sums import near, round_to, slipped
from softlookup_judge.chapters.draws import Rng, doubles, softmax
from softlookup_judge.chapters.oracles import torch


def _place_cases(rng: Rng) -> list[Case]:
    cases = []
    for t, s, h, scale in ((3, 5, 4, 2), (5, 5, 3, 2), (6, 4, 2, 2), (4, 4, 4, 2), (1, 7, 3, 2), (7, 11, 2, 2000)):
        q, k = doubles(rng, t, h), doubles(rng, s, h, scale=scale)
        large = ", scores in the thousands" * (scale > 2)
        cases.append(Case(f"{t} queries, {s} keys{large}", (q, k, rng.integers(0, s, t))))
    x = rng.uniform(0.2, 1.5, (5, 3))
    cases.append(Case("tokens that ask themselves", (x, x, np.arange(5)[::-1].copy())))
    return cases


@graded("14.place", _place_cases, frame="numpy")
def _place(q: np.ndarray, k: np.ndarray, claimed: np.ndarray) -> np.ndarray:
    """By sorting."""
    order = [sorted(range(len(k)), key=lambda j, row=row: -float(row @ k[j])) for row in q]  # type: ignore[misc]
    return np.array([ranking.index(int(key)) + 1 for ranking, key in zip(order, claimed, strict=True)])


def _rank_cases(rng: Rng) -> list[Case]:
    def scores(t: int, s: int, h: int, decimals: int) -> np.ndarray:
        return round_to(rng.standard_normal((t, h)) @ rng.standard_normal((h, s)), decimals)

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
    return [Case(label, (table, width, decimals)) for label, table, width, decimals in tables]


@graded("14.rank", _rank_cases, frame="numpy")
def _rank(scores: np.ndarray, width: int, places: int) -> tuple[int, bool]:
    """What is left of the table after its nearest one of that rank."""
    u, s, v = torch.linalg.svd(torch.from_numpy(scores), full_matrices=False)
    largest = min(len(s), width)
    residual = (u[:, largest:] * s[largest:]) @ v[largest:]
    norm = float(torch.linalg.matrix_norm(residual, 2)) if residual.numel() and largest < len(s) else 0.0
    return largest, norm > 10.0**-places / 2 * scores.size**0.5


def _weights(rng: Rng, allowed: np.ndarray, decimals: int = 3, scale: float = 1.0) -> np.ndarray:
    scores = np.where(allowed, scale * rng.standard_normal(allowed.shape), -np.inf)
    return round_to(softmax(scores), decimals)


def _polarity_cases(rng: Rng) -> list[Case]:
    causal = np.tril(np.ones((5, 5), dtype=int))
    random_mask = (rng.random((4, 6)) < 0.5).astype(int)
    random_mask[:, 0], random_mask[:, 1] = 1, 0
    words = np.array([[1, 1, 1, 0, 0]])
    first_hidden = np.triu(np.ones((4, 4), dtype=int), 1)
    sharp = _weights(rng, causal == 1)
    sharp[4] = [0.0, 0.999, 0.001, 0.0, 0.0]
    broken = _weights(rng, random_mask == 1)
    broken[2, 1] = 0.05
    later = _weights(rng, random_mask == 0)
    later[3, 0] = 0.07
    early = _weights(rng, random_mask == 1)
    early[0, 1] = 0.04
    leaking = _weights(rng, np.repeat(words == 1, 3, axis=0))
    leaking[2] = _weights(rng, words == 0)[0]
    once = np.ones((1, 4), dtype=int)
    tables = (
        ("a triangle of ones", causal, _weights(rng, causal == 1)),
        ("ones above the diagonal", first_hidden, _weights(rng, first_hidden == 0)),
        ("one row for all queries, ones are words", words, _weights(rng, np.repeat(words == 1, 3, axis=0))),
        ("one row for all queries, neither fits: the last query leaks", words, leaking),
        ("one row for all queries, ones are hidden", words, _weights(rng, np.repeat(words == 0, 4, axis=0))),
        ("drawn, ones look", random_mask, _weights(rng, random_mask == 1)),
        ("drawn, ones are hidden", random_mask, _weights(rng, random_mask == 0)),
        ("allowed weights so small that 0 is printed", causal, sharp),
        ("neither fits: a hidden weight is not zero", random_mask, broken),
        ("neither fits: the last row leaks", random_mask, later),
        ("neither fits: a small hidden weight in the first row", random_mask, early),
        ("so many keys that 0 is printed for each", random_mask, np.zeros((4, 6))),
        ("nothing is hidden", once, _weights(rng, np.ones((3, 4), dtype=bool))),
    )
    return [Case(label, (mask, weights)) for label, mask, weights in tables]


@graded("14.polarity", _polarity_cases, frame="numpy")
def _polarity(mask: np.ndarray, weights: np.ndarray) -> int:
    """Cell by cell: what the cells that got something say."""
    values = {
        int(mask[i if len(mask) > 1 else 0, j])
        for i in range(weights.shape[0])
        for j in range(weights.shape[1])
        if weights[i, j] != 0
    }
    return 1 if values <= {1} else 0 if values == {0} else -1


def _leaks_cases(rng: Rng) -> list[Case]:
    cases = []
    causal, words = np.tril(np.ones((5, 5), dtype=int)), np.array([[1, 1, 1, 0, 0]])
    cases.append(("a triangle and words, joined by or", causal, words, causal | words, True))
    cases.append(("the same, joined by and", causal, words, causal & words, True))
    cases.append(("ones are hidden, joined by or", 1 - causal, 1 - words, (1 - causal) | (1 - words), False))
    cases.append(("ones are hidden, joined by and", 1 - causal, 1 - words, (1 - causal) & (1 - words), False))
    for t, s, one_allows, rows in ((4, 6, True, 4), (6, 4, False, 6), (3, 5, True, 1), (5, 3, False, 1)):
        first, second, joined = ((rng.random((n, s)) < 0.5).astype(int) for n in (t, rows, t))
        cases.append(
            (
                f"masks drawn at random, {'ones look' if one_allows else 'ones are hidden'}",
                first,
                second,
                joined,
                one_allows,
            )
        )
    return [Case(label, tuple(args)) for label, *args in cases]


@graded("14.leaks", _leaks_cases, frame="numpy")
def _leaks(first: np.ndarray, second: np.ndarray, joined: np.ndarray, one_means_look: bool) -> np.ndarray:
    """As numbers: 1 for may attend, and products of masks."""
    masks = [mask if one_means_look else 1 - mask for mask in (first, second, joined)]
    return np.asarray(masks[2] * (1 - masks[0] * masks[1])) > 0


def _scores_cases(rng: Rng) -> list[Case]:
    def random_scores(sets: tuple[int, int], decimals: int, n: int = 6) -> tuple[np.ndarray, np.ndarray, int]:
        published = rng.uniform(60, 95, (2, 2, n))
        published[1, 0, 0] = published[0, 0, 0] + 9  # so that the sets do not agree on who is ahead
        published[1, 1, 0] = published[0, 1, 0] - 9
        published = round_to(published, 2)
        published += 0.001  # away from halves
        printed = np.stack(
            [published[i, set_index] if set_index < 2 else published[i, 0] + 1 for i, set_index in enumerate(sets)]
        )
        return round_to(printed, decimals), published, decimals

    def tied(sets: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, int]:
        printed, published, decimals = random_scores(sets, 1, 5)
        published[1, 0, 2:4] = published[0, 0, 2:4]
        published[:, 0, 4] = 80.121, 80.101  # ahead by less than the slide prints
        return round_to(np.stack([published[i, set_index] for i, set_index in enumerate(sets)]), 1), published, decimals

    almost = random_scores((0, 0), 1)
    almost[1][0, 0, 0], almost[0][0, 0] = 80.101, 80.2
    half = random_scores((1, 0), 1)
    half[0][0, 3] += 2
    near_one = random_scores((1, 0), 2, 4)
    near_one[0][:, 2] += 0.02
    cases = [("the slide's case: one of each", random_scores((1, 0), 1))]
    cases += [(f"rows from {sets}", random_scores(sets, 1)) for sets in ((0, 0), (1, 1), (0, 1), (2, 0), (1, 2))]
    cases += [("some are equal", tied((0, 1))), ("all but one task agree", half)]
    cases += [("one task is off in the last place", almost), ("two places", random_scores((1, 0), 2, 4))]
    cases += [
        ("a task in each row is off by two units in the second place", near_one),
        ("no places", random_scores((0, 1), 0, 7)),
    ]
    return [Case(label, args) for label, args in cases]


@graded("14.scores", _scores_cases, frame="numpy")
def _measured(printed: np.ndarray, published: np.ndarray, places: int) -> tuple[np.ndarray, int]:
    """All four comparisons at once."""
    fits = np.asarray(near(printed[:, None], published, places).all(axis=-1))
    sets = np.where(fits[:, 0], 0, np.where(fits[:, 1], 1, 2))
    return sets, int(np.sum(published[0, 0] - published[1, 0] > 0))
