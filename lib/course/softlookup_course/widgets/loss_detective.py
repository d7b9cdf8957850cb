"""Six learning curves that are wrong: which fault made each of them?"""

from collections.abc import Mapping
from math import log
from typing import Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

HEALTHY = "healthy"

SUSPECTS: dict[str, dict[str, str]] = {
    "no-mask": {
        "title": "the causal mask is missing",
        "would": "the curve follows the healthy one at first, until attention has learned which of the visible tokens "
        "is the answer, and then sinks below it",
        "because": "Nothing distinguished the run from the healthy one until the model had learned to attend to the "
        "token that it should predict. Training and validation leak alike, so the two curves agree.",
    },
    "padding-counted": {
        "title": "padding is counted in the loss",
        "would": "the curve has the shape of the healthy one, but ends lower by the share of the labels that are "
        "padding, which costs next to nothing to predict",
        "because": "The end of a row is soon learned, and every padding token after it pulls the mean down. The model "
        "itself is hardly worse than the healthy one.",
    },
    "never-zeroed": {
        "title": "the gradients are never set to zero",
        "would": "the curve falls while the first gradients agree, and then wanders up and down, far above the healthy "
        "one",
        "because": "Each step follows the sum of all gradients since the first, so the run keeps going where it was "
        "sent long ago. It reports its loss correctly, and the loss is bad.",
    },
    "not-shifted": {
        "title": "the labels are not shifted",
        "would": "the curve falls almost to 0, far faster than any language can be learned",
        "because": "Each label is the token that the model has just read, and to copy it is easy. A loss near 0 on "
        "sentences that it has never seen is no success: nobody can predict text so well.",
    },
    "dropout-on": {
        "title": "dropout stays on in evaluation",
        "would": "the training curve is the healthy one, and the validation curve ends above it instead of close to it",
        "because": "Training went as in the healthy run. Only the number reported for unseen sentences is too high, "
        "because a part of the model is missing whenever it is measured.",
    },
    "second-softmax": {
        "title": "a second softmax stands before the loss",
        "would": "the curve begins very close to log V and stays near it, because the loss then compares numbers "
        "between 0 and 1",
        "because": "The loss took probabilities for logits. They differ by 1 at most, so that even certainty cannot "
        "bring the loss far below log V, and hardly any gradient comes back.",
    },
}
"""The faults of ``softlookup bench faults``: what each does to a curve, and why, in the order of the buttons."""

CASES = ("not-shifted", "dropout-on", "second-softmax", "no-mask", "never-zeroed", "padding-counted")
"""The culprits, in the order of the cases."""


def curves(measured: Mapping[str, Any], seed: int) -> dict[str, dict[str, list[float]]]:
    """Pick the losses of one seed by fault: training, validation (as reported) and true, in nats per token."""
    runs = {run["fault"]: run for run in measured["runs"] if run["seed"] == seed}
    loss_names = ("training", "validation", "true")
    return {fault: {loss_name: list(runs[fault][loss_name]) for loss_name in loss_names} for fault in (HEALTHY, *CASES)}


def static_table(curves: Mapping[str, Mapping[str, list[float]]]) -> str:
    """Write the cases and their answers as HTML, for readers whose browser runs no script."""
    run_names = [("healthy run", HEALTHY, "none")]
    run_names += [(f"case {i}", fault, SUSPECTS[fault]["title"]) for i, fault in enumerate(CASES, start=1)]
    ends = (("validation", 0), ("training", -1), ("validation", -1), ("true", -1))
    rows = (
        (name, *(f"{curves[fault][loss_name][at]:.2f}" for loss_name, at in ends), title)
        for name, fault, title in run_names
    )
    sentence = (
        "<p>Losses of seven runs, in nats per token. With scripts switched on, you can choose a suspect for each "
        "curve here.</p>"
    )
    head = ("run", "first", "training, at the end", "validation, at the end", "true", "fault")
    return sentence + plain_table(head, rows)


class LossDetective(InteractiveFigure):
    """Look at a learning curve that is wrong, beside a healthy one, and name the fault."""

    runs = traitlets.Dict(help="curves by fault: training, validation, true").tag(sync=True)
    suspects = traitlets.List(traitlets.Dict(), help="slug, title, would, because").tag(sync=True)
    cases = traitlets.List(traitlets.Unicode(), list(CASES), help="the culprit of each case").tag(sync=True)
    every = traitlets.Int(10, help="steps between two points of a curve").tag(sync=True)
    even = traitlets.Float(help="log V, the loss of equal probabilities").tag(sync=True)

    def __init__(self, measured: Mapping[str, Any], *, seed: int = 1) -> None:
        runs = curves(measured, seed)
        super().__init__(
            runs=runs,
            suspects=[{"slug": fault, **suspect} for fault, suspect in SUSPECTS.items()],
            every=int(measured["every"]),
            even=log(measured["vocabulary"]),
            fallback=static_table(runs),
        )
