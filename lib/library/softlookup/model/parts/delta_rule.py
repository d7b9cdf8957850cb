"""The gated delta rule: a memory of fixed size that forgets, and that overwrites what a key held before.

Letters of its own: C positions of a piece, which are taken together.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from softlookup.model.parts._sizes import check_queries_and_keys, check_state, check_values

State = Float[Tensor, "*batch H Hv"]


def gated_delta_rule_step(
    state: State | None,
    q: Float[Tensor, "*batch H"],
    k: Float[Tensor, "*batch H"],
    v: Float[Tensor, "*batch Hv"],
    log_decay: Float[Tensor, "*batch"],
    strength: Float[Tensor, "*batch"],
) -> tuple[Float[Tensor, "*batch Hv"], State]:
    """Take one more position: forget, compare what the key finds with the value, and write the difference.

    In this order: S <- exp(log_decay) S; S <- S + strength k (v - S^T k)^T; the output is S^T q / sqrt(H). The
    difference is taken after the decay. With keys of length 1 and strength 1, S^T k is v afterwards.

    Args:
        state: S before this position; None at the first: zeros.
        q: The query of this position.
        k: Its key, of length 1 in published models: to be brought to it before.
        v: Its value.
        log_decay: The logarithm of what the state is multiplied by; not above 0, and -inf forgets all.
        strength: How much of the difference is written, 0 to 1.

    Returns:
        The output, in q's dtype, and the new state, in float32 at least; the one given stays as it was.

    Raises:
        ValueError: If sizes of q, k, v, log_decay, strength or the state do not fit together, or they are on several
            devices; the message names them.
        TypeError: If the dtypes of q, k and v differ.

    Cost: 7*H*Hv operations for each head, however many positions there were before.

    Source: Yang et al. 2024 (arXiv 2412.06464).
    """
    rows = (q[..., None, :], k[..., None, :], v[..., None, :])
    state = _checked(state, *rows, log_decay[..., None], strength[..., None])
    q_H, k_H, v_H, decay, strength = (x.to(state.dtype) for x in (q, k, v, log_decay.exp(), strength))
    state = state * decay[..., None, None]
    wrong_H = v_H - (k_H[..., None, :] @ state)[..., 0, :]
    state = state + k_H[..., :, None] * (strength[..., None] * wrong_H)[..., None, :]
    return ((q_H[..., None, :] @ state)[..., 0, :] * q.shape[-1] ** -0.5).to(q.dtype), state


def gated_delta_rule(
    q: Float[Tensor, "*batch T H"],
    k: Float[Tensor, "*batch T H"],
    v: Float[Tensor, "*batch T Hv"],
    log_decay: Float[Tensor, "*batch T"],
    strength: Float[Tensor, "*batch T"],
    *,
    state: State | None = None,
    chunk: int = 64,
) -> tuple[Float[Tensor, "*batch T Hv"], State]:
    """Take many positions, by chunks: what gated_delta_rule_step gives at each, in a few large products.

    Inside a chunk, what each position writes depends on what those before it wrote: a triangular system, solved once
    for all of them. From chunk to chunk the state alone is handed on.

    Args:
        q: Queries.
        k: Keys, of length 1 in published models: to be brought to it before.
        v: Values.
        log_decay: The logarithm of what the state is multiplied by at each position; not above 0, and -inf forgets all.
        strength: How much of each difference is written, 0 to 1.
        state: What an earlier call handed back; None: zeros.
        chunk: C, how many positions are taken at once.

    Returns:
        One output for each position, in q's dtype, and the state after the last, in float32 at least.

    Raises:
        ValueError: If sizes of q, k, v, log_decay, strength or the state do not fit together, or chunk is below 1; the
            message names them.
        TypeError: If the dtypes of q, k and v differ.

    Cost: T*(4*H*Hv + C*(3*H + 2*Hv)) operations for each head or about that, in T/C steps in place of T.

    Source: Yang et al. 2024 (arXiv 2412.06464).
    """
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1; got {chunk}")
    state = _checked(state, q, k, v, log_decay, strength)
    inputs = (q * q.shape[-1] ** -0.5, k, v, log_decay, strength)
    chunks = zip(*(x.to(state.dtype).split(chunk, dim=-1 if i > 2 else -2) for i, x in enumerate(inputs)), strict=True)
    outputs = []
    for q_CH, k_CH, v_CH, log_C, strength_C in chunks:
        length = log_C.shape[-1]
        # A decay of 0 begins anew. It is counted and not summed, since -inf - (-inf) would be NaN.
        anew_C = log_C.exp() == 0
        total_C, begun_C = log_C.masked_fill(anew_C, 0.0).cumsum(dim=-1), anew_C.cumsum(dim=-1)
        kept_CC = begun_C[..., :, None] == begun_C[..., None, :]
        kept_CC = kept_CC & torch.ones(length, length, dtype=torch.bool, device=q.device).tril()
        # From position s to t the state decays by the product over s + 1 to t, and from before the chunk by all.
        decay_CC = (total_C[..., :, None] - total_C[..., None, :]).masked_fill(~kept_CC, -torch.inf).exp()
        decay_C = total_C.masked_fill(begun_C > 0, -torch.inf).exp()
        system_CC = (strength_C[..., None] * decay_CC * (k_CH @ k_CH.mT)).tril(-1)
        found_CH = decay_C[..., None] * (k_CH @ state)
        wanted_CH = strength_C[..., None] * (v_CH - found_CH)
        written_CH = torch.linalg.solve_triangular(system_CC, wanted_CH, upper=False, unitriangular=True)
        outputs.append(decay_C[..., None] * (q_CH @ state) + (decay_CC * (q_CH @ k_CH.mT)) @ written_CH)
        left_C = decay_CC[..., -1, :, None]
        state = decay_C[..., -1, None, None] * state + (left_C * k_CH).mT @ written_CH
    return torch.cat(outputs, dim=-2).to(q.dtype), state


def _checked(state: Tensor | None, q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, strength: Tensor) -> Tensor:
    check_queries_and_keys(q, k)
    check_values(k, v)
    if q.shape[-2] != k.shape[-2]:
        raise ValueError(f"{q.shape[-2]} queries and {k.shape[-2]} keys: their numbers must be equal")
    for name, numbers in (("log_decay", log_decay), ("strength", strength)):
        if numbers.shape != q.shape[:-1]:
            raise ValueError(f"{name} has shape {tuple(numbers.shape)}; wanted {tuple(q.shape[:-1])}, one a position")
        if numbers.device != q.device:
            raise ValueError(f"{name} is on {numbers.device}, beside {q.device}: move one to the other")
    expected = (*q.shape[:-2], k.shape[-1], v.shape[-1])
    if state is None:
        return q.new_zeros(expected, dtype=torch.promote_types(q.dtype, torch.float32))
    check_state(state, expected, q)
    return state
