"""The feed-forward network: what each token does by itself between two rounds of looking at others."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes, check_weights, check_width
from softlookup.model.parts.initialise import xavier_

Activation = Literal["relu", "relu2", "gelu", "gelu_tanh", "silu", "swiglu", "geglu_tanh"]

_gelu_tanh = partial(F.gelu, approximate="tanh")
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "relu2": lambda x: F.relu(x).square(),
    "gelu": F.gelu,
    "gelu_tanh": _gelu_tanh,
    "silu": F.silu,
    "swiglu": F.silu,
    "geglu_tanh": _gelu_tanh,
}
_GATED = ("swiglu", "geglu_tanh")


class FeedForward(nn.Module):
    """Widen each token, bend it, and narrow it again.

    Plain: act(x w_1 + b_1) w_2 + b_2. Gated: (act(x w_gate + b_gate) * (x w_1 + b_1)) w_2 + b_2. The weights stand
    as in the book, y = x @ w + b: w_1 and w_gate (D, F), w_2 (F, D). Without biases they hold 2*D*F numbers, or
    3*D*F gated; to have as many as a plain one, a gated network takes two thirds of its hidden width.

    Args:
        d_model: D, the width of a token's vector.
        d_hidden: F, the hidden width; 4*D in most papers.
        activation: relu; relu2 (its square, Nemotron); gelu (by the error function, BERT); gelu_tanh (its tanh form,
            GPT-2); silu; gated: swiglu (Llama) and geglu_tanh (T5 version 1.1).
        bias: Whether each matrix adds a bias (b_1, b_2, and b_gate where gated).
        dropout: Share of the hidden numbers dropped while training. Not in the paper, which drops only what a
            sublayer hands back (section 5.4); many programs do it all the same.

    Raises:
        ValueError: If a size is below 1, the activation is unknown, or dropout is outside [0, 1).

    Source: Vaswani et al. 2017, equation 2; Hendrycks & Gimpel 2016 (GELU); Shazeer 2020 (the gated forms).
    """

    b_1: nn.Parameter | None
    b_2: nn.Parameter | None
    w_gate: nn.Parameter | None
    b_gate: nn.Parameter | None

    def __init__(
        self,
        d_model: int,
        d_hidden: int,
        *,
        activation: Activation = "relu",
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model, d_hidden=d_hidden)
        if activation not in _ACTIVATIONS:
            raise ValueError(f"activation is {activation!r}; wanted one of {', '.join(_ACTIVATIONS)}")
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1; got {dropout}")
        self.activation = activation
        self.dropout = dropout
        gated = activation in _GATED
        self.w_1 = nn.Parameter(torch.empty(d_model, d_hidden))
        self.w_2 = nn.Parameter(torch.empty(d_hidden, d_model))
        self.register_parameter("w_gate", nn.Parameter(torch.empty(d_model, d_hidden)) if gated else None)
        self.register_parameter("b_1", nn.Parameter(torch.empty(d_hidden)) if bias else None)
        self.register_parameter("b_2", nn.Parameter(torch.empty(d_model)) if bias else None)
        self.register_parameter("b_gate", nn.Parameter(torch.empty(d_hidden)) if gated and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the matrices anew (Xavier, uniform) and set the biases to zero.

        For deep stacks of ReLU, initialise.he_ keeps the variance better; between norms it hardly matters.
        """
        for name, parameter in self.named_parameters():
            if name.startswith("w_"):
                xavier_(parameter)
            else:
                nn.init.zeros_(parameter)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Transform each token by itself.

        Args:
            x: Token vectors.

        Returns:
            The same shape.

        Raises:
            ValueError: If x's width is not D, or x is on another device than the weights.
            TypeError: If x's dtype is not that of the weights.

        Cost: 4*D*F operations for each token, 6*D*F gated; F hidden numbers a token kept for the backward pass.
        """
        check_width(x, self.w_1.shape[0])
        check_weights(x, self.w_1)
        act = _ACTIVATIONS[self.activation]
        hidden = _project(x, self.w_1, self.b_1)
        hidden = act(hidden) if self.w_gate is None else act(_project(x, self.w_gate, self.b_gate)) * hidden
        hidden = F.dropout(hidden, self.dropout, self.training)
        return _project(hidden, self.w_2, self.b_2)

    def extra_repr(self) -> str:
        """Name the sizes when the layer is printed."""
        d_model, d_hidden = self.w_1.shape
        return f"D={d_model}, F={d_hidden}, activation={self.activation}, bias={self.b_1 is not None}"


def _project(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
    # x @ w + b in one step. torch's linear takes the transpose, which is a view; under autocast it keeps the sum
    # in the product's dtype, where a bias added afterwards would bring it back to float32.
    return F.linear(x, w.mT, b)
