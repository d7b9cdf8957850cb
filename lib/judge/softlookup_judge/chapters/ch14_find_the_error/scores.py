"""The task on scores of two models: whether both were measured on the same data."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch14_find_the_error.printing import near, round_to
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _scores_cases(rng: Rng) -> list[Case]:
    def drawn(sets: tuple[int, int], places: int, n: int = 6) -> tuple[np.ndarray, np.ndarray, int]:
        published = rng.uniform(60, 95, (2, 2, n))
        published[1, 0, 0] = published[0, 0, 0] + 9  # so that the sets do not agree on who is ahead
        published[1, 1, 0] = published[0, 1, 0] - 9
        published = round_to(published, 2)
        published += 0.001  # away from halves
        printed = np.stack(
            [published[i, set_index] if set_index < 2 else published[i, 0] + 1 for i, set_index in enumerate(sets)]
        )
        return round_to(printed, places), published, places

    def tied(sets: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, int]:
        printed, published, places = drawn(sets, 1, 5)
        published[1, 0, 2:4] = published[0, 0, 2:4]
        published[:, 0, 4] = 80.121, 80.101  # ahead by less than the slide prints
        return round_to(np.stack([published[i, set_index] for i, set_index in enumerate(sets)]), 1), published, places

    almost = drawn((0, 0), 1)
    almost[1][0, 0, 0], almost[0][0, 0] = 80.101, 80.2
    half = drawn((1, 0), 1)
    half[0][0, 3] += 2
    near_one = drawn((1, 0), 2, 4)
    near_one[0][:, 2] += 0.02
    cases = [("the slide's case: one of each", drawn((1, 0), 1))]
    cases += [(f"rows from {sets}", drawn(sets, 1)) for sets in ((0, 0), (1, 1), (0, 1), (2, 0), (1, 2))]
    cases += [("some are equal", tied((0, 1))), ("all but one task agree", half)]
    cases += [("one task is off in the last place", almost), ("two places", drawn((1, 0), 2, 4))]
    cases += [
        ("a task in each row is off by two units in the second place", near_one),
        ("no places", drawn((0, 1), 0, 7)),
    ]
    return [Case(label, args, frame="numpy") for label, args in cases]


def _measured(printed: np.ndarray, published: np.ndarray, places: int) -> tuple[np.ndarray, int]:
    """All four comparisons at once."""
    fits = np.asarray(near(printed[:, None], published, places).all(axis=-1))
    sets = np.where(fits[:, 0], 0, np.where(fits[:, 1], 1, 2))
    return sets, int(np.sum(published[0, 0] - published[1, 0] > 0))


SCORES = described("14.scores", cases=_scores_cases, oracle=_measured, frame="numpy")
