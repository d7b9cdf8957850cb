"""The task on batches: fill up short rows, and say which places are real."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _pad_cases(rng: Rng) -> list[Case]:
    def case(label: str, lengths: tuple[int, ...], pad_id: int) -> Case:
        rows = [[int(i) for i in rng.integers(10, 99, size=n)] for n in lengths]
        # The frame of tensors, where ids are whole numbers.
        return Case(label, (rows, pad_id))

    # Never two rows: one result of two rows would be taken for two results.
    taken = [[7, 3], [7], [int(rng.integers(10, 99)), 7, 7], [7]]
    return [
        case("three sequences, the longest of five tokens", (3, 5, 2), 0),
        case("as many sequences as tokens", (2, 3, 1), 0),
        case("a pad id that is not 0", (1, 4, 2, 4), 7),
        case("one sequence", (4,), 0),
        case("a sequence without a token", (2, 0, 3), 9),
        case("sequences of equal length", (2, 2, 2, 2), 5),
        Case("real tokens that have the pad id themselves", (taken, 7)),
        case("three sequences of one token", (1, 1, 1), 0),
        case("one sequence of one token", (1,), 3),
    ]


def _pad(sequences: list[list[int]], pad_id: int) -> Any:
    longest = max(map(len, sequences))
    ids = np.array([[*row, *[pad_id] * (longest - len(row))] for row in sequences])
    return ids, np.arange(longest) < np.array([len(row) for row in sequences])[:, None]


PAD = described("03.pad", frame="plain", cases=_pad_cases, oracle=_pad)
