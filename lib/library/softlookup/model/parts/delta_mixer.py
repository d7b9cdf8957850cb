"""Linear attention as a layer of a decoder: a short convolution, the gated delta rule, and a gate on what it reads.

Letters of its own: C channels of the convolution.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_weights, check_width
from softlookup.model.parts.cache import LayerCache, StateCache
from softlookup.model.parts.config import Config
from softlookup.model.parts.delta_rule import gated_delta_rule, gated_delta_rule_step
from softlookup.model.parts.initialise import xavier_
from softlookup.model.parts.multihead import merge_heads, split_heads
from softlookup.model.parts.norms import RMSNorm


class GatedDeltaMixer(nn.Module):
    """What Qwen3-Next has in three of four layers in place of attention.

    Queries, keys and values, side by side, pass a causal convolution over a few positions and silu; queries and keys
    are brought to length 1. A head's decay is exp(-exp(decay_log) softplus(x w_decay + decay_bias)), its strength
    sigmoid(x w_strength). What the rule reads is normalised, gated by silu(x w_gate) and projected by w_o.

    Of config, width, norm_eps and parts.delta are taken.

    Source: Yang et al. 2024 (arXiv 2412.06464); Qwen team 2025 (Qwen3-Next).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        assert config.parts is not None and config.parts.delta is not None
        self.sizes = sizes = config.parts.delta
        if sizes.heads % sizes.key_heads:
            raise ValueError(f"{sizes.heads} heads of values cannot share {sizes.key_heads} heads of keys evenly")
        values = sizes.heads * sizes.value_width
        mixed, d_model = 2 * sizes.key_heads * sizes.key_width + values, config.d_model
        self.w_qkv = nn.Parameter(torch.empty(d_model, mixed))
        self.w_gate = nn.Parameter(torch.empty(d_model, values))
        self.w_strength = nn.Parameter(torch.empty(d_model, sizes.heads))
        self.w_decay = nn.Parameter(torch.empty(d_model, sizes.heads))
        self.w_o = nn.Parameter(torch.empty(values, d_model))
        for matrix in (self.w_qkv, self.w_gate, self.w_strength, self.w_decay, self.w_o):
            xavier_(matrix)
        self.taps = nn.Parameter(torch.randn(mixed, sizes.kernel) * sizes.kernel**-0.5)
        self.decay_log = nn.Parameter(torch.zeros(sizes.heads))
        self.decay_bias = nn.Parameter(torch.ones(sizes.heads))
        self.norm = RMSNorm(sizes.value_width, eps=config.norm_eps)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        real: Bool[Tensor, "B T"] | None = None,
        *,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Read from the memory at each position, after writing to it.

        With a cache, the state that earlier tokens left, x has the new tokens alone, and the cache is brought up to
        date. Padding, False in ``real``, writes nothing; None: all are tokens. ValueError if x's width is not D, or its
        device not the weights'; TypeError if the dtypes differ, or the cache is one of keys and values.

        Cost: about 2*T*D*(2*K*H + 2*N*Hv) operations for the projections, and those of gated_delta_rule.
        """
        check_width(x, self.w_qkv.shape[0], "(B, T, D)")
        check_weights(x, self.w_qkv)
        if cache is not None and not isinstance(cache, StateCache):
            raise TypeError(f"the cache is a {type(cache).__name__}; linear attention wants a StateCache")
        sizes = self.sizes
        if real is not None:
            x = x * real[..., None]
        mixed_BCT = (x @ self.w_qkv).mT
        tail_length = sizes.kernel - 1
        tail = None if cache is None else cache.tail
        tail = mixed_BCT.new_zeros(*mixed_BCT.shape[:2], tail_length) if tail is None else tail
        rows_BCT = torch.cat((tail, mixed_BCT), dim=-1)
        mixed = F.silu(F.conv1d(rows_BCT, self.taps[:, None], groups=len(self.taps))).mT
        keys = sizes.key_heads * sizes.key_width
        q, k, v = mixed.split([keys, keys, sizes.heads * sizes.value_width], dim=-1)
        group = sizes.heads // sizes.key_heads
        q, k = (_unit(split_heads(y, sizes.key_heads)).repeat_interleave(group, dim=1) for y in (q, k))
        v = split_heads(v, sizes.heads)
        wide = torch.promote_types(x.dtype, torch.float32)
        speed_BTN = F.softplus((x @ self.w_decay).to(wide) + self.decay_bias.to(wide))
        log_decay_BNT = (-self.decay_log.to(wide).exp() * speed_BTN).mT
        strength_BNT = (x @ self.w_strength).sigmoid().mT
        state = None if cache is None else cache.state
        if x.shape[1] == 1:
            rows = (q[..., 0, :], k[..., 0, :], v[..., 0, :], log_decay_BNT[..., 0], strength_BNT[..., 0])
            read, state = gated_delta_rule_step(state, *rows)
            read = read[..., None, :]
        else:
            read, state = gated_delta_rule(q, k, v, log_decay_BNT, strength_BNT, state=state)
        if cache is not None:
            cache.advance(rows_BCT[..., rows_BCT.shape[-1] - tail_length :], state, x.shape[1])
        gate = F.silu(split_heads(x @ self.w_gate, sizes.heads))
        return merge_heads(self.norm(read) * gate) @ self.w_o


def _unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().sum(dim=-1, keepdim=True) + 1e-6)
