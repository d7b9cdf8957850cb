"""Tasks on structured decoding: which tokens a pattern allows, and the probabilities that a mask leaves."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.oracles import torch

Table = list[list[int]]


def _drawn_automaton(rng: Rng, states: int, characters: int) -> tuple[Table, list[int]]:
    """A table without dead ends, whose last row leads somewhere."""
    while True:
        table = rng.integers(0, states, (states, characters))
        table[rng.random(table.shape) < 0.45] = -1
        final = sorted(rng.permutation(states)[:2].tolist())
        live = np.isin(np.arange(states), final)
        for _ in range(states):
            live = live | ((table >= 0) & live[table]).any(axis=1)
        if live.all() and (table[-1] >= 0).any():
            return table.tolist(), final


def _walks(rng: Rng, table: Table, state: int, lengths: list[int]) -> list[list[int]]:
    """Tokens whose characters all fit, and behind each the same token with a last character that does not fit."""
    tokens = []
    for length in lengths:
        at, token = state, []
        for _ in range(length):
            token.append(int(rng.choice([c for c, after in enumerate(table[at]) if after >= 0])))
            at = table[at][token[-1]]
        stops = [c for c, after in enumerate(table[at]) if after < 0]
        tokens += [token, [*token, stops[0]]]
    return tokens


def _token_mask_cases(rng: Rng) -> list[Case]:
    a, b, c = 0, 1, 2
    pairs = [[1, -1, 2], [-1, 0, -1], [-1, -1, -1]]  # (ab)*c
    tokens = [[a], [b], [c], [a, b], [b, a], [a, b, a], [a, b, c], [c, a], [a, a], []]
    ended = [*tokens[:4], [], *tokens[4:]]
    runs = [[1, -1, -1], [1, 2, -1], [-1, 2, 3], [0, -1, -1]]  # a+b+ or a+b+c, then again
    run_tokens = [[], [a, b], [b, c], [b], [c, a], [a], [b, b, b], [a, b, b, c, a], [c, c], [b, a]]
    cases: dict[str, tuple[Any, ...]] = {
        "(ab)*c at the beginning": (pairs, [2], [*tokens, [a, b]], 10, 0),
        "(ab)*c behind an a": (pairs, [2], ended, 4, 1),
        "(ab)*c when the text is complete": (pairs, [2], ended, 4, 2),
        "a text that is complete and may go on": (runs, [2, 3], [*run_tokens, [b, c]], 10, 2),
        "an end token whose characters fit": (runs, [2, 3], [*run_tokens, [a]], 10, 1),
        "an end token whose characters do not fit": (runs, [2, 3], [[c, c, c], *run_tokens], 0, 3),
        "the first state is final": ([[1, -1], [-1, 0]], [0], [[a], [b], [a, b], [b, a], [a, b, a], [b]], 5, 0),
        "no end token fits yet, and nothing loops": (
            [[1, 2], [2, -1], [-1, -1]],
            [2],
            [[a], [b], [a, a], [], []],
            3,
            0,
        ),
    }
    for label in ("a drawn automaton", "another one", "a third"):
        table, final = _drawn_automaton(rng, 5, 4)
        random_tokens = [rng.integers(0, 4, n).tolist() for n in (0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5)]
        order = rng.permutation(len(random_tokens)).tolist()
        state = final[0] if label == "another one" else int(rng.integers(1, 5))
        cases[label] = (
            table,
            final,
            [random_tokens[i] for i in order],
            int(rng.integers(0, len(random_tokens))),
            state,
        )
    # Every state goes on with all characters but one.
    ring = rng.integers(0, 300, (300, 6))
    ring[np.arange(300), rng.integers(0, 6, 300)] = -1
    table, start = ring.tolist(), int(rng.integers(0, 300))
    long = _walks(rng, table, start, [7, 8, 11, 16, 33, 64, 100])
    cases["tokens of up to a hundred characters"] = (table, [start, 5], [*long, [], [0]], 14, start)
    short = _walks(rng, table, 299, rng.integers(1, 5, 150).tolist())
    cases["three hundred tokens"] = (table, [299], [*short, []], 300, 299)
    return [Case(label, args) for label, args in cases.items()]


@graded("16.token-mask", _token_mask_cases, frame="text")
def _token_mask(table: Table, final: list[int], tokens: list[list[int]], end: int, state: int) -> list[bool]:
    """By products of matrices: a character is a matrix over states, a token their product."""
    states = len(table)
    steps = np.zeros((len(table[0]), states, states), dtype=int)
    for before, row in enumerate(table):
        for character, after in enumerate(row):
            if after >= 0:
                steps[character, before, after] = 1
    allowed = []
    for characters in tokens:
        reached = np.eye(states, dtype=int)[state]
        for character in characters:
            reached = reached @ steps[character]
        allowed.append(bool(reached.any()) and bool(characters))
    allowed[end] = any(state == other for other in final)
    return allowed


def _constrained_cases(rng: Rng) -> list[Case]:
    def case(label: str, rows: int, width: int, allowed: list[int], known: int, tau: float, k: int) -> Case:
        logits = normal(rng, rows, width, scale=2.0)
        mask = np.zeros((rows, known), dtype=bool)
        for row, count in zip(mask, allowed, strict=True):
            row[rng.permutation(known)[:count]] = True
        if rows > 1 and allowed[0] and (mask[0] == mask[1]).all():
            mask[1] = np.roll(mask[1], 1)
        # The likeliest token is not allowed, so that top-k before the mask keeps another one.
        for row, is_allowed in zip(logits, mask, strict=True):
            hidden = np.flatnonzero(~is_allowed)
            if len(hidden):
                row[hidden[-1]] = row.max() + 0.5
        return Case(label, (logits, mask, tau, k))

    low = case("all logits far below zero, and far above it where none is allowed", 2, 6, [3, 2], 5, 0.5, 2)
    quarters = rng.permuted(np.tile(np.arange(6), (2, 1)), axis=1).astype("float32") / 4 - 10240.0
    quarters[:, :5][~low.args[1]] += 20480.0
    close = (rng.permuted(np.tile(np.arange(9), (2, 1)), axis=1) / 4096 + 3.0).astype("float32")
    return [
        case("B = 2, V = 6", 2, 6, [3, 4], 6, 1.0, 6),
        case("B = V = 4, top-2", 4, 4, [3, 2, 3, 1], 4, 0.7, 2),
        case("top-3, a high temperature", 3, 9, [5, 4, 6], 9, 1.6, 3),
        case("more logits than tokens", 2, 8, [3, 2], 5, 0.8, 4),
        case("a single token is allowed", 3, 5, [1, 3, 1], 5, 1.3, 3),
        case("a row without an allowed token", 3, 6, [2, 0, 4], 5, 0.6, 3),
        case("greedy: top-1", 2, 7, [4, 3], 6, 0.9, 1),
        case("a single text", 1, 6, [4], 6, 1.1, 2),
        case("k is more than there are logits", 2, 5, [3, 2], 4, 1.2, 9),
        # Differences that 16 bits do not hold.
        replace(low, label="nearly equal logits", args=(close, np.arange(9) < np.array([[9], [7]]), 0.5, 3)),
        case("a vocabulary of more than 500 tokens", 2, 530, [400, 301], 521, 0.9, 290),
        replace(low, args=(quarters, *low.args[1:]), part="large", tolerance=1e-3),
    ]


@graded("16.constrained-step", _constrained_cases, parts={"core": 0.9, "large": 0.1}, cuts=False)
def _constrained(logits: Any, mask: Any, temperature: float, k: int) -> Any:
    """Row by row, with the allowed tokens alone."""
    probabilities = torch.zeros_like(logits)
    for row, is_allowed, out in zip(logits, mask, probabilities, strict=True):
        ids = sorted(is_allowed.nonzero()[:, 0].tolist(), key=lambda token: -float(row[token]))[:k]
        if ids:
            raised = torch.exp((row[ids] - row[ids].max()) / temperature)
            out[ids] = raised / raised.sum()
    return probabilities
