"""The task that reads word by word: a recurrent layer. Letters of its own: M numbers in a state."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described

LAYERS = (
    "torch.nn.RNN",
    "torch.nn.RNNCell",
    "torch.rnn_tanh",
    "torch.rnn_tanh_cell",
    "softlookup.reference",
    "softlookup.model",
)
"""What must not be called where a recurrent layer is to be written."""


def _args(rng: Rng, tokens: int, width: int, state: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    shapes = ((tokens, width), (width, state), (state, state), (state,))
    return tuple(normal(rng, *shape, dtype=dtype, scale=0.6) for shape in shapes)


def _cases(rng: Rng) -> list[Case]:
    slopes = _args(rng, 4, 3, 2)
    upstream = normal(rng, 4, 2)
    return [
        Case("five tokens, D = 3, M = 4", _args(rng, 5, 3, 4)),
        Case("four tokens, D = M = 4", _args(rng, 4, 4, 4)),
        Case("six tokens, D = 5, M = 2", _args(rng, 6, 5, 2)),
        Case("one token alone", _args(rng, 1, 2, 3)),
        Case("a text of many tokens", _args(rng, int(rng.integers(14, 19)), 2, 3)),
        Case("gradients of x, w_x, w_h and b", slopes, gradients=(0, 1, 2, 3), upstream=upstream, part="gradient"),
        Case("float64 inputs", _args(rng, 4, 3, 2, "float64"), part="dtype", keeps_dtype=True),
    ]


def _recurrent(x: Any, w_x: Any, w_h: Any, b: Any) -> Any:
    """Torch's own kernel, which keeps its matrices transposed and has two biases."""
    import torch

    start = x.new_zeros(1, 1, w_h.shape[0])
    weights = (w_x.mT, w_h.mT, b, torch.zeros_like(b))
    return torch.rnn_tanh(x[:, None], start, weights, True, 1, 0.0, False, False, False)[0][:, 0]


def _looks_past_one_state(case: Case, arrays: tuple[np.ndarray, ...]) -> str | None:
    """A property of the gradients: they go back through all states, not through one step alone."""
    if not case.gradients:
        return None
    import torch

    x, w_x, w_h, b = leaves = [torch.from_numpy(a.astype(np.float64)).requires_grad_(True) for a in case.args]
    state, states = x.new_zeros(len(b)), []
    for x_t in x:
        state = torch.tanh(x_t @ w_x + state.detach() @ w_h + b)
        states.append(state)
    cut = torch.autograd.grad(torch.stack(states), leaves, torch.from_numpy(np.asarray(case.upstream, np.float64)))
    if not all(
        got.shape == gradient.shape and np.allclose(got, gradient.numpy(), atol=1e-5)
        for got, gradient in zip(arrays, cut, strict=True)
    ):
        return None
    return (
        "These are the gradients of layers that know one step only: the state is cut from the graph between two steps "
        "(`.detach()`, `.data` or a new tensor made of its numbers), and nothing flows back through it."
    )


RECURRENT = described(
    "01.recurrent",
    cases=_cases,
    oracle=_recurrent,
    parts={"core": 0.7, "gradient": 0.2, "dtype": 0.1},
    forbids=LAYERS,
    properties=(_looks_past_one_state,),
)
