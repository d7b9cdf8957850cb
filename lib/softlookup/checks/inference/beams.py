"""Tasks on beam search: one step, and the whole search in a table model."""

from itertools import product
from math import inf
from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference.page import PAGE, Flags
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def log_shares(x: np.ndarray) -> np.ndarray:
    """Logarithms of the softmax of each row."""
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _step_cases(rng: Rng) -> list[Case]:
    def case(label: str, w: int, v: int, beams: int) -> Case:
        totals = -np.abs(normal(rng, w, dtype="float64", scale=2.0)) - 1.0
        return Case(label, (totals, log_shares(normal(rng, w, v, dtype="float64", scale=1.5)), beams))

    first = np.array([-0.25]), log_shares(normal(rng, 1, 6, dtype="float64")), 3
    # The likeliest text has the two best continuations, and another one none at all.
    totals = np.array([-1.0, -6.0, -2.0])
    log_p = np.log(np.array([[0.5, 0.3, 0.15, 0.05], [0.9, 0.05, 0.03, 0.02], [0.6, 0.2, 0.15, 0.05]]))
    return [
        case("W = 3, V = 7, four are kept", 3, 7, 4),
        case("W = V = 4, four are kept", 4, 4, 4),
        Case("a single text is open", first),
        Case("a text that nothing comes of", (totals, log_p, 3)),
        case("everything is kept", 2, 3, 6),
        case("one is kept: greedy", 1, 5, 1),
    ]


def _step(totals: Any, log_p: Any, beams: int) -> Any:
    """All continuations in a list, sorted."""
    import torch

    w, v = log_p.shape
    found = sorted(((float(totals[i] + log_p[i, j]), i, j) for i, j in product(range(w), range(v))), reverse=True)
    return tuple(torch.tensor([one[n] for one in found[:beams]], dtype=torch.float64) for n in range(3))


def beam_step(flags: Flags, totals: np.ndarray, log_p: np.ndarray, beams: int) -> tuple[np.ndarray, ...]:
    """One step of a search, with mistakes."""
    w, v = log_p.shape
    everything = totals[:, None] + log_p
    if "history-forgotten" in flags:
        everything = np.zeros((w, 1)) + log_p
    if "multiplied" in flags:
        everything = totals[:, None] * log_p
    if "one-each" in flags:
        chosen = everything.argmax(-1)
        return everything.max(-1), np.arange(w), chosen
    flat = everything.flatten()
    if not 0 < beams <= flat.size:
        raise ValueError("more are wanted than there are")
    order = np.argsort(flat if "least-likely" in flags else -flat, kind="stable")[:beams]
    width = w if "wrong-width" in flags else v
    parents, tokens = order // width, order % width
    if "exchanged" in flags:
        parents, tokens = tokens, parents
    return flat[order], parents, tokens


ALL = "totals[:, None] + log_p"

BEAM_STEP = Task(
    id="10.beam-step",
    name="beam_step",
    title="One step of a beam",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="inference-beam",
    returns=("totals", "parents", "tokens"),
    cases=_step_cases,
    oracle=_step,
    mistaken=beam_step,
    mistakes=(
        known(
            "history-forgotten",
            (ALL, "torch.zeros_like(totals)[:, None] + log_p"),
            says="Only the newest token's log-probability counts: what the text had before is added to it.",
        ),
        known(
            "multiplied",
            (ALL, "totals[:, None] * log_p"),
            says="Log-probabilities are multiplied: probabilities are multiplied, their logarithms added.",
        ),
        known(
            "one-each",
            (
                "best = everything.flatten().topk(beams)",
                "return everything.max(dim=-1).values, torch.arange(len(totals)), everything.argmax(dim=-1)",
            ),
            says="Each text keeps its own best continuation: all of them compete, so that one text may go on twice and "
            "another not at all.",
        ),
        known(
            "wrong-width",
            ("n_tokens = log_p.shape[1]", "n_tokens = log_p.shape[0]"),
            says="The place in the flat list is divided by W: a row of the table has V entries.",
        ),
        known(
            "exchanged",
            (
                "best.indices // n_tokens, best.indices % n_tokens",
                "best.indices % n_tokens, best.indices // n_tokens",
            ),
            says="Parents and tokens have changed places: place // V is the row, the text; place % V the token.",
        ),
        known(
            "least-likely",
            (".topk(beams)", ".topk(beams, largest=False)"),
            says="The least likely continuations are kept.",
        ),
    ),
)


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


def _beam_cases(rng: Rng) -> list[Case]:
    return [
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


def beam(flags: Flags, table: np.ndarray, start_id: int, end_id: int, beams: int, limit: int, alpha: float) -> Any:
    """The whole search, with mistakes."""
    texts, totals = [[start_id]], np.zeros(1, dtype=table.dtype)
    best: list[int] = []
    best_score = -inf
    room = 1 if "one-beam" in flags else beams
    for length in range(1, limit + 1):
        log_p = table[[text[0] if "first-token" in flags else text[-1] for text in texts]]
        wanted = min(room, log_p.size)
        totals, parents, tokens = beam_step(frozenset(), totals, log_p, wanted)
        still, going, any_end = [], [], False
        for place, (parent, token) in enumerate(zip(parents.tolist(), tokens.tolist(), strict=True)):
            text = [*texts[parent], token]
            ends = token == end_id and "no-stop" not in flags
            cut = length == limit and "cut-off-forgotten" not in flags
            if ends or cut:
                n = length + ("start-counted" in flags) - ("end-not-counted" in flags)
                score = float(totals[place])
                if "no-penalty" not in flags:
                    share = ((5 + n) / 6) ** alpha
                    score = score * share if "multiplied" in flags else score / share
                if score > best_score:
                    best, best_score = text, score
                any_end = True
            else:
                still.append(place)
                going.append(text)
        if "narrowing" in flags:
            room = len(going)
        if not going or (any_end and "first-end" in flags):
            break
        texts, totals = going, totals[still]
    return np.array(best if "start-returned" in flags else best[1:]), np.array(best_score)


COUNTED = "((5 + length) / 6)"
ENDED = "text[-1] == end_id or length == limit"

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
    mistaken=beam,
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
