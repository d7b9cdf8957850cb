"""Functions that the judge lends: sound ones, and what their own questions give reason for."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from softlookup.checking.judge import HOME_SEED, draw
from softlookup.checking.local import stand_in
from softlookup.checking.oracle import wanted
from softlookup.checking.variant import Variant
from softlookup.grading.sandbox.outside.lending import NumberBounds, Own, product

_ROOM = 64
"""How many times larger than in its own questions a size may be that a lent function is given."""


def sound(
    variant: Variant,
    args: Sequence[Any],
    named: Mapping[str, Any],
    upstream: Sequence[np.ndarray] | None = None,
) -> Any:
    """Compute the function of a task, or its gradients, for a student whose own is not sound.

    Args:
        variant: The task, as the student was asked for it.
        args: Arrays and numbers.
        named: The same, by name.
        upstream: The gradients of a loss with respect to each result; None computes the results.

    Returns:
        The result, or a list with the gradient of each argument, None for what is no array of floats.
    """
    function = stand_in(variant)
    import torch

    if upstream is None:
        result = function(*args, **named)
        many = result if isinstance(result, tuple) else (result,)
        # Of numbers alone a function in torch gives tensors.
        plain = tuple(one.detach().numpy() if isinstance(one, torch.Tensor) else one for one in many)
        return plain if isinstance(result, tuple) else plain[0]

    given = [*args, *named.values()]
    tensors = [
        torch.from_numpy(one).requires_grad_(one.dtype.kind == "f") if isinstance(one, np.ndarray) else one
        for one in given
    ]
    result = function(*tensors[: len(args)], **dict(zip(named, tensors[len(args) :], strict=True)))
    results = result if isinstance(result, tuple) else (result,)
    leaves = [one for one in tensors if isinstance(one, torch.Tensor) and one.requires_grad]
    pairs = [(r, torch.from_numpy(g)) for r, g in zip(results, upstream, strict=True) if r.requires_grad]
    found = iter(torch.autograd.grad([r for r, _ in pairs], leaves, [g for _, g in pairs], allow_unused=True))
    grads: list[np.ndarray | None] = []
    for one in tensors:
        if isinstance(one, torch.Tensor) and one.requires_grad:
            grad = next(found)
            grads.append(np.zeros(one.shape, one.detach().numpy().dtype) if grad is None else grad.numpy())
        else:
            grads.append(None)
    return grads


@lru_cache(maxsize=4096)
def owns(variant: Variant) -> Own:
    """What the own questions of a lent function give reason for, with room for other ways to use it.

    A parameter that is declared as a real number is no size. One that is at least 1 in all of its questions counts
    something.

    Args:
        variant: The task, as the student was asked for it.
    """
    real = {one: parameter.annotation is float for one, parameter in variant.parameters.items()}
    given: dict[str, list[float]] = {one: [] for one in real}
    most = 0
    cases = draw(variant, HOME_SEED)
    # What the function imports at its first call is there before a process is forked that has to compute in time.
    wanted(variant, cases[0])
    for case in cases:
        pairs = list(zip(real, case.args, strict=False))
        for one, value in pairs:
            given[one] += [value] if isinstance(value, int | float) and not isinstance(value, bool) else []
        arrays = [value for value in case.args if isinstance(value, np.ndarray)]
        sizes = [value for one, value in pairs if not real[one] and type(value) in (int, float)]
        most = max(most, product(sizes, [value for value in case.args if type(value) not in (int, float)], arrays))
    numbers = {
        one: NumberBounds(
            real[one], bool(found) and min(found) >= 1, _ROOM * math.ceil(max(map(abs, found), default=0))
        )
        for one, found in given.items()
    }
    return Own(numbers, _ROOM**2 * most)
