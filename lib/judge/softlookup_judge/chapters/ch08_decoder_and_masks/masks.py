"""Tasks that make masks: causal with an offset, padding."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _causal_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(2, 5))
    sizes = ((5, 5, "core"), (8, 8, "core"), (1, 1, "core"), (1, 6, "offset"), (3, 7, "offset"))
    cases = [Case(f"T = {t}, S = {s}", (t, s), part=part, frame="plain") for t, s, part in sizes]
    drawn = t, t + int(rng.integers(2, 6))
    return [*cases, Case(f"T = {drawn[0]}, S = {drawn[1]}", drawn, part="offset", frame="plain")]


def _causal(n_queries: int, n_keys: int) -> Any:
    return np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)


CAUSAL = described("08.causal", cases=_causal_cases, oracle=_causal, frame="plain", parts={"core": 0.6, "offset": 0.4})


def drawn_ids(rng: Rng, lengths: tuple[int, ...], total: int, pad_id: int, *, left: bool = False) -> np.ndarray:
    """Rows of ids, filled up with pad_id behind (or before) so many real ones; 0 is real where it is not the pad."""
    real = [n for n in range(20) if n != pad_id]
    ids = np.full((len(lengths), total), pad_id)
    for row, n in zip(ids, lengths, strict=True):
        begin = total - n if left else 0
        row[begin : begin + n] = rng.choice(real, size=n)
        if n > 1 and pad_id != 0:
            row[begin + 1] = 0
    return ids.astype(np.int64)


def _padding_cases(rng: Rng) -> list[Case]:
    return [
        Case("two rows, the pad is 0", (drawn_ids(rng, (5, 3), 5, 0), 0)),
        Case("the pad is 7, and 0 is a word", (drawn_ids(rng, (2, 4, 6), 6, 7), 7)),
        Case("as many rows as tokens", (drawn_ids(rng, (3, 2, 1), 3, 0), 0)),
        Case("filled up on the left", (drawn_ids(rng, (2, 4), 5, 9, left=True), 9)),
        Case("no padding", (drawn_ids(rng, (4, 4), 4, 1), 1)),
        Case("a row of nothing but padding", (drawn_ids(rng, (0, 3), 4, 5), 5)),
    ]


def _padding(ids: Any, pad_id: int) -> Any:
    import torch

    return torch.ne(ids, pad_id).view(ids.shape[0], 1, 1, ids.shape[1])


PADDING = described("08.padding", cases=_padding_cases, oracle=_padding)
