"""The task on leaks: which inputs reach which outputs, layer upon layer."""

from typing import Any

import numpy as np

from softlookup.checks.decoder_and_masks.page import PAGE
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _reach_cases(rng: Rng) -> list[Case]:
    def random(n: int, t: int) -> np.ndarray:
        return rng.random((n, t, t)) < 1.6 / t

    past = np.tri(5, dtype=bool)
    leaky = np.stack([past, np.tri(5, k=1, dtype=bool), past])
    window = np.stack([np.tri(7, dtype=bool) & ~np.tri(7, k=-2, dtype=bool)] * 3)
    one_way = np.zeros((2, 4, 4), dtype=bool)
    one_way[0, 1, 0] = one_way[1, 2, 1] = one_way[0, 3, 2] = True
    return [
        Case("three causal layers", (np.stack([past] * 3),)),
        Case("one layer lets one token of the future through", (leaky,)),
        Case("two leaky layers", (leaky[1:2].repeat(2, axis=0),)),
        Case("a window of two, three layers", (window,)),
        Case("a path that needs both layers in their order", (one_way,)),
        Case("one layer, drawn", (random(1, 5),)),
        Case("three layers, drawn", (random(3, 6),)),
        Case("two layers, drawn, many tokens", (random(2, 9),)),
        Case("twelve layers in which everybody sees everybody", (np.ones((12, 4, 4), dtype=bool),)),
        Case("nobody may look at anything", (np.zeros((2, 3, 3), dtype=bool),)),
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


STEP = "reached = (mask | itself).float() @ reached"

LEAK = Task(
    id="08.leak",
    name="what_reaches",
    title="Does the future leak?",
    points=4,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="decoder-leak",
    returns=("reached", "the verdict"),
    cases=_reach_cases,
    oracle=_reach,
    mistakes=(
        known(
            "one-layer-alone",
            (f"    {STEP}", "    reached = torch.maximum(reached, (mask | itself).float())"),
            says="Each layer is looked at by itself: what one layer has carried to a token, the next carries on. Two "
            "layers that let one token of the future through let two through together.",
        ),
        known(
            "in-every-layer",
            (f"    {STEP}", "    reached = ((mask | itself) & masks.all(0) | itself).float()"),
            says="Only what every layer allows is counted: one layer that lets a token through is enough, since the "
            "residual connection carries it through the others.",
        ),
        known(
            "last-layer",
            (f"    {STEP}", "    reached = (mask | itself).float()"),
            says="Only the last layer is looked at: by then each token holds what earlier layers brought it.",
        ),
        known(
            "no-residual",
            ("(mask | itself)", "mask"),
            says="The residual connection is missing: each token also keeps what it has, so it always reaches itself.",
            number=45,
        ),
        known(
            "order-reversed",
            (f"    {STEP}", "    reached = reached @ (mask | itself).float()"),
            says="The layers are applied in the wrong order: the first layer acts first, so its matrix stands on the "
            "right of the next one's.",
        ),
        known(
            "order-forgotten",
            ("(mask | itself)", "(masks.any(0) | itself)"),
            says="All layers are thrown together: each token goes through the layers once, in their order, and each "
            "layer passes on what its own mask allows.",
        ),
        known(
            "first-layer-left-out",
            ("for mask in masks:", "for mask in masks[1:]:"),
            says="The first layer is left out: before it, each input has reached itself alone.",
        ),
        known(
            "last-layer-left-out",
            ("for mask in masks:", "for mask in masks[:-1]:"),
            says="The last layer is left out.",
        ),
        known(
            "residual-at-the-end",
            ("(mask | itself)", "mask"),
            ("seen = reached > 0", "seen = (reached > 0) | itself"),
            says="The residual connection is added once, at the end: each LAYER has one, so a token can be kept by one "
            "layer and passed on by the next.",
            number=45,
        ),
        known(
            "paths-counted",
            ("seen = reached > 0", "seen = reached"),
            says="These are the numbers of paths: whether there is one is asked for, `> 0`.",
        ),
        known(
            "transposed",
            ("seen = reached > 0", "seen = (reached > 0).T"),
            says="Rows and columns have changed places: row t says what reaches the output at t.",
            number=55,
        ),
        known(
            "itself-is-a-leak",
            ("triu(1)", "triu(0)"),
            says="A token that reaches itself is called a leak: only what comes AFTER it is the future.",
            number=53,
        ),
        known(
            "past-is-a-leak",
            ("triu(1)", "tril(-1)"),
            says="The past is called a leak: the future of token t stands right of the diagonal, s > t.",
        ),
        known(
            "verdict-of-one-layer",
            ("seen.triu(1).any()", "masks[-1].triu(1).any()"),
            says="The verdict looks at the last layer alone: an earlier one may have let the future through.",
        ),
        known(
            "verdict-of-every-layer",
            ("seen.triu(1).any()", "masks.all(0).triu(1).any()"),
            says="The verdict asks whether all layers let the future through: one is enough.",
        ),
        known(
            "verdict-inverted",
            ("return seen, seen.triu(1).any()", "return seen, ~seen.triu(1).any()"),
            says="The verdict is the wrong way round: True means that the future leaks.",
        ),
    ),
)
