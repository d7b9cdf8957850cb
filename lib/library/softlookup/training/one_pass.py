"""Loss and gradient of a block of logits in one pass over them, where torch's compiler can make one kernel of it."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor


def of_logits(logits: Tensor, labels: Tensor, counted: Tensor, epsilon: float, with_gradient: bool) -> Tensor:
    """Give the losses of rows of logits, summed; their gradient, p - eps/V - (1 - eps) at the label, takes their place.

    Logits are (n, V), written over only with ``with_gradient``: a large vocabulary's have no room twice. Labels, the
    right columns, and ``counted``, which rows count, are (n,); ``epsilon`` is label smoothing.
    """
    z = logits.to(torch.promote_types(logits.dtype, torch.float32))
    log_sum = z.logsumexp(dim=-1)
    losses = log_sum - (1 - epsilon) * z.gather(1, labels[:, None])[:, 0]
    if epsilon > 0.0:
        losses = losses - epsilon * z.mean(dim=-1)
    loss = losses.where(counted, 0.0).sum()
    if not with_gradient:
        return loss
    v = z.shape[1]
    is_right = torch.arange(v, device=z.device) == labels[:, None]
    g = (z - log_sum[:, None]).exp() - epsilon / v - is_right.to(z.dtype) * (1 - epsilon)
    logits.copy_(g.where(counted[:, None], 0.0))
    return loss


@cache
def compiled_of_logits() -> Callable[..., Tensor]:
    """Give ``of_logits`` as one kernel; as it is where torch's compiler has no triton to write for a GPU with."""
    return of_logits if find_spec("triton") is None else torch.compile(of_logits)
