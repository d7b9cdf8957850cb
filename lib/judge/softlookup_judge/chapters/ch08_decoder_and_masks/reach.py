"""The task on leaks: which inputs reach which outputs, layer upon layer."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _reach_cases(rng: Rng) -> list[Case]:
    def random(n: int, t: int) -> np.ndarray:
        return rng.random((n, t, t)) < 1.6 / t

    past = np.tri(5, dtype=bool)
    leaky = np.stack([past, np.tri(5, k=1, dtype=bool), past])
    far = np.stack([np.eye(6, dtype=bool)] * 2)
    far[1, 1, 4] = True
    window = np.stack([np.tri(7, dtype=bool) & ~np.tri(7, k=-2, dtype=bool)] * 3)
    one_way = np.zeros((2, 4, 4), dtype=bool)
    one_way[0, 1, 0] = one_way[1, 2, 1] = one_way[0, 3, 2] = True
    return [
        Case("three causal layers", (np.stack([past] * 3),)),
        Case("one layer lets one token of the future through", (leaky,)),
        Case("two leaky layers", (leaky[1:2].repeat(2, axis=0),)),
        Case("a token attends to the third one behind it", (far,)),
        Case("a window of two, three layers", (window,)),
        Case("a path that needs both layers in their order", (one_way,)),
        Case("one layer, drawn", (random(1, 5),)),
        Case("three layers, drawn", (random(3, 6),)),
        Case("two layers, drawn, many tokens", (random(2, 9),)),
        # Paths between any two tokens: 4 to the power of 11, with the own path of each. 8 and 16 bits hold 0 of them.
        Case("twelve layers in which everybody sees all others", (np.stack([~np.eye(4, dtype=bool)] * 12),)),
        Case("nobody may attend to anything", (np.zeros((2, 3, 3), dtype=bool),)),
    ]


def _reach(masks: Any) -> Any:
    """Follow each input on its own: which tokens know of it after each layer."""
    import torch

    n = masks.shape[-1]
    columns = []
    for source in range(n):
        knows = {source}
        for layer in masks.tolist():
            knows = knows | {t for t in range(n) if any(layer[t][s] for s in knows)}
        columns.append([t in knows for t in range(n)])
    reached = torch.tensor(columns).T
    return reached, torch.tensor(any(reached[t, s] for t in range(n) for s in range(t + 1, n)))


LEAK = described("08.leak", cases=_reach_cases, oracle=_reach)
