"""The task on the last step: from states to words."""

from typing import Any

import numpy as np

from softlookup.checks.decoder_and_masks.page import PAGE
from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import gradient_cut, known
from softlookup.checks.task import Case, Task


def _cases(rng: Rng, unit: float, named: str) -> list[Case]:
    def states(*shape: int, dtype: str = "float32", scale: float = 1.0) -> np.ndarray:
        return normal(rng, *shape, dtype=dtype, scale=scale)

    double = states(2, 3, 4, dtype="float64"), states(6, 4, dtype="float64")
    far = states(1, 3, 2), states(5, 2)
    far[0][..., 0], far[1][:, 0] = 60.0, [10.0, -10.0, 9.0, 0.0, 10.5]
    return [
        Case("B = 2, T = 3, D = 4, V = 7", (states(2, 3, 4), states(7, 4))),
        Case("the slide's sizes, with 12 words: T = 8, D = 4", (states(1, 8, 4), states(12, 4))),
        Case("B = T = D = V = 3", (states(3, 3, 3), states(3, 3))),
        Case("a state of zeros knows nothing", (np.zeros((1, 2, 4), dtype="float32"), states(10, 4))),
        Case("logits far apart", far, part="large", tolerance=1e-3),
        Case("the gradient", double, gradients=(0, 1), upstream=normal(rng, 2, 3, 6, dtype="float64"), part="gradient"),
    ]


def _oracle(x: Any, table: Any, unit: float, named: str) -> Any:
    import torch

    logits = torch.stack([(x * word).sum(-1) for word in table], dim=-1)
    nats = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    return nats / unit


LINE = "torch.log_softmax(x @ table.T, dim=-1)"

LOGITS = Task(
    id="08.logits",
    name="log_probabilities",
    title="From states to words",
    points=2,
    minutes=6,
    difficulty=2,
    page=PAGE,
    anchor="decoder-logits",
    returns=("log_p",),
    cases=_cases,
    oracle=_oracle,
    variants=(
        {"unit": 1.0, "named": "the **natural logarithms**"},
        {"unit": 0.6931471805599453, "named": "the logarithms **to the base 2** (divide by $\\log 2$)"},
    ),
    parts={"core": 0.7, "large": 0.15, "gradient": 0.15},
    mistakes=(
        known(
            "no-softmax",
            (LINE, "x @ table.T"),
            says="These are the logits: log-probabilities are wanted, whose exponentials sum to 1 over the words.",
        ),
        known(
            "probabilities",
            ("log_softmax", "softmax"),
            says="These are probabilities: their logarithms are asked for.",
            number=64,
        ),
        known(
            "log-of-tiny",
            (LINE, "torch.log(torch.softmax(x @ table.T, dim=-1))"),
            says="The logarithm is taken of probabilities that have become 0, which gives -inf: log_softmax never "
            "writes them down.",
        ),
        known(
            "over-positions",
            ("dim=-1", "dim=1"),
            says="The probabilities sum to 1 over the positions: each position shares out its own over the words.",
        ),
        known(
            "first-axis",
            ("dim=-1", "dim=0"),
            says="The probabilities sum to 1 over the sentences of the batch: each position shares out its own over "
            "the words.",
        ),
        known(
            "softmax-twice",
            ("log_softmax(x @ table.T,", "log_softmax(torch.softmax(x @ table.T, dim=-1),"),
            says="Softmax comes before log_softmax: that one is there already, and takes logits.",
            number=64,
        ),
        known(
            "no-max",
            (LINE, "(x @ table.T - (x @ table.T).exp().sum(-1, keepdim=True).log())"),
            says="exp of a large logit overflows: subtract the row's largest first, or take log_softmax or logsumexp.",
            number=14,
        ),
        known(
            "table-not-transposed",
            ("table.T", "table"),
            says="The table is (V, D), a row for each word: a logit is a state's dot product with a word's row, so it "
            "is x @ table.T.",
        ),
        known(
            "scaled",
            ("x @ table.T", "x @ table.T / x.shape[-1] ** 0.5"),
            says="The logits are divided by the root of D: that belongs to attention scores, not here.",
        ),
        known(
            "losses",
            (LINE, f"-{LINE}"),
            says="The sign is turned round: log-probabilities are never above 0.",
        ),
        gradient_cut((LINE, f"{LINE}.detach()")),
    ),
)
