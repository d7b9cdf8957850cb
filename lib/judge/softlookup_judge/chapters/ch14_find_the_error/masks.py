"""Tasks on masks: what a one stands for, and what a wrong way to join two of them lets through."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch14_find_the_error.printing import round_to
from softlookup_judge.chapters.draws import Rng, softmax
from softlookup_judge.data.published import described


def _weights(rng: Rng, look: np.ndarray, places: int = 3, scale: float = 1.0) -> np.ndarray:
    scores = np.where(look, scale * rng.standard_normal(look.shape), -np.inf)
    return round_to(softmax(scores), places)


def _polarity_cases(rng: Rng) -> list[Case]:
    causal = np.tril(np.ones((5, 5), dtype=int))
    drawn = (rng.random((4, 6)) < 0.5).astype(int)
    drawn[:, 0], drawn[:, 1] = 1, 0
    words = np.array([[1, 1, 1, 0, 0]])
    first_hidden = np.triu(np.ones((4, 4), dtype=int), 1)
    sharp = _weights(rng, causal == 1)
    sharp[4] = [0.0, 0.999, 0.001, 0.0, 0.0]
    broken = _weights(rng, drawn == 1)
    broken[2, 1] = 0.05
    later = _weights(rng, drawn == 0)
    later[3, 0] = 0.07
    early = _weights(rng, drawn == 1)
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
        ("drawn, ones look", drawn, _weights(rng, drawn == 1)),
        ("drawn, ones are hidden", drawn, _weights(rng, drawn == 0)),
        ("allowed weights so small that 0 is printed", causal, sharp),
        ("neither fits: a hidden weight is not zero", drawn, broken),
        ("neither fits: the last row leaks", drawn, later),
        ("neither fits: a small hidden weight in the first row", drawn, early),
        ("so many keys that 0 is printed for each", drawn, np.zeros((4, 6))),
        ("nothing is hidden", once, _weights(rng, np.ones((3, 4), dtype=bool))),
    )
    return [Case(label, (mask, weights), frame="numpy") for label, mask, weights in tables]


def _polarity(mask: np.ndarray, weights: np.ndarray) -> int:
    """Cell by cell: what the cells that got something say."""
    seen = {
        int(mask[i if len(mask) > 1 else 0, j])
        for i in range(weights.shape[0])
        for j in range(weights.shape[1])
        if weights[i, j] != 0
    }
    return 1 if seen <= {1} else 0 if seen == {0} else -1


POLARITY = described("14.polarity", cases=_polarity_cases, oracle=_polarity, frame="numpy")


def _leaks_cases(rng: Rng) -> list[Case]:
    cases = []
    causal, words = np.tril(np.ones((5, 5), dtype=int)), np.array([[1, 1, 1, 0, 0]])
    cases.append(("a triangle and words, joined by or", causal, words, causal | words, True))
    cases.append(("the same, joined by and", causal, words, causal & words, True))
    cases.append(("ones are hidden, joined by or", 1 - causal, 1 - words, (1 - causal) | (1 - words), False))
    cases.append(("ones are hidden, joined by and", 1 - causal, 1 - words, (1 - causal) & (1 - words), False))
    for t, s, look, rows in ((4, 6, True, 4), (6, 4, False, 6), (3, 5, True, 1), (5, 3, False, 1)):
        first, second, joined = ((rng.random((n, s)) < 0.5).astype(int) for n in (t, rows, t))
        cases.append(
            (f"masks drawn at random, {'ones look' if look else 'ones are hidden'}", first, second, joined, look)
        )
    return [Case(label, tuple(args), frame="numpy") for label, *args in cases]


def _leaks(first: np.ndarray, second: np.ndarray, joined: np.ndarray, one_means_look: bool) -> np.ndarray:
    """As numbers: 1 for may attend, and products of masks."""
    masks = [mask if one_means_look else 1 - mask for mask in (first, second, joined)]
    return np.asarray(masks[2] * (1 - masks[0] * masks[1])) > 0


LEAKS = described("14.leaks", cases=_leaks_cases, oracle=_leaks, frame="numpy")
