"""A mixture of experts, one on each rank: tokens travel to their expert and back."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch19_many_devices.worlds import ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, normal, softmax
from softlookup_judge.data.variant import Expression
from softlookup_judge.judging.ranks import on_all_ranks

PerRank = list[np.ndarray]

_SOFTMAX, _SIGMOID = "its part of the softmax of the token's scores", "the sigmoid of its score alone"


def _experts_cases(rng: Rng, gate: str, gates: str) -> list[Case]:
    def ask(
        label: str,
        tokens: list[int],
        d: int,
        f: int,
        capacity: int,
        dtype: str = "float32",
        limited: bool = False,
        lean: float = 0,
        sharp: float = 1,
    ) -> Case:
        world = len(tokens)
        w_router = normal(rng, d, world, dtype=dtype, scale=sharp)
        x = [normal(rng, t, d, dtype=dtype) for t in tokens]
        # Some tokens lean towards the last expert, which is then full.
        x = [each + lean * w_router[:, -1] for each in x]
        w_in = [normal(rng, d, f, dtype=dtype) for _ in range(world)]
        w_out = [normal(rng, f, d, dtype=dtype, scale=f**-0.5) for _ in range(world)]
        limits = (2 * capacity * d * x[0].itemsize, 2 * world * (world - 1), None) if limited else None
        args = (x, w_router, w_in, w_out, capacity)
        return ask_world(label, args, world, offers=("all_to_all_single", "all_gather_into_tensor"), limits=limits)

    return [
        ask("two ranks, room for all", [5, 5], 3, 4, 5),
        ask("three ranks, an expert is full", [7, 7, 7], 4, 3, 2, lean=0.4),
        ask("one place on each expert", [6, 4, 5], 3, 5, 1),
        ask("unequal numbers of tokens, one rank without any", [6, 0, 3, 8], 3, 2, 2),
        ask("all tokens for one expert", [5, 6], 4, 3, 3, lean=20.0),
        ask("scores of some hundreds", [5, 4, 3], 3, 2, 3, sharp=150),
        ask("one rank", [4], 3, 2, 3),
        # An expert's weights are more bytes than its tokens: it does not pay to send them.
        ask("traffic of four ranks", [9, 9, 9, 9], 4, 6, 3, limited=True),
        ask("traffic of three ranks, all digits of float64", [6, 7, 5], 4, 5, 3, "float64", limited=True),
    ]


def _experts(
    x: PerRank, w_router: np.ndarray, w_in: PerRank, w_out: PerRank, capacity: int, gate: str, gates: str
) -> tuple[np.ndarray, ...]:
    """Expert by expert, without any messages: the first tokens of a rank that choose it, and no more."""
    results = []
    for tokens in x:
        scores = np.einsum("td,de->te", tokens, w_router)
        chances = softmax(scores) if gate == _SOFTMAX else (1 + np.tanh(scores / 2)) / 2
        y = np.zeros(tokens.shape)
        for expert in range(len(x)):
            chosen = np.flatnonzero((scores == scores.max(axis=-1, keepdims=True, initial=-np.inf))[:, expert])
            for t in chosen[:capacity]:
                hidden = np.einsum("d,df->f", tokens[t], w_in[expert])
                y[t] = chances[t, expert] * np.einsum("f,fd->d", np.where(hidden > 0, hidden, 0), w_out[expert])
        results.append(y)
    return on_all_ranks(results)


EXPERTS = rank_task(
    "19.experts",
    _experts_cases,
    _experts,
    finished=True,
    variants=(
        {"gate": _SOFTMAX, "gates": Expression("e / e.sum(axis=-1, keepdims=True)")},
        {"gate": _SIGMOID, "gates": Expression("np.exp(-np.logaddexp(0, -scores))")},
    ),
)
