"""The task on the last step: from states to words."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _cases(rng: Rng, unit: float, named: str) -> list[Case]:
    def states(*shape: int, dtype: str = "float32", scale: float = 1.0) -> np.ndarray:
        return normal(rng, *shape, dtype=dtype, scale=scale)

    double = states(2, 3, 4, dtype="float64"), states(6, 4, dtype="float64")
    far = states(1, 3, 2), states(5, 2)
    far[0][..., 0], far[1][:, 0] = 60.0, [10.0, -10.0, 9.0, 0.0, 10.5]
    # Rows hundreds apart, their own logits close together: one maximum for the whole table is none for each row.
    levels = states(2, 2, 3), states(5, 3)
    levels[0][..., 0], levels[1][:, 0] = [[30.0, -30.0], [0.0, 10.0]], 10.0
    return [
        Case("B = 2, T = 3, D = 4, V = 7", (states(2, 3, 4), states(7, 4))),
        Case("small sizes, with 12 words: T = 8, D = 4", (states(1, 8, 4), states(12, 4))),
        Case("B = T = D = V = 3", (states(3, 3, 3), states(3, 3))),
        Case("a state of zeros knows nothing", (np.zeros((1, 2, 4), dtype="float32"), states(10, 4))),
        Case("logits far apart", far, part="large", tolerance=1e-3),
        Case("logits of one position far below those of another", levels, part="large", tolerance=1e-3),
        Case("the gradient", double, gradients=(0, 1), upstream=normal(rng, 2, 3, 6, dtype="float64"), part="gradient"),
    ]


def _oracle(x: Any, table: Any, unit: float, named: str) -> Any:
    import torch

    logits = torch.stack([(x * word).sum(-1) for word in table], dim=-1)
    nats = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    return nats / unit


LOGITS = described(
    "08.logits",
    cases=_cases,
    oracle=_oracle,
    variants=(
        {"unit": 1.0, "named": "the **natural logarithms**"},
        *(
            {
                "unit": float(np.log(base)),
                "named": f"the logarithms **to the base {base}** (natural logarithms divided by $\\ln {base}$)",
            }
            for base in (2, 10, 3, 4, 5, 8, 16, 20)
        ),
    ),
    parts={"core": 0.7, "large": 0.15, "gradient": 0.15},
)
