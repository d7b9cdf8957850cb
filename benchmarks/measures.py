"""What the training bench counts and measures: operations of a step, and what this machine does at best."""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from softlookup.model.parts.config import Config
from softlookup.training.data import Batch


def step_flops(batch: Batch, config: Config, *, padded_labels: bool) -> float:
    """Count the operations of the matrix products in a training step of an encoder-decoder; a multiply-add is two.

    It has as many key-value heads as query heads. Forward and backward are three times the forward products, with the
    full square of scores; logits are made at every position if there are ``padded_labels``, else for real labels alone.
    A batch without sources is a ValueError.
    """
    if batch.source_ids is None:
        raise ValueError("the batch has no source_ids: an encoder-decoder is counted")
    rows, s = batch.source_ids.shape
    t = batch.target_ids.shape[1] - 1
    d, f = config.d_model, config.d_hidden
    n_source, n_target = rows * s, rows * t
    encoder_layer = n_source * (8 * d * d + 4 * d * f) + 4 * rows * s * s * d
    self_and_hidden = n_target * (8 * d * d + 4 * d * f) + 4 * rows * t * t * d
    cross = 4 * d * d * (n_target + n_source) + 4 * rows * t * s * d
    n_labels = n_target if padded_labels else batch.tokens
    decoder_layers = config.n_decoder_layers or config.n_layers
    forward = config.n_layers * encoder_layer + decoder_layers * (self_and_hidden + cross)
    return 3.0 * (forward + 2 * n_labels * d * config.vocab_size)


def product_rate(dtype: torch.dtype, device: torch.device | str, sizes: Sequence[int], seconds: float) -> float:
    """Measure how many operations a second this machine does in square matrix products: the best that it shows.

    ``sizes`` are the sides, each tried for so many seconds; a multiply-add is two operations.
    """
    best = 0.0
    for size in sizes:
        a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        a @ b
        begun_s = time.perf_counter()
        while time.perf_counter() - begun_s < seconds:
            wait(a)
            once_s = time.perf_counter()
            a @ b
            wait(a)
            best = max(best, 2 * size**3 / (time.perf_counter() - once_s))
    return best


def quantile(values: Sequence[float], share: float) -> float:
    """Give the value, of at least one, that a share, 0 to 1, of all lie at or under."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def wait(on: Batch | Tensor) -> None:
    """Wait until the GPU that something lies on has finished its work; on a CPU there is nothing to wait for."""
    device = on.target_ids.device if isinstance(on, Batch) else on.device
    if device.type == "cuda":
        torch.cuda.synchronize(device)
