"""The task on what an encoder gets of a picture: projected patches, a class token in front, positions."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _args(rng: Rng, b: int, t: int, m: int, d: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    shapes = ((b, t, m), (m, d), (d,), (d,), (t + 1, d))
    return tuple(normal(rng, *shape, dtype=dtype) for shape in shapes)


def _cases(rng: Rng) -> list[Case]:
    upstream = normal(rng, 2, 4, 5, dtype="float64")
    return [
        Case("B = 2, T = 6, M = 12, D = 5", _args(rng, 2, 6, 12, 5)),
        Case("the digits' sizes: T = 16, M = 4, D = 8", _args(rng, 3, 16, 4, 8)),
        Case("B = 4, T = 3, M = D = 6", _args(rng, 4, 3, 6, 6)),
        Case("B = T + 1 = 4, D = 4", _args(rng, 4, 3, 2, 4)),
        Case("one patch", _args(rng, 2, 1, 3, 4)),
        Case("one picture of one patch, M = 1", _args(rng, 1, 1, 1, 3)),
        Case("one picture, D = 1", _args(rng, 1, 3, 2, 1)),
        Case(
            "gradients of all five",
            _args(rng, 2, 3, 4, 5, "float64"),
            gradients=(0, 1, 2, 3, 4),
            upstream=upstream,
            part="gradient",
        ),
    ]


def _tokens(patches: Any, w: Any, b: Any, class_token: Any, positions: Any) -> Any:
    """Into a table of the right size: linear first, then one row in front."""
    import torch

    made = torch.nn.functional.linear(patches, w.T, b)
    first = torch.stack([class_token] * len(patches))[:, None]
    return torch.stack([torch.vstack([f, rows]).add(positions) for f, rows in zip(first, made, strict=True)])


TOKENS = described("13.tokens", cases=_cases, oracle=_tokens, parts={"core": 0.85, "gradient": 0.15}, cuts=False)
