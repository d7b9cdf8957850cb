"""The task on the whole beam search, in a table model."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference.beam_steps import log_shares
from softlookup.checks.inference.page import PAGE
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _tables(rng: Rng, v: int, beams: int, limit: int, alpha: float, *, end_bias: float = 0.0) -> Case:
    """A table whose best text is far enough ahead of the next, so that rounding decides nothing."""
    table = normal(rng, v, v, dtype="float64", scale=1.6)
    table[:, 1] += end_bias
    table[0, 1] -= 2.0  # hardly any text ends at once
    label = f"V = {v}, beam of {beams}, at most {limit} tokens, alpha = {alpha:g}"
    return Case(label, (log_shares(table), 0, 1, beams, limit, alpha))


def _garden_path(rng: Rng) -> np.ndarray:
    """Greedy takes token 2 and is then lost among equals; 3 leads on to sure things."""
    p = rng.uniform(0.015, 0.025, size=(6, 6))
    p[0, [2, 3]] = 0.5, 0.42
    p[2] = [0.01, 0.25, 0.04, 0.05, 0.33, 0.32]
    p[3, 4] = p[4, 5] = 0.9
    p[5, 1] = 0.9
    return np.log(p / p.sum(1, keepdims=True))


def _early_end(rng: Rng) -> np.ndarray:
    """A short text ends at once; the best one goes on as the second of two."""
    p = rng.uniform(0.005, 0.01, size=(6, 6))
    p[0] = [0.05, 0.42, 0.4, 0.05, 0.04, 0.04]
    p[2, [3, 4]] = 0.5, 0.45
    p[3] = [0.05, 0.06, 0.15, 0.24, 0.26, 0.25]
    p[4, 5] = p[5, 1] = 0.97
    return np.log(p / p.sum(1, keepdims=True))


def _rows(rng: Rng, rows: dict[int, dict[int, float]]) -> np.ndarray:
    """A table of six tokens with a few likely ones in each row; the rest is shared out unevenly."""
    p = rng.uniform(0.005, 0.01, size=(6, 6))
    for row, likely in rows.items():
        p[row, list(likely)] = list(likely.values())
    return np.log(p / p.sum(1, keepdims=True))


def _ends_take_places(rng: Rng) -> np.ndarray:
    """The end is among the two likeliest at first; 3 would lead on to sure things, if it were kept in its place."""
    return _rows(rng, {0: {2: 0.4, 1: 0.34, 3: 0.24}, 2: {4: 0.3, 1: 0.25, 5: 0.2, 0: 0.2}, 3: {5: 0.95}, 5: {1: 0.95}})


def _two_end_early(rng: Rng) -> np.ndarray:
    """Two texts have ended while the best one is still open."""
    return _rows(rng, {0: {2: 0.45, 1: 0.36}, 2: {3: 0.51, 1: 0.45}, 3: {4: 0.95}, 4: {1: 0.95}})


def _more_than_tokens(rng: Rng) -> np.ndarray:
    """What leads on to sure things is the seventh of all continuations, and there are six tokens."""
    spread = {2: 0.34, 3: 0.33, 4: 0.31}
    likely = {
        0: {2: 0.38, 3: 0.34, 4: 0.26},
        2: spread,
        3: spread,
        4: {5: 0.34, 2: 0.22, 3: 0.22, 4: 0.2},
        5: {1: 0.97},
    }
    return _rows(rng, likely)


def _beam_cases(rng: Rng) -> list[Case]:
    return [
        Case("a text that ends takes a place, beam of 2", (_ends_take_places(rng), 0, 1, 2, 5, 2.0)),
        Case("two texts end while a better one is open", (_two_end_early(rng), 0, 1, 2, 6, 2.0)),
        Case("a beam wider than the table, V = 6, beam of 8", (_more_than_tokens(rng), 0, 1, 8, 4, 0.5)),
        Case("a garden path, beam of 2", (_garden_path(rng), 0, 1, 2, 6, 0.6)),
        Case("a garden path, cut off after 3 tokens", (_garden_path(rng), 0, 1, 3, 3, 1.0)),
        Case("a garden path, beam of 1: greedy", (_garden_path(rng), 0, 1, 1, 6, 0.0)),
        Case("a short text ends at once, beam of 2", (_early_end(rng), 0, 1, 2, 5, 2.0)),
        _tables(rng, 6, 4, 5, 1.0),
        _tables(rng, 5, 3, 6, 2.0, end_bias=0.5),
        _tables(rng, 7, 5, 4, 0.6, end_bias=1.0),
        _tables(rng, 4, 4, 4, 0.0),
        _tables(rng, 4, 20, 3, 1.5, end_bias=0.5),
    ]


def _beam(table: Any, start_id: int, end_id: int, beams: int, limit: int, alpha: float) -> Any:
    """The same with tuples and sorting: texts as keys, finished ones put aside."""
    import torch

    open_texts: dict[tuple[int, ...], float] = {(): 0.0}
    finished: dict[tuple[int, ...], float] = {}
    while open_texts:
        longer = {
            (*text, token): total + float(table[(text or (start_id,))[-1], token])
            for text, total in open_texts.items()
            for token in range(len(table))
        }
        best = sorted(longer, key=longer.__getitem__, reverse=True)[:beams]
        done = [text for text in best if text[-1] == end_id or len(text) == limit]
        finished |= {text: longer[text] / ((5 + len(text)) / 6) ** alpha for text in done}
        open_texts = {text: longer[text] for text in best if text not in done}
    winner = max(finished, key=finished.__getitem__)
    return torch.tensor(winner), torch.tensor(finished[winner], dtype=torch.float64)


COUNTED = "((5 + length) / 6)"
ENDED = "text[-1] == end_id or length == limit"
SCORED = "if ends and score > best_score:"

BEAM = Task(
    id="10.beam",
    name="beam_search",
    title="Beam search",
    points=5,
    minutes=20,
    difficulty=3,
    page=PAGE,
    anchor="inference-beam",
    returns=("ids", "score"),
    cases=_beam_cases,
    oracle=_beam,
    mistakes=(
        known(
            "start-counted",
            (COUNTED, "((5 + length + 1) / 6)"),
            says="The start token is counted in the length: n is what was written, the end token included.",
            number=77,
        ),
        known(
            "end-not-counted",
            (COUNTED, "((5 + length - 1) / 6)"),
            says="The length is one too small: the end token is counted, the start token is not.",
            number=77,
        ),
        known(
            "no-penalty",
            (f" / {COUNTED} ** alpha", ""),
            says="Finished texts are compared by their log-probabilities: divide by the length penalty first.",
        ),
        known(
            "multiplied",
            (f"/ {COUNTED}", f"* {COUNTED}"),
            says="The log-probability is multiplied by the penalty: it is divided.",
        ),
        known(
            "no-stop",
            (ENDED, "length == limit"),
            says="The end token ends nothing: texts are continued behind it.",
            number=74,
        ),
        known(
            "cut-off-forgotten",
            (ENDED, "text[-1] == end_id"),
            says="A text that reaches the limit is forgotten: it counts as finished there.",
        ),
        known(
            "first-end",
            ("if not still_open:", "if not still_open or best:"),
            says="The search stops as soon as a text has ended: longer ones that are still open may come out better.",
        ),
        known(
            "narrowing",
            (
                "        if not still_open:\n            break",
                "        beams = len(still_open)\n        if not still_open:\n            break",
            ),
            says="Each finished text makes the beam narrower: `beams` continuations are kept at EVERY step.",
        ),
        known(
            "refilled",
            ("min(beams, log_p.numel())", "log_p.numel()"),
            ("zip(grown, totals.tolist(), ended, strict=True)", "zip(grown[:beams], totals.tolist(), ended)"),
            ("if not ends]", "if not ends][:beams]"),
            says="Texts that end are replaced by the next best, so that `beams` others stay open: here they take a "
            "place among the `beams` that are kept.",
        ),
        known(
            "stops-when-full",
            (SCORED, f"n_ended += ends\n            {SCORED}"),
            ("    for length in", "    n_ended = 0\n    for length in"),
            ("if not still_open:", "if not still_open or n_ended >= beams:"),
            says="The search stops as soon as `beams` texts have ended: longer ones that are still open may come out "
            "better.",
        ),
        known(
            "never-more-than-tokens",
            ("log_p.numel()", "log_p.shape[1]"),
            says="No more continuations are kept than the table has tokens: there are W * V of them to choose from.",
        ),
        known(
            "table-transposed",
            ("table[torch", "table.T[torch"),
            says="A column of the table is read: ROW i says what follows token i.",
        ),
        known(
            "score-undivided",
            ("best, best_score = text, score", "best, best_score, best_total = text, score, total"),
            ("return best[1:], best_score", "return best[1:], best_total"),
            says="The right text is found, but its log-probability comes back: its score is asked for, divided by the "
            "length penalty.",
        ),
        known(
            "end-dropped",
            ("return best[1:],", "return [token for token in best[1:] if token != end_id],"),
            says="The end token is missing from the text: it was chosen, and is returned.",
            number=77,
        ),
        known(
            "length-itself",
            (COUNTED, "length"),
            says="The log-probability is divided by a power of the length itself, as some programs do: the penalty "
            "asked for is ((5 + n)/6) ** alpha.",
        ),
        known(
            "not-raised",
            (" ** alpha", ""),
            says="The exponent alpha is missing.",
        ),
        known(
            "one-beam",
            ("min(beams, log_p.numel())", "1"),
            says="One continuation is kept at a step: that is greedy search.",
        ),
        known(
            "first-token",
            ("text[-1] for", "text[0] for"),
            says="Every step asks what follows the FIRST token of a text: it is the newest one that matters.",
            number=74,
        ),
        known(
            "start-returned",
            ("return best[1:],", "return best,"),
            says="The start token is returned too: it was given, not written.",
        ),
    ),
)
