"""Attention over short sentences on a CPU, forward and backward by hand, on rows as matrix products leave them.

Sentences of ten to thirty tokens make many small products, and what stands around them costs more than they do. torch's
softmax spends several times as long on rows under 16 numbers as its plain operations do, products in bfloat16 prepare a
kernel for each new size, and every change of layout or dtype is a pass over memory. So this computes in float32, and
each change of layout is a change of dtype at the same time.

Letters of its own: G query heads for each key-value head, R rows of a product, filled up.
"""

from typing import Any

import torch
from torch import Tensor


class ShortAttention(torch.autograd.Function):
    """Let queries look at keys and values that lie side by side in rows.

    With weights W = softmax(S), the gradient of the scores is W * (gW - sum(gW * W)), row by row.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        memory_rows: Tensor | None,
        unseen: Tensor,
        sizes: tuple[int, int, int, int, int, int],
        scale: float,
    ) -> Tensor:
        """Mix the values.

        ``rows`` are queries (R, K*G*H), and ``memory_rows`` keys and values (R', 2*K*H); without the latter, keys and
        values are beside the queries, (R, (K*G + 2*K)*H). ``unseen`` (K*B, G*T, S) is added to the scores, in the dtype
        to compute in; ``sizes`` are B, T, S, K, G, H; ``scale`` multiplies the dot products. Gives rows (R, K*G*H) in
        their dtype, 0 in those that fill up.
        """
        b, t, s, k, g, h = sizes
        wide = unseen.dtype
        kv_rows = rows[:, k * g * h :] if memory_rows is None else memory_rows
        q_KBGTH = torch.empty((k, b, g, t, h), dtype=wide, device=rows.device).copy_(_queries(rows, sizes))
        kv_KBSH = torch.empty((2 * k, b, s, h), dtype=wide, device=rows.device).copy_(_keys_and_values(kv_rows, sizes))
        q, (keys, values) = q_KBGTH.view(k * b, g * t, h), kv_KBSH.view(2, k * b, s, h)
        weights = torch.baddbmm(unseen, q, keys.mT, alpha=scale)
        weights.sub_(weights.amax(dim=-1, keepdim=True)).exp_()
        weights.div_(weights.sum(dim=-1, keepdim=True))
        z_KBGTH = torch.bmm(weights, values).view(k, b, g, t, h)
        out = rows.new_empty((len(rows), k * g * h))
        _queries(out, sizes).copy_(z_KBGTH)
        out[b * t :].zero_()
        ctx.save_for_backward(q, keys, values, weights)
        ctx.sizes, ctx.scale, ctx.alone = sizes, scale, memory_rows is None
        ctx.n_memory_rows = len(kv_rows)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Give the gradients of both kinds of rows."""
        q, keys, values, weights = ctx.saved_tensors
        b, t, s, k, g, h = ctx.sizes
        grad_z = q.new_empty((k, b, g, t, h)).copy_(_queries(grad, ctx.sizes)).view(k * b, g * t, h)
        grad_kv = q.new_empty((2, k * b, s, h))
        torch.bmm(weights.mT, grad_z, out=grad_kv[1])
        grad_scores = torch.bmm(grad_z, values.mT)
        grad_scores.sub_((grad_scores * weights).sum(dim=-1, keepdim=True)).mul_(weights).mul_(ctx.scale)
        torch.bmm(grad_scores.mT, q, out=grad_kv[0])
        grad_q = torch.bmm(grad_scores, keys).view(k, b, g, t, h)
        width = k * g * h
        grad_rows = grad.new_empty((len(grad), width + 2 * k * h if ctx.alone else width))
        grad_memory_rows = grad_rows[:, width:] if ctx.alone else grad.new_empty((ctx.n_memory_rows, 2 * k * h))
        _queries(grad_rows, ctx.sizes).copy_(grad_q)
        _keys_and_values(grad_memory_rows, ctx.sizes).copy_(grad_kv.view(2 * k, b, s, h))
        grad_rows[b * t :].zero_()
        if ctx.alone:
            return grad_rows, None, None, None, None
        grad_memory_rows[b * s :].zero_()
        return grad_rows, grad_memory_rows, None, None, None


def _queries(rows: Tensor, sizes: tuple[int, int, int, int, int, int]) -> Tensor:
    """See the first columns of rows as (K, B, G, T, H)."""
    b, t, _, k, g, h = sizes
    return rows[: b * t, : k * g * h].unflatten(1, (k, g, h)).unflatten(0, (b, t)).permute(2, 0, 3, 1, 4)


def _keys_and_values(rows: Tensor, sizes: tuple[int, int, int, int, int, int]) -> Tensor:
    """See rows as (2*K, B, S, H)."""
    b, _, s, k, _, h = sizes
    return rows[: b * s].unflatten(1, (2 * k, h)).unflatten(0, (b, s)).permute(2, 0, 1, 3)
