"""LayerNorm and RMSNorm: each token's numbers brought to one scale, whatever the other tokens are."""

import numpy as np
from jaxtyping import Float64, Real

from softlookup.reference._sizes import to_float64


def layer_norm(
    x: Real[np.ndarray, "*batch D"],
    gain: Real[np.ndarray, " D"],
    shift: Real[np.ndarray, " D"] | None = None,
    eps: float = 1e-5,
) -> Float64[np.ndarray, "*batch D"]:
    """Give each token mean 0 and variance 1, then a learned gain and shift.

    The variance is the biased one: a sum divided by D, not by D - 1.

    Args:
        x: Token vectors.
        gain: What each of the D numbers is multiplied by afterwards.
        shift: What is added then, or None.
        eps: Added to the variance, so that a token of D equal numbers gives zeros and not NaN.

    Returns:
        (x - mean) / sqrt(variance + eps) * gain + shift.

    Raises:
        ValueError: If x's width is not the length of the gain, or of the shift.

    Source: Ba, Kiros & Hinton 2016, equation 4.

    >>> layer_norm(np.array([1.0, 3.0]), np.ones(2), eps=0.0)
    array([-1.,  1.])
    """
    x_TD = to_float64(x)
    gain_D = _row("gain", gain, x_TD)
    mean = x_TD.mean(axis=-1, keepdims=True)
    variance = ((x_TD - mean) ** 2).mean(axis=-1, keepdims=True)
    y_TD = (x_TD - mean) / np.sqrt(variance + eps) * gain_D
    return y_TD if shift is None else y_TD + _row("shift", shift, x_TD)


def rms_norm(
    x: Real[np.ndarray, "*batch D"], gain: Real[np.ndarray, " D"], eps: float = 1e-6
) -> Float64[np.ndarray, "*batch D"]:
    """Divide each token by the root of its mean square, then a learned gain: no mean is taken away.

    Args:
        x: Token vectors.
        gain: What each of the D numbers is multiplied by afterwards.
        eps: Added to the mean square, so that a token of zeros stays zeros.

    Returns:
        x / sqrt(mean(x^2) + eps) * gain.

    Raises:
        ValueError: If x's width is not the length of the gain.

    Source: Zhang & Sennrich 2019, equation 4.

    >>> rms_norm(np.array([1.0, 7.0]), np.ones(2), eps=0.0)
    array([0.2, 1.4])
    """
    x_TD = to_float64(x)
    mean_square = (x_TD**2).mean(axis=-1, keepdims=True)
    return x_TD / np.sqrt(mean_square + eps) * _row("gain", gain, x_TD)


def _row(name: str, row: np.ndarray, x: np.ndarray) -> np.ndarray:
    row_D = to_float64(row)
    if row_D.ndim != 1 or x.shape[-1:] != row_D.shape:
        raise ValueError(f"{name} has shape {row_D.shape}, x has {x.shape}: {name} needs one number for each of x's D")
    return row_D
