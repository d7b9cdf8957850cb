"""The task on the loss of a batch: smoothed, and over its words alone."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described

SMOOTHING = 0.1


def _loss_cases(rng: Rng) -> list[Case]:
    def ask(
        b: int, t: int, v: int, pad: int, real: tuple[int, ...], eps: float, dtype: str = "float32"
    ) -> tuple[Any, ...]:
        labels = rng.integers(0, v, (b, t))
        labels[labels == pad] = (pad + 1) % v
        labels[np.arange(t) >= np.array(real)[:, None]] = pad
        return normal(rng, b, t, v, dtype=dtype, scale=2.0), labels, pad, eps

    return [
        Case("B = 3, T = 5, V = 7, sentences of 5, 2 and 3 words", ask(3, 5, 7, 0, (5, 2, 3), 0.1)),
        Case("B = 2, T = 4, V = 6, the pad is 5", ask(2, 4, 6, 5, (1, 4), 0.3)),
        Case("B = T = V = 4, nothing to fill up", ask(4, 4, 4, 0, (4, 4, 4, 4), 0.2)),
        Case("no smoothing", ask(2, 3, 9, 0, (3, 1), 0.0)),
        Case(
            "the gradient",
            ask(2, 3, 5, 0, (3, 2), 0.1, "float64"),
            gradients=(0,),
            upstream=np.asarray(1.3),
            part="gradient",
            tolerance=1e-6,  # a distribution made of whole numbers times eps is in float32 by itself
        ),
    ]


def smoothed_loss(logits: Any, labels: Any, pad_id: int, eps: float) -> Any:
    """Torch's own."""
    import torch

    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=eps
    )


LOSS = described("90.loss", cases=_loss_cases, oracle=smoothed_loss, parts={"core": 0.8, "gradient": 0.2})
