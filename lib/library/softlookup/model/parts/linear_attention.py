"""Linear attention: no softmax, so that the keys and values can be summed up once for all queries."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from softlookup.model.parts._sizes import check_mask, check_queries_and_keys, check_state, check_values


@dataclass(frozen=True, eq=False)
class LinearState:
    """All that linear attention remembers of the past: its size does not grow with the number of tokens.

    Attributes:
        key_values: The sum over the keys so far of f(k) v^T.
        keys: The sum over the keys so far of f(k).
    """

    key_values: Float[Tensor, "*batch H Hv"]
    keys: Float[Tensor, "*batch H"]

    def select(self, rows: Int[Tensor, " M"]) -> "LinearState":
        """Take some rows of the first axis, in the order given; a row may be taken more than once.

        Args:
            rows: Whole numbers, which rows.

        Returns:
            A new state; this one stays as it was.
        """
        return LinearState(self.key_values[rows], self.keys[rows])


def linear_attention(
    q: Float[Tensor, "*batch T H"],
    k: Float[Tensor, "*batch S H"],
    v: Float[Tensor, "*batch S Hv"],
    *,
    causal: bool = False,
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "*batch T Hv"]:
    """Mix the values by f(q) . f(k), where f is elu + 1, in place of exp(q . k / sqrt(H)).

    Since sum_s (f(q) . f(k_s)) v_s = f(q) (sum_s f(k_s) v_s^T), the sum over keys is taken once, before any query is
    looked at. It is another attention, not a faster way to the same one.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key; their width Hv may differ from H.
        causal: Whether query t sees keys up to t only; T and S must be equal then.
        mask: Which keys count, True = may be looked at; the same for all queries, as (1, S), or with as many axes as
            the scores, such as (B, 1, 1, S).

    Returns:
        For each query, the weighted mean of the values. A query with nothing to see gets zeros.

    Raises:
        ValueError: If sizes of q, k, v or mask do not fit together, if the mask differs between queries, or if
            causal and T is not S.
        TypeError: If the mask is not boolean, or the dtypes of q, k and v differ.

    Cost: 4*S*H*Hv + 4*T*H*Hv operations for each head or less, where attend takes 2*T*S*(H + Hv). Causal, T*H*Hv
    numbers in memory: one sum for each position.

    Source: Katharopoulos et al. 2020, equations 4 to 9.
    """
    check_queries_and_keys(q, k)
    check_values(k, v)
    dtype = torch.promote_types(q.dtype, torch.float32)
    q_TH, k_SH, v_SH = _feature(q.to(dtype)), _feature(k.to(dtype)), v.to(dtype)
    if mask is not None:
        _check_key_mask(mask, (*q.shape[:-1], k.shape[-2]))
        k_SH = k_SH.masked_fill(~mask.mT, 0.0)
    if not causal:
        return _mixed(q_TH, k_SH.mT @ v_SH, k_SH.sum(dim=-2), q.dtype)
    if q.shape[-2] != k.shape[-2]:
        raise ValueError(
            f"causal attention of {q.shape[-2]} queries to {k.shape[-2]} keys: their numbers must be equal"
        )
    key_values_THH = (k_SH[..., :, None] * v_SH[..., None, :]).cumsum(dim=-3)
    return _mixed(q_TH[..., None, :], key_values_THH, k_SH.cumsum(dim=-2), q.dtype)[..., 0, :]


def linear_attention_step(
    state: LinearState | None,
    q: Float[Tensor, "*batch H"],
    k: Float[Tensor, "*batch H"],
    v: Float[Tensor, "*batch Hv"],
) -> tuple[Float[Tensor, "*batch Hv"], LinearState]:
    """Take one more position: causal linear attention as a recurrent network. Equals the same row of all at once.

    Args:
        state: What is known of the positions before; None at the first.
        q: The query of this position.
        k: Its key.
        v: Its value.

    Returns:
        The output of this position, and the state with it taken in; the state that was given stays as it was.

    Raises:
        ValueError: If sizes of q, k, v and the state do not fit together, or they are on several devices.
        TypeError: If the dtypes of q, k and v differ.

    Cost: about 4*H*Hv operations for each head, whatever the position.

    Source: Katharopoulos et al. 2020, equations 16 to 20.
    """
    check_queries_and_keys(q[..., None, :], k[..., None, :])
    check_values(k[..., None, :], v[..., None, :])
    dtype = torch.promote_types(q.dtype, torch.float32)
    q_H, k_H = _feature(q.to(dtype)), _feature(k.to(dtype))
    key_values_HH = k_H[..., :, None] * v.to(dtype)[..., None, :]
    if state is None:
        state = LinearState(key_values_HH, k_H)
    else:
        check_state(state.key_values, tuple(key_values_HH.shape), q)
        state = LinearState(state.key_values + key_values_HH, state.keys + k_H)
    return _mixed(q_H[..., None, :], state.key_values, state.keys, q.dtype)[..., 0, :], state


def _feature(x: Tensor) -> Tensor:
    """Give x + 1 above 0 and exp(x) below, which is never 0."""
    return F.elu(x) + 1


def _mixed(q_TH: Tensor, key_values_HH: Tensor, keys_H: Tensor, dtype: torch.dtype) -> Tensor:
    """Give f(q) (sum of f(k) v^T) over f(q) . (sum of f(k)); zeros where the denominator is 0."""
    total_T1 = q_TH @ keys_H[..., :, None]
    return (q_TH @ key_values_HH / total_T1.masked_fill(total_T1 == 0, 1.0)).to(dtype)


def _check_key_mask(mask: Tensor, scores_shape: tuple[int, ...]) -> None:
    check_mask(mask, scores_shape)
    if mask.shape[-2] != 1:
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}: the keys are summed once for all queries, so it must be the same for "
            f"all of them, with 1 in place of T = {scores_shape[-2]}"
        )
