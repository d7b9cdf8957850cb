"""Training on two by two ranks: each has half of the weights, and a pair has half of the examples."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch19_many_devices.worlds import ask_world, rank_task
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.judging.ranks import on_all_ranks

PerRank = list[np.ndarray]

_SAME_BATCH, _SAME_HALF = [[0, 1], [2, 3]], [[0, 2], [1, 3]]

_BYTES = 8
"""Of one number, in float64."""


def _train_cases(rng: Rng, decay: float) -> list[Case]:
    def ask(
        label: str,
        batches: tuple[int, int],
        sizes: tuple[int, int, int],
        steps: int,
        rate: float,
        limited: bool = False,
        is_large: bool = False,
    ) -> Case:
        d, f, c = sizes
        x: PerRank = [np.empty(0)] * 4
        labels, w_in, w_out = list(x), list(x), list(x)
        for pair, count in zip(_SAME_BATCH, batches, strict=True):
            some, classes = normal(rng, count, d, dtype="float64"), rng.integers(is_large, c, count)
            for rank in pair:
                x[rank], labels[rank] = some, classes
        for pair in _SAME_HALF:
            half_in = normal(rng, d, f, dtype="float64", scale=d**-0.5)
            half_out = normal(rng, f, c, dtype="float64", scale=f**-0.5)
            if is_large:  # logits of a thousand and more, and class 0, which no example has, far below the others
                half_out += 400.0
                half_out[:, 0] -= 2400.0
            for rank in pair:
                w_in[rank], w_out[rank] = half_in, half_out
        # In each step the logits cross one link and the gradients another, with a few single numbers.
        most = max(max(batches) * c, d * f + f * c + 3) * steps + 3
        return ask_world(
            label,
            (x, labels, w_in, w_out, rate, steps),
            4,
            offers=("all_reduce", "new_group"),
            limits=(_BYTES * most, None, None) if limited else None,
            tolerance=1e-12 if limited else 1e-5,
        )

    return [
        ask("two steps, batches of five and three", (5, 3), (3, 2, 4), 2, 0.5),
        ask("three steps, batches of two and six", (2, 6), (4, 3, 3), 3, 0.3),
        ask("batches of four each", (4, 4), (2, 3, 2), 2, 0.4),
        ask("logits of some thousands", (4, 3), (3, 3, 4), 2, 0.1, is_large=True),
        ask("one step", (3, 1), (2, 1, 3), 1, 1.0),
        # Inputs are wide: it does not pay to exchange examples, even by halves and in float32.
        ask("bytes where the logits are most", (15, 12), (60, 1, 5), 2, 0.2, limited=True),
        ask("bytes where the gradients are most", (2, 3), (6, 4, 3), 2, 0.2, limited=True),
    ]


def _train(
    x: PerRank,
    labels: PerRank,
    w_in: PerRank,
    w_out: PerRank,
    rate: float,
    steps: int,
    decay: float,
) -> tuple[np.ndarray, ...]:
    """One device with all weights and examples; the gradient by the chain rule, example by example."""
    examples = np.concatenate([x[pair[0]] for pair in _SAME_BATCH])
    classes = np.concatenate([labels[pair[0]] for pair in _SAME_BATCH]).astype(int)
    first = np.concatenate([w_in[pair[0]] for pair in _SAME_HALF], axis=1)
    second = np.concatenate([w_out[pair[0]] for pair in _SAME_HALF], axis=0)
    losses = []
    for _ in range(steps):
        loss, d_first, d_second = 0.0, np.zeros(first.shape), np.zeros(second.shape)
        for example, label in zip(examples, classes, strict=True):
            z = example @ first
            logits = np.where(z > 0, z, 0) @ second
            log_shares = logits - np.logaddexp.reduce(logits)
            loss -= log_shares[label]
            slope = np.exp(log_shares)
            slope[label] -= 1
            d_second += np.outer(np.where(z > 0, z, 0), slope)
            d_first += np.outer(example, np.where(z > 0, second @ slope, 0))
        losses.append(loss / len(examples))
        first = (1 - rate * decay) * first - rate * d_first / len(examples)
        second = (1 - rate * decay) * second - rate * d_second / len(examples)
    halves_in, halves_out = np.split(first, 2, axis=1), np.split(second, 2, axis=0)
    half_of = {rank: half for half, pair in enumerate(_SAME_HALF) for rank in pair}
    return on_all_ranks(
        [np.array(losses)] * 4,
        [halves_in[half_of[rank]] for rank in range(4)],
        [halves_out[half_of[rank]] for rank in range(4)],
    )


TWO_BY_TWO = rank_task(
    "19.two-by-two",
    _train_cases,
    _train,
    finished=True,
    variants=tuple({"decay": decay} for decay in (0.1, 0.3)),
)
