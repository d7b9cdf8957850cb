"""The feed-forward network: what each token does by itself between two rounds of looking at others."""

import math

import numpy as np
from jaxtyping import Float64, Real

from softlookup.reference._sizes import to_float64
from softlookup.reference.heads import project

_erf = np.vectorize(math.erf, otypes=[np.float64])


def relu(x: Real[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Let positive numbers pass, and put zero for the others.

    Args:
        x: Numbers of any shape.

    Returns:
        max(x, 0).

    >>> relu(np.array([-2.0, 3.0]))
    array([0., 3.])
    """
    return np.maximum(to_float64(x), 0.0)


def gelu(x: Real[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Multiply each number by the chance that a standard normal draw is smaller: a ReLU with a soft bend.

    Args:
        x: Numbers of any shape.

    Returns:
        x * Phi(x), with Phi(x) = (1 + erf(x / sqrt(2))) / 2.

    Source: Hendrycks & Gimpel 2016, section 2.
    """
    x = to_float64(x)
    return x * (1 + _erf(x / math.sqrt(2))) / 2


def gelu_tanh(x: Real[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Stand in for gelu by a tanh, as GPT-2 does: never more than 0.0005 away.

    Args:
        x: Numbers of any shape.

    Returns:
        x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2.

    Source: Hendrycks & Gimpel 2016, section 2.
    """
    x = to_float64(x)
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def silu(x: Real[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Multiply each number by its own sigmoid.

    Args:
        x: Numbers of any shape.

    Returns:
        x / (1 + exp(-x)), written with tanh, since exp overflows for large -x.

    Source: Elfwing et al. 2017, equation 6; Ramachandran et al. 2017 (as Swish).
    """
    x = to_float64(x)
    return x * (1 + np.tanh(x / 2)) / 2


_ACTIVATIONS = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
    "swiglu": silu,
    "geglu_tanh": gelu_tanh,
}


def feed_forward(
    x: Real[np.ndarray, "*batch T D"],
    w_1: Real[np.ndarray, "D F"],
    w_2: Real[np.ndarray, "F D"],
    b_1: Real[np.ndarray, " F"] | None = None,
    b_2: Real[np.ndarray, " D"] | None = None,
    *,
    w_gate: Real[np.ndarray, "D F"] | None = None,
    b_gate: Real[np.ndarray, " F"] | None = None,
    activation: str = "relu",
) -> Float64[np.ndarray, "*batch T D"]:
    """Widen each token, bend it, and narrow it again.

    Args:
        x: Token vectors.
        w_1: Widens.
        w_2: Narrows.
        b_1: Bias before the bend, or None.
        b_2: Bias at the end, or None.
        w_gate: Makes the gate, for the gated kinds alone.
        b_gate: Bias of the gate, or None.
        activation: relu, gelu, gelu_tanh, silu; gated: swiglu, geglu_tanh.

    Returns:
        act(x w_1 + b_1) w_2 + b_2; gated, (act(x w_gate + b_gate) * (x w_1 + b_1)) w_2 + b_2.

    Raises:
        ValueError: If sizes do not fit, the activation is unknown, or w_gate is missing or not wanted.

    Source: Vaswani et al. 2017, equation 2; Shazeer 2020, equation 6 (the gated forms).

    >>> feed_forward(np.array([[2.0]]), np.array([[1.0, -1.0]]), np.array([[10.0], [100.0]]))
    array([[20.]])
    """
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}; wanted one of {', '.join(_ACTIVATIONS)}")
    act = _ACTIVATIONS[activation]
    gated = activation in ("swiglu", "geglu_tanh")
    if gated != (w_gate is not None) or (b_gate is not None and not gated):
        raise ValueError(f"{activation} {'needs a w_gate' if gated else 'has no gate, but w_gate or b_gate is given'}")
    hidden_TF = project(x, w_1, b_1)
    hidden_TF = act(hidden_TF) if w_gate is None else act(project(x, w_gate, b_gate)) * hidden_TF
    return project(hidden_TF, w_2, b_2)
