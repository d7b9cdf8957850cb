"""The task on one step of a beam search."""

from itertools import product
from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference.page import PAGE
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
    kinds = torch.float64, torch.int64, torch.int64  # a stand-in's parents and tokens are looked up with
    return tuple(torch.tensor([one[n] for one in found[:beams]], dtype=kind) for n, kind in enumerate(kinds))


ALL = "totals[:, None] + log_p"
BY_PLACE = (
    "order = best.indices.argsort()\n    best = torch.return_types.topk((best.values[order], best.indices[order]))"
)

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
        known(
            "as-many-as-open",
            (".topk(beams)", ".topk(len(totals))"),
            says="As many are kept as texts were open: `beams` of them are, however many are open.",
        ),
        known(
            "not-in-order",
            ("return best.values, best.indices //", f"{BY_PLACE}\n    return best.values, best.indices //"),
            says="The right ones are kept, but in the order of their places: the likeliest comes first.",
        ),
        known(
            "worst-first",
            (".topk(beams)", ".topk(beams)\n    best = torch.return_types.topk((best[0].flip(0), best[1].flip(0)))"),
            says="The right ones are kept, but the likeliest comes last.",
        ),
        known(
            "place-as-token",
            ("best.indices % n_tokens", "best.indices"),
            says="The place in the flat list is returned as the token: the token is place % V.",
        ),
        known(
            "probabilities",
            ("return best.values,", "return best.values.exp(),"),
            says="Probabilities come back: the totals are logarithms, and stay so.",
        ),
        known(
            "newest-alone",
            ("return best.values,", "return log_p.flatten()[best.indices],"),
            says="The right ones are kept, but what comes back is the newest token's log-probability alone: the total "
            "is the text's.",
        ),
    ),
)
