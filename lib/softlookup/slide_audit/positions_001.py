"""Lectures 000 to 002, positions: what absolute and rotary ones are good for, and a table of the RoFormer paper."""

import numpy as np

import softlookup as sl
from softlookup.slide_audit.compare import cited, claim
from softlookup.slide_audit.item import Found, audited

TASKS = ("MRPC", "SST-2", "QNLI", "STS-B", "QQP", "MNLI m", "MNLI mm")
BERT = np.array([88.9, 93.5, 90.5, 85.8, 71.2, 84.6, 83.4])
ROFORMER = np.array([89.5, 90.7, 88.0, 87.0, 86.4, 80.2, 79.8])
"""The table as lecture 001 prints it."""
FIRST = "I walk my dog every day".split()
SECOND = "every single day I walk my dog".split()


def by_task(gains: np.ndarray) -> np.ndarray:
    """One number for each of six tasks: MNLI, which has two columns (matched and mismatched), by its better one."""
    return np.append(gains[:5], gains[5:].max())


def mnli_column(gains: np.ndarray) -> str:
    """Which of MNLI's two columns ``by_task`` takes."""
    return ("MNLI matched", "MNLI mismatched")[int(gains[5:].argmax())]


def rotary_score(q: np.ndarray, k: np.ndarray, m: int, n: int) -> float:
    """The dot product of a query at place m and a key at place n, both turned."""
    return float(sl.reference.rotary(q[None], offset=m)[0] @ sl.reference.rotary(k[None], offset=n)[0])


@audited(
    "E118",
    lecture="001",
    slide="Rotary positions: the formula in two dimensions",
    section="06_positions#positions-rotary",
    states="A query or key is W x, turned by the angle m times theta at place m.",
    verdict="correct",
    source=("su2024",),
    tell="The matrix has cosines on its diagonal and sines of opposite signs beside it: a rotation. Two rotations in a "
    "dot product leave their difference.",
)
def turned_by_place() -> Found:
    rng = np.random.default_rng(0)
    w_q, w_k, x, y = rng.standard_normal((2, 2)), rng.standard_normal((2, 2)), *rng.standard_normal((2, 2))
    theta = 1.0  # the first pair's

    def turned(w: np.ndarray, token: np.ndarray, m: int) -> np.ndarray:
        c, s = np.cos(m * theta), np.sin(m * theta)
        return np.asarray(np.array([[c, -s], [s, c]]) @ w @ token)

    scores = np.array([turned(w_q, x, 5 + m) @ turned(w_k, y, m) for m in range(40)])
    ours = np.array([rotary_score(w_q @ x, w_k @ y, 5 + m, m) for m in range(40)])
    return claim(
        bool(np.allclose(scores, scores[0]) and np.allclose(scores, ours)),
        f"At {scores.size} pairs of places with one and the same distance the score varies by "
        f"{np.ptp(scores):.0e}, and the reference computes the same scores.",
    )


@audited(
    "E119",
    lecture="001",
    slide="Relative positions: what they do not notice",
    section="06_positions#positions-rotary",
    states="Relative positions are invariant when both tokens move along.",
    verdict="correct",
    kind="draw",
    tell="Only the difference of two places enters, and a shift of both leaves it as it is.",
)
def both_move() -> Found:
    spreads, added = [], []
    for seed in range(5):
        q, k = np.random.default_rng(seed).standard_normal((2, 64))
        waves = sl.reference.sinusoidal(64, 64)
        spreads.append(np.ptp([rotary_score(q, k, m + 5, m) for m in range(40)]))
        added.append(np.ptp([(q + waves[m + 5]) @ (k + waves[m]) for m in range(40)]))
    return claim(
        max(spreads) < 1e-9 < min(added),
        f"{len(spreads)} queries and keys, each pair at 40 places with one distance: rotary scores vary by at most "
        f"{max(spreads):.0e}; with sinusoids added to the tokens they vary by {min(added):.1f} to {max(added):.1f}.",
    )


@audited(
    "E120",
    lecture="001",
    slide="Relative positions: better results",
    section="06_positions_more#positions-roformer",
    states="Models get better with relative positions.",
    verdict="misleading",
    source=("su2024",),
    tell="Count the signs in the deck's own table, one slide on, before looking at the largest number.",
)
def better_results() -> Found:
    every = ROFORMER - BERT
    gains, taken = by_task(every), mnli_column(every)
    up, down = int((gains > 0).sum()), int((gains < 0).sum())
    without = np.delete(gains, 4).mean()
    listed = ", ".join(f"{task} {gain:+.1f}" for task, gain in zip((*TASKS[:5], taken), gains, strict=True))
    return claim(
        down == 0,
        f"By the deck's table {up} tasks are up and {down} down: {listed}. (MNLI has two columns; the better one is "
        f"taken, the other is {every[5:].min():+.1f}.) The mean gain of {gains.mean():+.1f} comes from QQP; without "
        f"it, the mean is {without:+.1f}. Nor do both rows come from the same data: E124.",
    )


@audited(
    "E121",
    lecture="001",
    slide="Absolute positions: not a great idea",
    section="06_positions#positions-shift",
    states="The original transformer's positions were no great idea, since distances matter more than places.",
    verdict="misleading",
    source=("vaswani2017",),
    tell="Sine and cosine of a sum are mixtures of sines and cosines: the waves were chosen for that. What does depend "
    "on the places is the score, once the waves are added to the tokens.",
)
def shift_is_linear() -> Found:
    waves, shift = sl.reference.sinusoidal(200, 16), 7
    move, *_ = np.linalg.lstsq(waves[:-shift], waves[shift:], rcond=None)
    error = np.abs(waves[:-shift] @ move - waves[shift:]).max()
    return claim(
        error > 1e-6,
        f"One fixed matrix moves every place by {shift}, to {error:.0e}: a distance can be read from these places. "
        "They are absolute and hold the relative ones.",
    )


@audited(
    "E122",
    lecture="001",
    slide="Absolute positions: two walks with a dog",
    section="06_positions#positions-dog",
    states="In both sentences 'my dog' stands right behind 'I walk'; only the places differ.",
    verdict="correct",
    tell="Lay the sentences above each other so that the I's meet.",
)
def two_walks() -> Found:
    places = [[words.index(word) for word in ("I", "walk", "my", "dog")] for words in (FIRST, SECOND)]
    shifts = set(np.subtract(places[1], places[0]).tolist())
    apart = [(words.index("my") - words.index("walk")) for words in (FIRST, SECOND)]
    return claim(
        apart == [1, 1] and len(shifts) == 1 and shifts != {0},
        f"All four words stand {shifts.pop()} places further on in the second sentence, and the distances among them "
        "are the same.",
    )


@audited(
    "E123",
    lecture="001",
    slide="RoFormer and BERT: the numbers",
    section="06_positions_more#positions-roformer",
    states="A table of both models' scores in six tasks, copied from the RoFormer paper.",
    verdict="correct",
    kind="cited",
    source=("su2024",),
    tell="A copied table is checked against the paper, and here also against lecture 002, which has the same one.",
)
def copied_table() -> Found:
    return cited(f"The paper's table 2 has the same {BERT.size + ROFORMER.size} numbers.")


DEV = np.array([88.85, 92.32, 90.66, 88.48, 87.49, 83.91, 84.10])
"""BERT on the validation data, from the documentation of transformers (its example for GLUE)."""


@audited(
    "E124",
    lecture="001",
    slide="RoFormer and BERT: what is compared",
    section="06_positions_more#positions-roformer",
    states="The two rows are set side by side, as one comparison.",
    verdict="misleading",
    kind="cited",
    source=("su2024", "devlin2019", "wang2019", "wolf2020"),
    tell="One column moves by far more than any other. Before believing in it, ask on what data each row was measured.",
    cause="The paper itself sets both rows side by side.",
)
def unlike_rows() -> Found:
    every = ROFORMER - DEV
    gains, taken = by_task(every), mnli_column(every)
    return cited(
        "BERT's row is what its authors report for the hidden test data, RoFormer's was measured on the validation "
        f"data. Against the validation scores that the documentation of transformers gives for a BERT, RoFormer is "
        f"ahead on {(gains > 0).sum()} of {gains.size} tasks ({taken}, the better of MNLI's two columns, is at "
        f"{every[5:].max():+.1f}), and QQP turns from {(ROFORMER - BERT)[4]:+.1f} into "
        f"{(ROFORMER - DEV)[4]:+.1f}. (That BERT is the cased one, with one run a task: nearly the same, not quite.)"
    )


@audited(
    "E125",
    lecture="001",
    slide="RoFormer and BERT: the caption",
    section="06_positions_more#positions-roformer",
    states="The tasks are called GLEU.",
    verdict="wrong",
    source=("wang2019", "su2024"),
    tell="GLEU exists and is a score for translations. Tasks such as MRPC and QQP are not translations.",
    cause="Copied: the caption in the paper has the same two letters changed over.",
)
def glue() -> Found:
    printed, right = "GLEU", "GLUE"
    return claim(
        printed == right,
        f"The collection is {right}, General Language Understanding Evaluation: the same {len(set(right))} letters, "
        f"{sum(a != b for a, b in zip(printed, right, strict=True))} of them changed over.",
    )


@audited(
    "E126",
    lecture="002",
    slide="RoFormer and BERT in the other deck",
    section="06_positions_more#positions-roformer",
    states="The text of the same table has eight scores without their decimal points, such as 889.",
    verdict="wrong",
    kind="damage",
    tell="Scores in per cent end at a hundred, and the numbers in the same row that kept their points are below it.",
    cause="Read from a picture of the slide, where a point is easily lost.",
)
def lost_points() -> Found:
    printed = np.array([889, 935, 905, 858, 712, 84.6, 83.4, 89.5, 907, 880, 87.0, 864, 80.2, 79.8])
    ratio = printed / np.concatenate([BERT, ROFORMER])
    off = ratio[~np.isclose(ratio, 1)]
    return claim(
        not off.size,
        f"{off.size} of {printed.size} numbers differ from lecture 001's, and every one of them is "
        f"{np.unique(off.round(9)).item():.0f} times too large: a lost point.",
    )
