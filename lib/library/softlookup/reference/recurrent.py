"""A recurrent layer: one step after another, each from the state before it."""

import numpy as np
from jaxtyping import Float64, Real

from softlookup.reference._sizes import to_float64


def recurrent_states(
    x: Real[np.ndarray, "T D"],
    w_x: Real[np.ndarray, "D M"],
    w_h: Real[np.ndarray, "M M"],
    b: Real[np.ndarray, " M"] | None = None,
    *,
    start: Real[np.ndarray, " M"] | None = None,
) -> Float64[np.ndarray, "T M"]:
    """Read tokens one by one, and keep what was read in a state of M numbers.

    Args:
        x: Token vectors.
        w_x: From a token to a state.
        w_h: From the state before to the next.
        b: Bias, or None.
        start: The state before the first token; None means zeros.

    Returns:
        The state after each token: h_t = tanh(x_t w_x + h_(t-1) w_h + b).

    Raises:
        ValueError: If sizes do not fit; the message names them.

    Cost: 2*T*M*(D + M) operations, in T steps that cannot be exchanged.
    Source: Elman 1990.

    >>> recurrent_states(np.zeros((2, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones(1)).round(3)
    array([[0.762],
           [0.943]])
    """
    x_TD, w_x, w_h = to_float64(x), to_float64(w_x), to_float64(w_h)
    if x_TD.ndim != 2 or w_x.ndim != 2 or w_x.shape[0] != x_TD.shape[1]:
        raise ValueError(f"x has shape {x_TD.shape} and w_x {w_x.shape}; wanted (T, D) and (D, M)")
    width = w_x.shape[1]
    if w_h.shape != (width, width):
        raise ValueError(f"w_h has shape {w_h.shape}; wanted {(width, width)}, from a state to a state")
    bias = np.zeros(width) if b is None else to_float64(b)
    state = np.zeros(width) if start is None else to_float64(start)
    for name, vector in (("b", bias), ("start", state)):
        if vector.shape != (width,):
            raise ValueError(f"{name} has shape {vector.shape}; wanted {(width,)}")
    states = []
    for x_D in x_TD:
        state = np.tanh(x_D @ w_x + state @ w_h + bias)
        states.append(state)
    return np.array(states).reshape(len(x_TD), width)
