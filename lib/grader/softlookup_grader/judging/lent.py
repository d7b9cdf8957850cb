"""Functions that the judge lends: sound ones, and what their own questions give reason for."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from softlookup_grader.sandbox.lending import NumberBounds, Own, product
from softlookup_judge.checking.local import stand_in
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.judging.questions import HOME_SEED, draw

_ROOM = 64  # how many times larger than in its own questions a size may be that a lent function is given


def sound(
    variant: Variant,
    args: Sequence[Any],
    keywords: Mapping[str, Any],
    upstream: Sequence[np.ndarray] | None = None,
) -> Any:
    """Compute the function of a task, or its gradients, for a student whose own is not sound."""
    function = stand_in(variant)
    import torch

    if upstream is None:
        result = function(*args, **keywords)
        many = result if isinstance(result, tuple) else (result,)
        # Of numbers alone a function in torch gives tensors.
        plain = tuple(value.detach().numpy() if isinstance(value, torch.Tensor) else value for value in many)
        return plain if isinstance(result, tuple) else plain[0]

    inputs = [*args, *keywords.values()]
    tensors = [
        torch.from_numpy(value).requires_grad_(value.dtype.kind == "f") if isinstance(value, np.ndarray) else value
        for value in inputs
    ]
    result = function(*tensors[: len(args)], **dict(zip(keywords, tensors[len(args) :], strict=True)))
    results = result if isinstance(result, tuple) else (result,)
    leaves = [tensor for tensor in tensors if isinstance(tensor, torch.Tensor) and tensor.requires_grad]
    pairs = [(r, torch.from_numpy(g)) for r, g in zip(results, upstream, strict=True) if r.requires_grad]
    gradients = iter(torch.autograd.grad([r for r, _ in pairs], leaves, [g for _, g in pairs], allow_unused=True))
    grads: list[np.ndarray | None] = []
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
            grad = next(gradients)
            grads.append(np.zeros(tensor.shape, tensor.detach().numpy().dtype) if grad is None else grad.numpy())
        else:
            grads.append(None)
    return grads


@lru_cache(maxsize=4096)
def owns(variant: Variant) -> Own:
    """What a lent function's own questions give reason for; a float is no size, what is always at least 1 counts."""
    real = {name: parameter.annotation is float for name, parameter in variant.parameters.items()}
    drawn_numbers: dict[str, list[float]] = {name: [] for name in real}
    most = 0
    cases = draw(variant, HOME_SEED)
    # What the function imports at its first call is there before a process is forked that has to compute in time.
    expected_results(variant, cases[0])
    for case in cases:
        pairs = list(zip(real, case.args, strict=False))
        for name, value in pairs:
            drawn_numbers[name] += [value] if isinstance(value, int | float) and not isinstance(value, bool) else []
        arrays = [value for value in case.args if isinstance(value, np.ndarray)]
        sizes = [value for name, value in pairs if not real[name] and type(value) in (int, float)]
        most = max(most, product(sizes, [value for value in case.args if type(value) not in (int, float)], arrays))
    numbers = {
        name: NumberBounds(
            real[name], bool(values) and min(values) >= 1, _ROOM * math.ceil(max(map(abs, values), default=0))
        )
        for name, values in drawn_numbers.items()
    }
    return Own(numbers, _ROOM**2 * most)
