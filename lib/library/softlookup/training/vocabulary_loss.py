"""Losses over a large vocabulary without its logits: a thousand rows at a time, with their gradient at once."""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from softlookup.training.one_pass import compiled_of_logits, of_logits

# Rows of a matrix product are filled up to a multiple of this: the library behind torch's products prepares
# a kernel for each new size, which costs more than a small product, and keeps it for the next time.
ROWS = 64


CHUNKS = {"cpu": 1024, "cuda": 4096}
"""Rows whose logits are held at once: few enough for a CPU's caches, enough to keep a GPU busy."""


def vocabulary_loss(
    states: Float[Tensor, "*batch D"],
    table: Float[Tensor, "V D"],
    labels: Int[Tensor, "*batch"],
    *,
    ignored: int,
    epsilon: float = 0.0,
    chunk: int | None = None,
) -> Float[Tensor, ""]:
    """Give the cross-entropy of states against a vocabulary, summed: that of states @ table.mT, never held at once.

    Products are done in autocast's dtype where it is on, else in that of the states; sums are in float32 at least.

    ``table`` has one row for each of the vocabulary, ``labels`` are the right rows' numbers, ``ignored`` is that of
    states that do not count; smoothing, 0 to 1, puts epsilon / V on all classes; ``chunk`` rows' logits are held at
    once, None takes what suits the device (CHUNKS). The sum is in nats. ValueError if sizes or devices do not fit, or
    epsilon or chunk is out of range; labels are not read.

    Cost: 6*n*D*V operations with gradients, n the states (on a CPU those that count), and chunk*V logits in memory.

    Source: the gradient is that of cross_entropy; Wijmans et al. 2025 and Hsu et al. 2025 also make it chunk by chunk.
    """
    if states.shape[:-1] != labels.shape or states.shape[-1:] != table.shape[1:] or table.ndim != 2:
        shapes = ", ".join(str(tuple(t.shape)) for t in (states, table, labels))
        raise ValueError(f"states, table and labels have shapes {shapes}; wanted (..., D), (V, D) and (...)")
    if not states.device == table.device == labels.device:
        raise ValueError(f"states, table and labels are on {states.device}, {table.device} and {labels.device}")
    device_type = states.device.type
    chunk = CHUNKS.get(device_type, CHUNKS["cuda"]) if chunk is None else chunk
    if not 0.0 <= epsilon <= 1.0 or chunk < 1:
        raise ValueError(f"epsilon is {epsilon}, chunk {chunk}; wanted a share from 0 to 1, and at least one row")
    dtype = torch.get_autocast_dtype(device_type) if torch.is_autocast_enabled(device_type) else states.dtype
    states, labels = states.flatten(0, -2), labels.flatten()
    with torch.autocast(device_type, enabled=False):
        if not _in_one_pass(states):
            real = (labels != ignored).nonzero()[:, 0]
            states, labels = states.index_select(0, real), labels.index_select(0, real)
            if not len(real):
                return states.sum()
            mean = VocabularyLoss.apply(states, table, labels, epsilon, dtype, chunk)
            return mean * len(real)
        return VocabularyLoss.apply(states, table, labels, epsilon, dtype, chunk, None, ignored)


def fill_up(x: Tensor) -> Tensor:
    """Add rows of zeros to x (n, D), up to a multiple of ROWS."""
    return F.pad(x, (0, 0, 0, -len(x) % ROWS))


def room_for_logits(n: int, chunk: int, weights: Tensor, dtype: torch.dtype) -> Tensor:
    """Give memory for the logits of chunk rows, or of n if there are no more: (R, V) in dtype, R filled up."""
    rows = min(chunk, n)
    return weights.new_empty((rows + -rows % ROWS, len(weights)), dtype=dtype)


class VocabularyLoss(torch.autograd.Function):
    """Cross-entropy over a large vocabulary, chunk by chunk; the gradient is made in the forward pass.

    With p = softmax(h @ E.T), the gradient of a token's loss by its logits is p - eps/V - (1 - eps) at the label.
    Only p is a full matrix. The other two terms are of rank one, or one row for each token: they stay out of the large
    products, so that each of the chunk's V columns is passed over as seldom as can be.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        table: Tensor,
        labels: Tensor,
        epsilon: float,
        dtype: torch.dtype,
        chunk: int,
        room: Tensor | None = None,
        ignored: int | None = None,
    ) -> Tensor:
        """Sum up the loss chunk by chunk, and the gradients with it.

        States are (n, D), table (V, D), labels (n,); products are in ``dtype``, ``chunk`` rows at once. ``room`` is
        what room_for_logits gave for as many rows or more, and is written over; None takes new memory, which costs the
        system more time than the softmax takes; a GPU needs none. ``ignored`` is the label of rows that do not count,
        on a GPU, which would have to wait for them to be taken out. Gives the mean loss; with ``ignored``, the sum.
        """
        if _in_one_pass(states):
            loss, gradients = _by_chunks(
                states, table, labels, epsilon, dtype, chunk, ignored, any(ctx.needs_input_grad[:2])
            )
            ctx.save_for_backward(*gradients)
            ctx.n = len(labels) if ignored is None else 1
            return loss / ctx.n
        n, v = len(labels), len(table)
        wide = torch.promote_types(dtype, torch.float32)
        states, weights, h_all = states.to(wide), table.to(dtype), states.to(dtype)
        right_rows = table.index_select(0, labels).to(wide)
        mean_row = table.sum(dim=0, dtype=wide) * (epsilon / v)
        total = -(1 - epsilon) * (states * right_rows).sum() - (states @ mean_row).sum()
        needs_gradient = ctx.needs_input_grad[0] or ctx.needs_input_grad[1]
        if needs_gradient:
            grad_states = torch.sub(-mean_row, right_rows, alpha=1 - epsilon)
            grad_table = states.sum(dim=0) * (-epsilon / v)  # one row, until the first chunk's gradient is added
        logits_of_right, p_of_right = states.new_empty((2, n, 1))
        if room is None:
            room = room_for_logits(n, chunk, table, dtype)
        for start in range(0, n, chunk):
            rows = slice(start, min(start + chunk, n))
            count = rows.stop - start
            h = fill_up(h_all[rows])  # rows of zeros add nothing to the table's gradient
            logits = torch.mm(h, weights.mT, out=room[: len(h)])
            logits_of_right[rows] = logits[:count].gather(1, labels[rows, None]).to(wide)
            p = torch.softmax(logits, dim=-1, out=logits)
            p_of_right[rows] = p[:count].gather(1, labels[rows, None]).to(wide)
            if needs_gradient:
                grad_states[rows] += (p @ weights)[:count]
                by_chunk = p.mT @ h
                grad_table = grad_table.add_(by_chunk) if start else grad_table + by_chunk
        # log(sum(exp(logits))) is the label's logit minus its log-probability, unless the probability underflows.
        log_sums = logits_of_right - p_of_right.log()
        vanished = (p_of_right < torch.finfo(dtype).tiny).nonzero()[:, 0]
        for rows in vanished.split(chunk):
            log_sums[rows] = torch.logsumexp((h_all[rows] @ weights.mT).to(wide), dim=-1, keepdim=True)
        if needs_gradient:
            grad_table.index_add_(0, labels, states, alpha=epsilon - 1)
            ctx.save_for_backward(grad_states, grad_table)
        ctx.n = n
        return (total + log_sums.sum()) / n

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Hand out the gradients made in the forward pass."""
        grad_states, grad_table = ctx.saved_tensors
        scale = grad / ctx.n
        return grad_states * scale, grad_table * scale, None, None, None, None, None, None


def _in_one_pass(states: Tensor) -> bool:
    # A compiled function makes loss and gradient of a chunk's logits in one pass over them, and on a GPU nothing may
    # wait for a number. A CPU without a compiler has softmax as one pass instead.
    return states.device.type != "cpu" or torch.compiler.is_compiling()


def _by_chunks(
    states: Tensor,
    table: Tensor,
    labels: Tensor,
    epsilon: float,
    dtype: torch.dtype,
    chunk: int,
    ignored: int | None,
    with_gradient: bool,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Sum up the loss chunk by chunk, and, where they are wanted, the gradients of the states and of the table."""
    weights, h_all = table.to(dtype), states.to(dtype)
    wide = torch.promote_types(dtype, torch.float32)
    counted = torch.ones_like(labels, dtype=torch.bool) if ignored is None else labels != ignored
    loss_of = of_logits if torch.compiler.is_compiling() else compiled_of_logits()
    total = torch.zeros((), dtype=wide, device=states.device)
    grad_states: list[Tensor] = []
    grad_table: Tensor | None = None
    for start in range(0, len(labels), chunk):
        h, chunk_labels, counts = (t[start : start + chunk] for t in (h_all, labels, counted))
        logits = h @ weights.mT
        total = total + loss_of(logits, chunk_labels.clamp(min=0), counts, epsilon, with_gradient)
        if with_gradient:  # which stands where the logits stood
            grad_states.append((logits @ weights).to(states.dtype))
            by_chunk = (logits.mT @ h).to(wide)
            grad_table = by_chunk if grad_table is None else grad_table.add_(by_chunk)
    return total, () if grad_table is None else (torch.cat(grad_states), grad_table.to(table.dtype))
