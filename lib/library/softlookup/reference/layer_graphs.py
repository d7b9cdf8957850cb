"""Layers as graphs of steps: how far a signal travels, how long the longest chain is, how much is computed.

A graph is a boolean matrix: needs[i, j] says that step i needs the result of step j. Steps are numbered so that each
needs earlier ones alone; the first n are the tokens themselves, the last n the layer's outputs.
"""

import numpy as np
from jaxtyping import Bool, Int


def recurrent_graph(n_tokens: int) -> Bool[np.ndarray, "M M"]:
    """Draw a recurrent layer: state t needs token t and state t - 1.

    Args:
        n_tokens: How many tokens it reads.

    Returns:
        The graph of n tokens and n states.

    Raises:
        ValueError: If there is no token.

    >>> recurrent_graph(2).astype(int)
    array([[0, 0, 0, 0],
           [0, 0, 0, 0],
           [1, 0, 0, 0],
           [0, 1, 1, 0]])
    """
    n = _at_least_one(n_tokens)
    needs = np.zeros((2 * n, 2 * n), dtype=bool)
    needs[n:, :n] = np.eye(n, dtype=bool)
    needs[n:, n:] = np.eye(n, k=-1, dtype=bool)
    return needs


def attention_graph(n_tokens: int) -> Bool[np.ndarray, "M M"]:
    """Draw a self-attention layer: each output needs every token, and no other output.

    Args:
        n_tokens: How many tokens it reads.

    Returns:
        The graph of n tokens and n outputs. One step stands for a whole row: score, softmax and mix.

    Raises:
        ValueError: If there is no token.
    """
    n = _at_least_one(n_tokens)
    needs = np.zeros((2 * n, 2 * n), dtype=bool)
    needs[n:, :n] = True
    return needs


def convolution_graph(n_tokens: int, width: int, layers: int) -> Bool[np.ndarray, "M M"]:
    """Draw convolutions on top of each other: each output needs its neighbours in the layer below.

    Args:
        n_tokens: How many tokens the lowest one reads.
        width: How many neighbours an output sees, itself in the middle; an odd number.
        layers: How many there are.

    Returns:
        The graph of n tokens and, for each layer, n outputs.

    Raises:
        ValueError: If a number is below 1, or the width even.
    """
    n = _at_least_one(n_tokens)
    if width < 1 or width % 2 == 0 or layers < 1:
        raise ValueError(f"width is {width} and layers {layers}; wanted an odd width and at least one layer")
    near = np.abs(np.arange(n)[:, None] - np.arange(n)) <= width // 2
    needs = np.zeros(((layers + 1) * n, (layers + 1) * n), dtype=bool)
    for layer in range(1, layers + 1):
        needs[layer * n : (layer + 1) * n, (layer - 1) * n : layer * n] = near
    return needs


def finish_times(needs: Bool[np.ndarray, "M M"]) -> Int[np.ndarray, " M"]:
    """Say when each step can be done at the earliest, if there are as many hands as one likes.

    Args:
        needs: The graph.

    Returns:
        For each step the time at which it is done, with one unit of time for a step: 0 for what needs nothing, and
        else one more than the latest of what it needs. The largest is the graph's depth.

    Raises:
        ValueError: If the matrix is not square, or a step needs itself or a later one.
        TypeError: If it is not boolean.

    >>> finish_times(recurrent_graph(4))
    array([0, 0, 0, 0, 1, 2, 3, 4])
    """
    needs = _checked(needs)
    done = np.zeros(len(needs), dtype=np.int64)
    for step, row in enumerate(needs):
        if row.any():
            done[step] = 1 + done[row].max()
    return done


def path_lengths(needs: Bool[np.ndarray, "M M"], n_tokens: int) -> Int[np.ndarray, "T S"]:
    """Count the steps on the shortest way from each token to each output.

    Args:
        needs: The graph.
        n_tokens: How many of its first steps are tokens, and how many of its last are outputs.

    Returns:
        Row t, column s: the fewest steps that take what token s holds to output t; 0 where no way leads.

    Raises:
        ValueError: If the matrix is not square, a step needs itself or a later one, or there are not so many tokens
            and outputs.
        TypeError: If it is not boolean.

    Source: Hochreiter et al. 2001; Vaswani et al. 2017, table 1 ("maximum path length").

    >>> path_lengths(recurrent_graph(3), 3)
    array([[1, 0, 0],
           [2, 1, 0],
           [3, 2, 1]])
    """
    needs = _checked(needs)
    n = _at_least_one(n_tokens)
    if 2 * n > len(needs):
        raise ValueError(f"{n} tokens and {n} outputs do not fit into a graph of {len(needs)} steps")
    lengths = np.zeros((n, n), dtype=np.int64)
    for token in range(n):
        reached = np.zeros(len(needs), dtype=bool)
        reached[token] = True
        for length in range(1, len(needs)):
            new = needs[:, reached].any(axis=1) & ~reached
            if not new.any():
                break
            lengths[new[-n:], token] = length
            reached |= new
    return lengths


def recurrent_flops(n_tokens: int, width: int, gates: int = 1) -> int:
    """Count the operations of the matrix products in a recurrent layer; a multiply-add is two.

    Args:
        n_tokens: T, how many tokens it reads.
        width: D, of the tokens and of the state.
        gates: How many pairs of matrices a step has: 1 in a plain RNN, 3 in a GRU, 4 in an LSTM.

    Returns:
        4 * gates * T * D**2: two products of a row and a square matrix for each gate and token.

    Raises:
        ValueError: If a number is below 1.

    >>> recurrent_flops(10, 8)
    2560
    """
    _positive(n_tokens=n_tokens, width=width, gates=gates)
    return 4 * gates * n_tokens * width**2


def attention_flops(n_tokens: int, width: int, *, projections: bool = True) -> int:
    """Count the operations of the matrix products in a self-attention layer; a multiply-add is two.

    Args:
        n_tokens: T, all of which look at all.
        width: D, of the tokens; the heads together are as wide.
        projections: Whether queries, keys, values and the output projection are counted, or scores and mixing alone.

    Returns:
        4 * T**2 * D for scores and mixing, and 8 * T * D**2 for four projections.

    Raises:
        ValueError: If a number is below 1.

    >>> attention_flops(10, 8), attention_flops(10, 8, projections=False)
    (8320, 3200)
    """
    _positive(n_tokens=n_tokens, width=width)
    return 4 * n_tokens**2 * width + (8 * n_tokens * width**2 if projections else 0)


def recurrent_depth(n_tokens: int, width: int) -> int:
    """Count the operations that a recurrent layer has to do one after the other, however many hands there are.

    Args:
        n_tokens: T.
        width: D, of the state.

    Returns:
        T times: one round of products, a sum of D numbers two at a time, one addition for the token, one tanh.

    Raises:
        ValueError: If a number is below 1.

    >>> recurrent_depth(10, 8)
    60
    """
    _positive(n_tokens=n_tokens, width=width)
    return n_tokens * (1 + _rounds(width) + 2)


def attention_depth(n_tokens: int, width: int, n_heads: int = 1) -> int:
    """Count the operations that self-attention has to do one after the other, however many hands there are.

    Args:
        n_tokens: T.
        width: D.
        n_heads: N, which share the width.

    Returns:
        Projection, score, division, the row's largest number, its subtraction, exp, the row's sum, the quotient, mixing
        and the output projection. A sum of n numbers takes the binary logarithm of n, rounded up.

    Raises:
        ValueError: If a number is below 1, or the heads do not share the width evenly.

    >>> attention_depth(10, 8)
    29
    """
    _positive(n_tokens=n_tokens, width=width, n_heads=n_heads)
    if width % n_heads:
        raise ValueError(f"{n_heads} heads cannot share a width of {width} evenly")
    product, score, mix = 1 + _rounds(width), 1 + _rounds(width // n_heads), 1 + _rounds(n_tokens)
    return product + score + 1 + (3 + 2 * _rounds(n_tokens)) + mix + product


def _rounds(terms: int) -> int:
    """How many rounds it takes to add up so many numbers, two at a time."""
    return (terms - 1).bit_length()


def _positive(**numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1; got {value}")


def _at_least_one(n_tokens: int) -> int:
    _positive(n_tokens=n_tokens)
    return n_tokens


def _checked(needs: np.ndarray) -> np.ndarray:
    needs = np.asarray(needs)
    if needs.dtype != np.bool_:
        raise TypeError(f"the graph has dtype {needs.dtype}; wanted bool, True where step i needs step j")
    if needs.ndim != 2 or needs.shape[0] != needs.shape[1]:
        raise ValueError(f"the graph has shape {needs.shape}; wanted a square matrix, a row for each step")
    if np.triu(needs).any():
        step, other = (int(i) for i in np.argwhere(np.triu(needs))[0])
        raise ValueError(f"step {step} needs step {other}; wanted steps that need earlier ones alone")
    return needs
