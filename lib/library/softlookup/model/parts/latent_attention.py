"""Multi-head latent attention: the cache holds one short vector a token, from which all heads' keys and values come."""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes, check_weights, check_width
from softlookup.model.parts._sizes import check_mask
from softlookup.model.parts.attention import attend, fused_attention
from softlookup.model.parts.cache import LayerCache
from softlookup.model.parts.initialise import xavier_
from softlookup.model.parts.masks import CausalMask
from softlookup.model.parts.multihead import Watch, merge_heads, split_heads, watched
from softlookup.model.parts.norms import RMSNorm
from softlookup.model.parts.positions import RotaryPositions
from softlookup.model.parts.rotary_scaling import RotaryScaling


class LatentAttention(nn.Module):
    """Attention whose keys and values are made from c = RMSNorm(x w_a), beside one rotary key that all heads share.

    A head's key is c w_uk with the rotary key behind it, its value c w_uv. The scores are
    (q . (c w_uk) + q_rotary . k_rotary) times the scale.

    Args:
        d_model: D, the width of a token's vector.
        n_heads: N.
        d_latent: C, the width of c.
        head_width: H, the width of a head's query and key without positions.
        rotary_width: R, the width of the part that is turned by position; even.
        value_width: Hv; None means H.
        d_query_latent: The width of the queries' own latent vector; None makes queries from x itself.
        rotary_base: Sets the slowest pair's speed.
        rotary_scaling: How the rotary part is slowed down for texts longer than those of training. Its factor on sines
            and cosines (YaRN's) would reach that part alone; so it is squared and multiplies the scale instead, which
            is the factor mscale^2 in DeepSeek's code.
        scale: What the dot products are multiplied by; None means 1/sqrt(H + R), times that square.
        eps: What the norms add to the mean of squares.

    Raises:
        ValueError: If a size is below 1, or rotary_width is odd; or as in RotaryScaling.speeds.

    Source: DeepSeek-AI 2024 (DeepSeek-V2, arXiv 2405.04434).
    """

    w_q_down: nn.Parameter | None

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_latent: int,
        head_width: int,
        rotary_width: int,
        value_width: int | None = None,
        d_query_latent: int | None = None,
        rotary_base: float = 10000.0,
        rotary_scaling: RotaryScaling | None = None,
        scale: float | None = None,
        eps: float = 1e-6,
    ) -> None:
        super().__init__()
        value_width = head_width if value_width is None else value_width
        d_query = d_model if d_query_latent is None else d_query_latent
        check_sizes(d_model=d_model, n_heads=n_heads, d_latent=d_latent, head_width=head_width)
        check_sizes(rotary_width=rotary_width, value_width=value_width, d_query_latent=d_query)
        self.n_heads, self.d_latent = n_heads, d_latent
        self.head_width, self.rotary_width, self.value_width = head_width, rotary_width, value_width
        amplitude = 1.0 if rotary_scaling is None else rotary_scaling.amplitude
        self.scale = (head_width + rotary_width) ** -0.5 * amplitude**2 if scale is None else scale
        slower = None if rotary_scaling is None else replace(rotary_scaling, attention_factor=1.0)
        self.rotary = RotaryPositions(rotary_width, base=rotary_base, scaling=slower)
        self.query_norm = None if d_query_latent is None else RMSNorm(d_query, eps=eps)
        self.latent_norm = RMSNorm(d_latent, eps=eps)
        down = None if d_query_latent is None else nn.Parameter(torch.empty(d_model, d_query))
        self.register_parameter("w_q_down", down)
        self.w_q = nn.Parameter(torch.empty(d_query, n_heads * (head_width + rotary_width)))
        self.w_a = nn.Parameter(torch.empty(d_model, d_latent))
        self.w_rotary = nn.Parameter(torch.empty(d_model, rotary_width))
        self.w_uk = nn.Parameter(torch.empty(n_heads, d_latent, head_width))
        self.w_uv = nn.Parameter(torch.empty(n_heads, d_latent, value_width))
        self.w_o = nn.Parameter(torch.empty(n_heads * value_width, d_model))
        for name, weight in self.named_parameters(recurse=False):
            for matrix in weight.data if name.startswith("w_u") else [weight]:
                xavier_(matrix)

    @property
    def bytes_per_token(self) -> int:
        """How much memory one token takes in the cache of this layer: C + R numbers, whatever N is."""
        return (self.d_latent + self.rotary_width) * self.w_a.element_size()

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "..."] | CausalMask | None = None,
        *,
        cache: LayerCache | None = None,
        absorbed: bool = False,
        return_weights: bool = False,
        watch: Watch | None = None,
    ) -> Float[Tensor, "B T D"] | tuple[Float[Tensor, "B T D"], Float[Tensor, "B N T S"]]:
        """Let each token look at those before it.

        Args:
            x: The tokens' vectors; with a cache, of the new tokens alone.
            mask: Which query may look at which key, True = may, or causal; None lets all be seen.
            cache: The rotary keys (as k) and latent vectors (as v) of the tokens before x; x's are added.
            absorbed: Whether w_uk is multiplied into the queries and w_uv into the output, so that no key and no value
                of a head is ever made: the same numbers, cheaper where T is small and S large.
            return_weights: Take the open path, and return the weights of each head beside the output.
            watch: As in MultiHeadAttention; the heads' outputs are as wide as their values.

        Returns:
            The same shape as x; with return_weights, (output, weights).

        Raises:
            ValueError: If x's or the mask's shape does not fit, or x is on another device than the weights.
            TypeError: If x's dtype is not that of the weights, or the mask is not boolean.

        Cost: for the scores and sums, 2*N*T*S*(H + R + Hv) operations and 2*N*S*C*(H + Hv) to make keys and values;
        absorbed, 2*N*T*S*(2*C + R) and 2*N*T*C*(H + Hv).
        """
        check_width(x, self.w_a.shape[0], "(B, T, D)")
        check_weights(x, self.w_a)
        offset = 0 if cache is None else cache.length
        down = x if self.w_q_down is None or self.query_norm is None else self.query_norm(x @ self.w_q_down)
        q, q_turned = split_heads(down @ self.w_q, self.n_heads).split([self.head_width, self.rotary_width], dim=-1)
        q_turned = self.rotary(q_turned, offset)
        k_turned = self.rotary((x @ self.w_rotary)[:, None], offset)
        latent = self.latent_norm(x @ self.w_a)[:, None]
        if cache is not None:
            k_turned, latent = cache.append(k_turned, latent)
        if mask is not None:
            check_mask(mask, (*q.shape[:-1], latent.shape[2]))
        if absorbed:
            q, k, v = q @ self.w_uk.mT, latent, latent
        else:
            k, v = latent @ self.w_uk, latent @ self.w_uv
            k_turned = k_turned.expand(-1, self.n_heads, -1, -1)
        q, k = torch.cat((q, q_turned), dim=-1), torch.cat((k, k_turned), dim=-1)
        weights = None
        if return_weights or watch is not None:
            k_BNSM, v_BNSM = (t.expand(-1, self.n_heads, -1, -1) for t in (k, v))
            mixed, weights = attend(q, k_BNSM, v_BNSM, mask, scale=self.scale)
        else:
            mixed = fused_attention(q, k, v, mask, scale=self.scale, grouped=absorbed)
        heads = mixed @ self.w_uv if absorbed else mixed
        if watch is not None and weights is not None:
            heads, weights = watched(watch, heads, weights, v @ self.w_uv if absorbed else v)
        y = merge_heads(heads) @ self.w_o
        return (y, weights) if return_weights and weights is not None else y
