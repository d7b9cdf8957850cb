"""LayerNorm and RMSNorm: each token's numbers brought to one scale, whatever the other tokens are."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes, check_weights, check_width


def layer_norm(
    x: Float[Tensor, "*batch D"],
    gain: Float[Tensor, " D"],
    shift: Float[Tensor, " D"] | None = None,
    eps: float = 1e-5,
) -> Float[Tensor, "*batch D"]:
    """Give each token mean 0 and variance 1, then a learned gain and shift: the open formula.

    The variance is the biased one (a sum divided by D, not D - 1). It is taken in float32 at least: squares
    of numbers above 256 would overflow in float16.

    (x - mean) / sqrt(variance + eps) * gain + shift, in x's dtype; with eps, a token of D equal numbers gives zeros and
    not NaN. ValueError if x's width or device is not the gain's, TypeError if the dtypes differ.

    Source: Ba, Kiros & Hinton 2016, equation 4.
    """
    check_width(x, gain.shape[0])
    check_weights(x, gain)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    centred = wide - wide.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    y = centred / torch.sqrt(variance + eps) * gain
    return (y if shift is None else y + shift).to(x.dtype)


def rms_norm(x: Float[Tensor, "*batch D"], gain: Float[Tensor, " D"], eps: float = 1e-6) -> Float[Tensor, "*batch D"]:
    """Divide each token by the root of its mean square, then a learned gain: no mean is taken away.

    gain * (x / sqrt(mean(x^2) + eps)): a token of zeros stays zeros. The fraction is worked out in float32 at least and
    is rounded to x's dtype before the gain is applied, as in Llama's published code. ValueError if x's width or device
    is not the gain's, TypeError if the dtypes differ.

    Source: Zhang & Sennrich 2019, equation 4; Touvron et al. 2023 (Llama), section 2.2.
    """
    check_width(x, gain.shape[0])
    check_weights(x, gain)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean_square = wide.square().mean(dim=-1, keepdim=True)
    return gain * (wide * torch.rsqrt(mean_square + eps)).to(x.dtype)


class LayerNorm(nn.Module):
    """LayerNorm with its weights. Runs torch's fused kernel; equals layer_norm.

    Args:
        d_model: D, the width of a token's vector.
        eps: Added to the variance.
        bias: Whether there is a shift beside the gain.

    Raises:
        ValueError: If d_model is below 1 or eps below 0.

    Source: Ba, Kiros & Hinton 2016, equation 4.
    """

    shift: nn.Parameter | None

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()
        _check_norm(d_model, eps)
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(d_model))
        self.register_parameter("shift", nn.Parameter(torch.empty(d_model)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the gain to one and the shift to zero: at first the layer only normalises."""
        nn.init.ones_(self.gain)
        if self.shift is not None:
            nn.init.zeros_(self.shift)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Normalise each token by itself.

        Args:
            x: Token vectors.

        Returns:
            The same shape, in x's dtype; under autocast in float32, as torch's kernel gives it.

        Raises:
            ValueError: If x's width is not D, or x is on another device than the weights.
            TypeError: If x's dtype is not that of the weights.
        """
        check_width(x, self.gain.shape[0])
        check_weights(x, self.gain)
        return F.layer_norm(x, self.gain.shape, self.gain, self.shift, self.eps)

    def extra_repr(self) -> str:
        """Name the sizes when the layer is printed."""
        return f"D={self.gain.shape[0]}, eps={self.eps:g}, bias={self.shift is not None}"


class RMSNorm(nn.Module):
    """RMSNorm with its gain.

    Args:
        d_model: D, the width of a token's vector.
        eps: Added to the mean square.

    Raises:
        ValueError: If d_model is below 1 or eps below 0.

    Source: Zhang & Sennrich 2019, equation 4; Touvron et al. 2023 (Llama), section 2.2.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6) -> None:
        super().__init__()
        _check_norm(d_model, eps)
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the gain to one."""
        nn.init.ones_(self.gain)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Scale each token by itself.

        Args:
            x: Token vectors.

        Returns:
            The same shape, in x's dtype; under autocast in that of the gain.

        Raises:
            ValueError: If x's width is not D, or x is on another device than the gain.
            TypeError: If x's dtype is not that of the gain.
        """
        return rms_norm(x, self.gain, self.eps)

    def extra_repr(self) -> str:
        """Name the sizes when the layer is printed."""
        return f"D={self.gain.shape[0]}, eps={self.eps:g}"


def _check_norm(d_model: int, eps: float) -> None:
    check_sizes(d_model=d_model)
    if not eps >= 0:  # so that NaN is refused too
        raise ValueError(f"eps must be at least 0; got {eps}")
