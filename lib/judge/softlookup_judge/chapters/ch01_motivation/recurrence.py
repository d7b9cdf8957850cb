"""Tasks on recurrent layers of M numbers in a state: what they compute and cost, and how deep a graph of steps is."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, backward, graded
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import dotted
from softlookup_judge.chapters.oracles import torch

LAYERS = (
    *dotted("torch.nn", "RNN RNNCell"),
    *dotted("torch", "rnn_tanh rnn_tanh_cell"),
    *dotted("softlookup", "reference model"),
)
"""What must not be called where a recurrent layer is to be written."""


def _recurrent_args(rng: Rng, tokens: int, width: int, state: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    shapes = ((tokens, width), (width, state), (state, state), (state,))
    return tuple(normal(rng, *shape, dtype=dtype, scale=0.6) for shape in shapes)


def _recurrent_cases(rng: Rng) -> list[Case]:
    slopes = _recurrent_args(rng, 4, 3, 2)
    upstream = normal(rng, 4, 2)
    return [
        Case("five tokens, D = 3, M = 4", _recurrent_args(rng, 5, 3, 4)),
        Case("four tokens, D = M = 4", _recurrent_args(rng, 4, 4, 4)),
        Case("six tokens, D = 5, M = 2", _recurrent_args(rng, 6, 5, 2)),
        Case("one token alone", _recurrent_args(rng, 1, 2, 3)),
        Case("a text of many tokens", _recurrent_args(rng, int(rng.integers(14, 19)), 2, 3)),
        Case("gradients of x, w_x, w_h and b", slopes, **backward(upstream, 0, 1, 2, 3)),
        Case("float64 inputs", _recurrent_args(rng, 4, 3, 2, "float64"), **DTYPE),
    ]


def _looks_past_one_state(case: Case, arrays: tuple[np.ndarray, ...]) -> str | None:
    """A property of the gradients: they go back through all states, not through one step alone."""
    if not case.gradients:
        return None
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


@graded(
    "01.recurrent",
    _recurrent_cases,
    parts={"core": 0.7, "gradient": 0.2, "dtype": 0.1},
    forbids=LAYERS,
    properties=(_looks_past_one_state,),
)
def _recurrent(x: Any, w_x: Any, w_h: Any, b: Any) -> Any:
    """Torch's own kernel, which keeps its matrices transposed and has two biases."""
    start = x.new_zeros(1, 1, w_h.shape[0])
    weights = (w_x.mT, w_h.mT, b, torch.zeros_like(b))
    return torch.rnn_tanh(x[:, None], start, weights, True, 1, 0.0, False, False, False)[0][:, 0]


def _operations_cases(rng: Rng, gates: int, layer: str) -> list[Case]:
    # Even widths: what half a pair of matrices is worth is a whole number then, and can be named.
    sizes = [(5, 4), (3, 8), (1, 6), (512, 64), (64, 512)]
    sizes.append((int(rng.integers(20, 90)), 2 * int(rng.integers(50, 150))))
    return [Case(f"T = {tokens}, D = {width}", (tokens, width)) for tokens, width in sizes]


def _cost(products: list[tuple[int, int, int]]) -> int:
    """Operations of matrix products (rows, summed over, columns)."""
    return sum(2 * rows * inner * columns for rows, inner, columns in products)


@graded(
    "01.operations",
    _operations_cases,
    frame="plain",
    variants=(
        {"gates": 4, "layer": "an LSTM has 4"},
        {"gates": 9, "layer": "three GRUs, one on top of the other, have 9"},
        {"gates": 6, "layer": "two GRUs, one for each direction, have 6"},
        {"gates": 3, "layer": "a GRU has 3"},
        {"gates": 24, "layer": "six LSTMs, one on top of the other, have 24"},
        {"gates": 12, "layer": "three LSTMs, one on top of the other, have 12"},
        {"gates": 15, "layer": "five GRUs, one on top of the other, have 15"},
        {"gates": 16, "layer": "four LSTMs, one on top of the other, have 16"},
        {"gates": 20, "layer": "five LSTMs, one on top of the other, have 20"},
    ),
    forbids=("softlookup.reference",),
)
def _operations(n_tokens: int, width: int, gates: int, layer: str) -> tuple[int, int, int]:
    def recurrent(tokens: int) -> int:
        return tokens * _cost([(1, width, width), (1, width, width)] * gates)

    def attention(tokens: int) -> int:
        return _cost([(tokens, width, width)] * 4 + [(tokens, width, tokens), (tokens, tokens, width)])

    # What one token costs is a straight line in the number of tokens for both: two points give it.
    lead_1 = recurrent(1) - attention(1)
    lead_2 = recurrent(2) / 2 - attention(2) / 2
    equal_at = 1 + lead_1 / (lead_1 - lead_2)
    return recurrent(n_tokens), attention(n_tokens), round(equal_at)


def _chain(n: int) -> np.ndarray:
    """A recurrent layer: n tokens, then n states."""
    needs = np.zeros((2 * n, 2 * n), dtype=bool)
    needs[n:, :n] = np.eye(n)
    needs[n:, n:] = np.eye(n, k=-1)
    return needs


def _all_at_once(n: int) -> np.ndarray:
    """An attention layer: n tokens, then n outputs."""
    needs = np.zeros((2 * n, 2 * n), dtype=bool)
    needs[n:, :n] = True
    return needs


def _tree(n: int) -> np.ndarray:
    """A sum of n numbers, two at a time: n - 1 steps after the numbers."""
    needs = np.zeros((2 * n - 1, 2 * n - 1), dtype=bool)
    for i in range(n - 1):
        needs[n + i, [2 * i, 2 * i + 1]] = True
    return needs


def _random(rng: Rng, n: int) -> np.ndarray:
    needs = np.tril(rng.random((n, n)) < 0.35, k=-1)
    needs[n // 2] = False  # one in the middle that needs nothing
    needs[-1, [0, n - 2]] = True, False  # and one whose last need is not its latest
    return needs


def _depth_cases(rng: Rng) -> list[Case]:
    # A chain of four beside a step that is ready at once: what step 5 needs last is done long before its first need.
    long_then_short = np.zeros((6, 6), dtype=bool)
    long_then_short[[1, 2, 3], [0, 1, 2]] = True
    long_then_short[5, [3, 4]] = True
    graphs = (
        ("a recurrent layer of four tokens", _chain(4)),
        ("an attention layer of four tokens", _all_at_once(4)),
        ("a sum of eight numbers, two at a time", _tree(8)),
        ("a long chain and a short one", long_then_short),
        ("nine steps drawn at random", _random(rng, 9)),
        ("twelve steps drawn at random", _random(rng, 12)),
        ("three steps that need nothing", np.zeros((3, 3), dtype=bool)),
        ("a long chain, each step after the one before", np.eye(int(rng.integers(25, 33)), k=-1, dtype=bool)),
    )
    return [Case(label, (needs,)) for label, needs in graphs]


@graded("01.depth", _depth_cases, frame="numpy", forbids=("softlookup.reference",))
def _depth(needs: np.ndarray) -> np.ndarray:
    """The longest chain that ends at each step: the last power of the matrix in which its row is not empty."""
    power, longest = np.eye(len(needs), dtype=np.int64), np.zeros(len(needs), dtype=np.int64)
    for length in range(1, len(needs) + 1):
        power = np.minimum(power @ needs.astype(np.int64), 1)
        longest[power.any(axis=1)] = length
    return longest
