"""Graphs of layers: depth and ways against another method, operations against what torch counts."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from softlookup.reference.layer_graphs import (
    attention_depth,
    attention_flops,
    attention_graph,
    convolution_graph,
    finish_times,
    path_lengths,
    recurrent_depth,
    recurrent_flops,
    recurrent_graph,
)
from tests.refusing import refused


def drawn(seed, steps):
    rng = np.random.default_rng(seed)
    return np.tril(rng.random((steps, steps)) < rng.uniform(0.05, 0.6), k=-1)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_finish_times_are_the_longest_chains_by_powers_of_the_matrix(seed, steps):
    needs = drawn(seed, steps)
    chains = np.zeros(steps, dtype=int)
    power = np.eye(steps, dtype=int)
    for length in range(1, steps + 1):
        power = np.minimum(power @ needs.astype(int), 1)
        chains[power.any(axis=1)] = length
    assert finish_times(needs).tolist() == chains.tolist()


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_path_lengths_are_the_first_power_that_connects(seed, n):
    needs = drawn(seed, 2 * n + 3)
    expected = np.zeros((n, n), dtype=int)
    power = np.eye(len(needs), dtype=int)
    for length in range(1, len(needs)):
        power = np.minimum(needs.astype(int) @ power, 1)
        now = power[-n:, :n].astype(bool)
        expected[now & (expected == 0)] = length
    assert path_lengths(needs, n).tolist() == expected.tolist()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_recurrence_is_as_deep_as_it_is_long_and_attention_is_not(n):
    assert finish_times(recurrent_graph(n)).max() == n
    assert finish_times(attention_graph(n)).max() == 1
    assert path_lengths(recurrent_graph(n), n)[-1, 0] == n
    assert np.array_equal(path_lengths(attention_graph(n), n), np.ones((n, n)))


def test_convolutions_reach_as_far_as_their_layers_let_them():
    lengths = path_lengths(convolution_graph(9, 3, 4), 9)
    reach = np.abs(np.arange(9)[:, None] - np.arange(9)) <= 4
    assert np.array_equal(lengths, np.where(reach, 4, 0))


@pytest.mark.parametrize(("n", "width"), [(5, 3), (4, 8)])
def test_operations_are_those_that_torch_counts(n, width):
    x, w = torch.ones(n, width), torch.ones(width, width)
    with FlopCounterMode(display=False) as counted:
        for t in range(n):
            x[t : t + 1] @ w + x[t : t + 1] @ w
    assert counted.get_total_flops() == recurrent_flops(n, width)
    assert recurrent_flops(n, width, 4) == 4 * recurrent_flops(n, width)
    with FlopCounterMode(display=False) as counted:
        q, k, v = x @ w, x @ w, x @ w
        ((q @ k.T).softmax(-1) @ v) @ w
    assert counted.get_total_flops() == attention_flops(n, width)
    assert attention_flops(n, width) - attention_flops(n, width, projections=False) == 4 * 2 * n * width**2


def sum_graph(needs, terms):
    """Add numbers two at a time, as new steps; give the step that holds the sum."""
    while len(terms) > 1:
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [pair[0] if len(pair) == 1 else needs.append(list(pair)) or len(needs) - 1 for pair in pairs]
    return terms[0]


def depth_of(needs):
    table = np.zeros((len(needs), len(needs)), dtype=bool)
    for step, before in enumerate(needs):
        table[step, before] = True
    return finish_times(table).max()


@pytest.mark.parametrize(("n", "width"), [(1, 1), (3, 2), (5, 3), (4, 8)])
def test_recurrent_depth_is_that_of_the_graph_of_single_operations(n, width):
    needs = [[] for _ in range(width)]  # the state before the first token
    state = list(range(width))
    for _ in range(n):
        new = []
        for _ in range(width):
            products = [needs.append([number]) or len(needs) - 1 for number in state]
            needs.append([sum_graph(needs, products)])  # the token's part, made beforehand, is added
            needs.append([len(needs) - 1])  # tanh
            new.append(len(needs) - 1)
        state = new
    assert depth_of(needs) == recurrent_depth(n, width)


@pytest.mark.parametrize(("n", "width", "heads"), [(1, 1, 1), (5, 4, 1), (3, 6, 2)])
def test_attention_depth_is_that_of_the_graph_of_single_operations(n, width, heads):
    needs = [[]]
    chain = lambda step: needs.append([step]) or len(needs) - 1  # noqa: E731

    def product(step, terms):  # a dot product of numbers that are all there when this one is
        return sum_graph(needs, [chain(step) for _ in range(terms)])

    score = chain(product(product(0, width), width // heads))
    scores = [score] * n
    top = sum_graph(needs, scores) if n > 1 else score
    power = chain(chain(top))
    total = sum_graph(needs, [power] * n)
    weight = chain(total)
    product(product(weight, n), width)
    assert depth_of(needs) == attention_depth(n, width, heads)


test_graphs_and_counts_refuse_what_they_cannot_be = refused(
    (lambda: finish_times(np.ones((2, 3), dtype=bool)), r"shape \(2, 3\); wanted a square matrix"),
    (lambda: finish_times(np.eye(2, dtype=bool)), "step 0 needs step 0; wanted steps that need earlier ones"),
    (lambda: path_lengths(attention_graph(2), 3), "3 tokens and 3 outputs do not fit into a graph of 4 steps"),
    (lambda: recurrent_graph(0), "n_tokens must be at least 1; got 0"),
    (lambda: convolution_graph(4, 2, 1), "width is 2 and layers 1; wanted an odd width"),
    (lambda: recurrent_flops(3, 4, 0), "gates must be at least 1; got 0"),
    (lambda: attention_depth(3, 4, 3), "3 heads cannot share a width of 4 evenly"),
    (lambda: recurrent_depth(3, 0), "width must be at least 1; got 0"),
    (lambda: attention_flops(3, 0), "width must be at least 1; got 0"),
)


def test_graphs_of_numbers_are_refused(unchecked):
    with pytest.raises(TypeError, match="the graph has dtype float64; wanted bool"):
        finish_times(np.zeros((2, 2)))
