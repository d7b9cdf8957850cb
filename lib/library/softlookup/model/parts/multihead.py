"""Many heads side by side, with shared key-value heads and cross-attention: one class for every chapter."""

from collections.abc import Callable
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_weights
from softlookup.model.parts._sizes import check_bias, check_mask
from softlookup.model.parts.attention import attend, fused_attention, written_out
from softlookup.model.parts.cache import LayerCache
from softlookup.model.parts.masks import CausalMask
from softlookup.model.parts.norms import RMSNorm
from softlookup.model.parts.positions import Offset

QKNorm = Literal["none", "head", "width"]
Watch = Callable[[str, Tensor], Tensor]


def split_heads(x: Float[Tensor, "*batch T M"], n_heads: int) -> Float[Tensor, "*batch {n_heads} T H"]:
    """Cut every token's row into equal pieces, one for each head.

    Args:
        x: Projected tokens, all heads side by side: M = N*H; head i owns columns i*H up to, not including,
            (i+1)*H.
        n_heads: How many heads to cut into.

    Returns:
        A view of the same numbers with a head axis before the positions.

    Raises:
        ValueError: If the width cannot be cut into that many equal pieces.
    """
    if x.ndim < 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; wanted at least two axes, (..., T, N*H)")
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(f"width {x.shape[-1]} cannot be cut into {n_heads} heads of equal width")
    return x.unflatten(-1, (n_heads, x.shape[-1] // n_heads)).transpose(-2, -3)


def merge_heads(x: Float[Tensor, "*batch N T H"]) -> Float[Tensor, "*batch T N*H"]:
    """Lay the heads' outputs side by side again: the way back from split_heads.

    Args:
        x: One output for each head.

    Returns:
        One row of N*H numbers for each token.

    Raises:
        ValueError: If there are fewer than three axes.
    """
    if x.ndim < 3:
        raise ValueError(f"x has shape {tuple(x.shape)}; wanted at least three axes, (..., N, T, H)")
    return x.transpose(-2, -3).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Look in several ways at once, then blend what the heads found.

    The weights stand as in the book, y = x @ w + b: w_q (D, N*H), w_k and w_v (D, K*H), w_o (N*H, D).
    (torch's Linear keeps the transpose.) Without biases they hold D*H*(2*N + 2*K) numbers.

    Args:
        d_model: D, the width of a token's vector.
        n_heads: N, the number of query heads.
        head_width: H; None means D / N, which must then be whole. N*H need not be D.
        n_kv_heads: K, a divisor of N; None means K = N, and 1 is multi-query attention. Query head i reads
            key-value head i // (N / K).
        bias: Whether each projection adds a bias (b_q, b_k, b_v, b_o).
        scale: What the dot products are multiplied by; None means 1/sqrt(H). T5 learns its scale and takes 1.
        relative: A module of positions.py's kind whose bias depends on the queries (ShawBias, TransformerXLBias).
        qk_norm: RMSNorm on queries and keys, before they are turned to their positions: head gives every head the
            same gain of H numbers, width normalises all heads of a token together (gains of N*H and K*H numbers).
        norm_eps: Added to the mean square, where there is such a norm.
        sinks: Whether each head learns one logit that joins the softmax and whose column is then dropped, so that the
            weights of a row sum to less than 1. It starts at 0.
        qkv_bias: Whether the projections to queries, keys and values add a bias; None means as bias says.
        score_cap: c, where scaled scores s become c tanh(s/c) before the softmax; takes the open path.
        norm_turned: Whether queries and keys are normalised after they are turned, not before.
        gated: Whether the heads' outputs are multiplied by sigmoid(x w_gate), before w_o.

    Raises:
        ValueError: If D is not a multiple of N and no head width is given, if N is not a multiple of K,
            if a size is below 1, or if qk_norm is unknown. The message names the sizes.

    Source: Vaswani et al. 2017, section 3.2.2; Shazeer 2019 (K = 1); Ainslie et al. 2023 (groups);
    Henry et al. 2020 (QK-norm, by the length of a vector instead of RMS); Xiao et al. 2023 (attention sinks as tokens);
    OpenAI 2025 (gpt-oss: sinks as learned logits).
    """

    b_q: nn.Parameter | None
    b_k: nn.Parameter | None
    b_v: nn.Parameter | None
    b_o: nn.Parameter | None
    sinks: nn.Parameter | None
    w_gate: nn.Parameter | None
    b_gate: nn.Parameter | None

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        head_width: int | None = None,
        n_kv_heads: int | None = None,
        bias: bool = False,
        scale: float | None = None,
        relative: nn.Module | None = None,
        qk_norm: QKNorm = "none",
        norm_eps: float = 1e-6,
        sinks: bool = False,
        qkv_bias: bool | None = None,
        score_cap: float | None = None,
        norm_turned: bool = False,
        gated: bool = False,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if min(d_model, n_heads, n_kv_heads) < 1:
            raise ValueError(
                f"sizes must be at least 1; got d_model {d_model}, n_heads {n_heads}, n_kv_heads {n_kv_heads}"
            )
        if n_heads % n_kv_heads:
            raise ValueError(f"{n_heads} query heads cannot share {n_kv_heads} key-value heads evenly")
        if head_width is None:
            if d_model % n_heads:
                raise ValueError(
                    f"d_model {d_model} cannot be cut into {n_heads} heads of equal width; give head_width"
                )
            head_width = d_model // n_heads
        if head_width < 1:
            raise ValueError(f"head_width must be at least 1; got {head_width}")
        if qk_norm not in get_args(QKNorm):
            raise ValueError(f"qk_norm is {qk_norm!r}; wanted one of {', '.join(get_args(QKNorm))}")
        self.d_model, self.n_heads, self.n_kv_heads, self.head_width = (
            d_model,
            n_heads,
            n_kv_heads,
            head_width,
        )
        wide, narrow = n_heads * head_width, n_kv_heads * head_width
        self.scale, self.relative, self.score_cap, self.norm_turned = scale, relative, score_cap, norm_turned
        self.w_q = nn.Parameter(torch.empty(d_model, wide))
        self.w_k = nn.Parameter(torch.empty(d_model, narrow))
        self.w_v = nn.Parameter(torch.empty(d_model, narrow))
        self.w_o = nn.Parameter(torch.empty(wide, d_model))
        qkv_bias = bias if qkv_bias is None else qkv_bias
        self.register_parameter("w_gate", nn.Parameter(torch.empty(d_model, wide)) if gated else None)
        for name, width, biased in (
            ("b_q", wide, qkv_bias),
            ("b_k", narrow, qkv_bias),
            ("b_v", narrow, qkv_bias),
            ("b_o", d_model, bias),
            ("b_gate", wide, qkv_bias and gated),
        ):
            self.register_parameter(name, nn.Parameter(torch.empty(width)) if biased else None)
        self.register_parameter("sinks", nn.Parameter(torch.empty(n_heads)) if sinks else None)
        self.q_norm: RMSNorm | None = None
        self.k_norm: RMSNorm | None = None
        if qk_norm != "none":
            widths = (head_width, head_width) if qk_norm == "head" else (wide, narrow)
            self.q_norm, self.k_norm = (RMSNorm(width, eps=norm_eps) for width in widths)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the matrices anew (Xavier, uniform) and set the biases and sinks to zero.

        Each matrix counts by itself, so that a token's variance passes about unchanged through each; torch's
        own layer draws query, key and value as one stacked matrix, hence from a narrower range.

        Source: Glorot & Bengio 2010, equation 16.
        """
        # Not those of the relative positions, which have drawn their own.
        for name, parameter in self.named_parameters(recurse=False):
            if name.startswith("w_"):
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        x_kv: Float[Tensor, "B S D"] | None = None,
        mask: Bool[Tensor, "..."] | CausalMask | None = None,
        *,
        bias: Float[Tensor, "..."] | None = None,
        rotary: nn.Module | None = None,
        cache: LayerCache | None = None,
        return_weights: bool = False,
        watch: Watch | None = None,
    ) -> Float[Tensor, "B T D"] | tuple[Float[Tensor, "B T D"], Float[Tensor, "B N T S"]]:
        """Let tokens look at themselves, or at others.

        Args:
            x: The tokens that look.
            x_kv: The tokens that are looked at, where they are others (cross-attention); None means x itself.
            mask: Boolean, True = may attend: (T, S), or four axes as (B, N, T, S) with 1 where the mask is the
                same all along; padding of the keys is (B, 1, 1, S). With a cache, S counts the cached keys too, but not
                those that its window has let go. A CausalMask is what kernels do fastest.
            bias: Numbers added to the scaled scores, of a shape that spreads over (B, N, T, S).
            rotary: A RotaryPositions that turns queries and keys to their places.
            cache: The keys and values of earlier calls; those of this call are added to it.
            return_weights: Take the open path, and return the weights of each head beside the output.
            watch: Take the open path, and hand this function ("weights", (B, N, T, S)) and ("heads", (B, N, T, H)), the
                heads' outputs before w_o; attention goes on with what it returns.

        Returns:
            The output, or (output, weights) with return_weights.

        Raises:
            ValueError: If sizes of x, x_kv or mask do not fit, or they are not on the device of the weights; the
                message names them.
            TypeError: If the mask is not boolean, or x's dtype is not that of the weights.

        Cost: 2*B*(T*D*N*H*2 + S*D*K*H*2 + T*S*N*H*2) operations. Sinks copy the keys and values once.
        """
        self._check_inputs(x, x if x_kv is None else x_kv)
        offset: Offset
        if cache is not None and cache.complete:  # cross-attention: the encoder's keys do not change
            q, k_BKSH, v_BKSH, offset = _project(x, self.w_q, self.b_q), cache.k, cache.v, 0
        else:
            q, k, v = self._projections(x, x if x_kv is None else x_kv)
            k_BKSH, v_BKSH, offset = self._keys_and_values(k, v, rotary, cache)
        q_BNTH = self._turned(q, self.n_heads, self.q_norm, rotary, offset)
        shape = (x.shape[0], self.n_heads, x.shape[1], k_BKSH.shape[2])
        group = self.n_heads // self.n_kv_heads
        if mask is not None:
            check_mask(mask, shape)
            if isinstance(mask, Tensor) and mask.device != x.device:
                raise ValueError(f"mask is on {mask.device}, x on {x.device}: move one to the other")
        if self.relative is not None:
            if cache is not None and cache.window is not None:
                offset = k_BKSH.shape[2] - x.shape[1]  # older keys are gone: what is left begins later
            relative_BNTS = self.relative(q_BNTH, k_BKSH.repeat_interleave(group, dim=1), offset)
            bias = relative_BNTS if bias is None else bias + relative_BNTS
        if bias is not None:
            check_bias(bias, shape)
        if self.sinks is not None:
            mask = None if mask is None else written_out(mask, q_BNTH, k_BKSH)
            k_BKSH, v_BKSH, mask, bias = _with_sinks(self.sinks, k_BKSH, v_BKSH, mask, bias)
        if return_weights or watch is not None or self.score_cap is not None:
            k_BNSH, v_BNSH = (t.repeat_interleave(group, dim=1) for t in (k_BKSH, v_BKSH))
            z_BNTH, weights_BNTS = attend(q_BNTH, k_BNSH, v_BNSH, mask, bias=bias, scale=self.scale, cap=self.score_cap)
            if self.sinks is not None:
                weights_BNTS = weights_BNTS[..., :-1]
            if watch is not None:
                z_BNTH, weights_BNTS = watched(watch, z_BNTH, weights_BNTS, v_BNSH[:, :, : weights_BNTS.shape[-1]])
            y_BTD = _project(self._gated(x, z_BNTH), self.w_o, self.b_o)
            return (y_BTD, weights_BNTS) if return_weights else y_BTD
        z_BNTH = fused_attention(q_BNTH, k_BKSH, v_BKSH, mask, bias=bias, scale=self.scale, grouped=group > 1)
        return _project(self._gated(x, z_BNTH), self.w_o, self.b_o)

    def _gated(self, x: Tensor, z_BNTH: Tensor) -> Tensor:
        heads = merge_heads(z_BNTH)
        return heads if self.w_gate is None else heads * _project(x, self.w_gate, self.b_gate).sigmoid()

    def _turned(
        self, y: Tensor, n_heads: int, norm: RMSNorm | None, rotary: nn.Module | None, offset: Offset
    ) -> Tensor:
        y_BNTH = _heads(y, n_heads, None if self.norm_turned else norm)
        if rotary is not None:
            y_BNTH = rotary(y_BNTH, offset)
        return norm(y_BNTH) if self.norm_turned and norm is not None else y_BNTH

    def _projections(self, x: Tensor, x_kv: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        biases = (self.b_q, self.b_k, self.b_v)
        # A GPU does one wide product sooner than three narrow ones, where the rows are so many that laying the
        # matrices side by side costs little beside it.
        if x_kv is x and x.is_cuda and x.shape[0] * x.shape[1] >= self.d_model:
            w = torch.cat((self.w_q, self.w_k, self.w_v), dim=1)
            b = None if self.b_q is None else torch.cat([b for b in biases if b is not None])
            q, k, v = _project(x, w, b).split([m.shape[1] for m in (self.w_q, self.w_k, self.w_v)], dim=-1)
            return q, k, v
        q, k, v = (
            _project(rows, w, b)
            for rows, w, b in zip((x, x_kv, x_kv), (self.w_q, self.w_k, self.w_v), biases, strict=True)
        )
        return q, k, v

    def _keys_and_values(
        self, k: Tensor, v: Tensor, rotary: nn.Module | None, cache: LayerCache | None
    ) -> tuple[Tensor, Tensor, Offset]:
        offset = 0 if cache is None else cache.offset
        # Keys are kept turned: their place never changes.
        k_BKSH = self._turned(k, self.n_kv_heads, self.k_norm, rotary, offset)
        v_BKSH = split_heads(v, self.n_kv_heads)
        if cache is not None:
            k_BKSH, v_BKSH = cache.append(k_BKSH, v_BKSH)
        return k_BKSH, v_BKSH, offset

    @classmethod
    def from_torch(cls, layer: nn.MultiheadAttention) -> "MultiHeadAttention":
        """Copy torch's own layer, so that the two can be compared.

        Args:
            layer: torch's layer, with or without biases. Its batch_first is not copied: x is (B, T, D) here.

        Returns:
            A layer of this class with the same weights, transposed to the book's order, on the same device
            and in the same dtype.

        Raises:
            ValueError: If the layer does what this one cannot: other widths for keys and values, added bias
                keys, an added zero key, or dropout while training.
        """
        d_model, n_heads = layer.embed_dim, layer.num_heads
        if not layer._qkv_same_embed_dim:
            raise ValueError(f"kdim {layer.kdim} and vdim {layer.vdim} must equal embed_dim {d_model}")
        if layer.bias_k is not None or layer.add_zero_attn:
            raise ValueError("a layer with add_bias_kv or add_zero_attn has keys that this class does not know")
        if layer.dropout > 0 and layer.training:
            raise ValueError(f"the layer drops {layer.dropout:g} of its weights while training; call eval() first")
        bias = layer.in_proj_bias is not None
        attention = cls(d_model, n_heads, bias=bias).to(layer.in_proj_weight)
        with torch.no_grad():
            for w, torch_weight in zip(
                (attention.w_q, attention.w_k, attention.w_v), layer.in_proj_weight.chunk(3), strict=True
            ):
                w.copy_(torch_weight.mT)
            attention.w_o.copy_(layer.out_proj.weight.mT)
            if bias:
                packed = (*layer.in_proj_bias.chunk(3), layer.out_proj.bias)
                for name, torch_weight in zip(("b_q", "b_k", "b_v", "b_o"), packed, strict=True):
                    attention.get_parameter(name).copy_(torch_weight)
        return attention.train(layer.training)

    def extra_repr(self) -> str:
        """Name the sizes when the layer is printed."""
        return (
            f"D={self.d_model}, N={self.n_heads}, K={self.n_kv_heads}, H={self.head_width}, bias={self.b_q is not None}"
        )

    def _check_inputs(self, x: Tensor, x_kv: Tensor) -> None:
        for name, tensor, axes in (("x", x, "(B, T, D)"), ("x_kv", x_kv, "(B, S, D)")):
            if tensor.ndim != 3 or tensor.shape[-1] != self.d_model:
                raise ValueError(f"{name} has shape {tuple(tensor.shape)}; wanted {axes} with D = {self.d_model}")
            check_weights(tensor, self.w_q, name)
        if x.shape[0] != x_kv.shape[0]:
            raise ValueError(f"x has {x.shape[0]} sequences, x_kv has {x_kv.shape[0]}: they must be equal")


def watched(watch: Watch, z: Tensor, weights: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Show the weights and the heads' outputs z to a function, and go on with what it returns.

    Values v that heads share have an axis of length 1 for them.

    Where the function has changed the weights, the outputs that are returned follow from them.
    """
    new_weights = watch("weights", weights)
    return watch("heads", z if new_weights is weights else new_weights @ v), new_weights


def _project(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
    # x @ w + b in one step, as in the feed-forward network.
    return F.linear(x, w.mT, b)


def _heads(y: Tensor, n_heads: int, norm: RMSNorm | None) -> Tensor:
    # A gain as wide as all heads normalises before the cut, a gain of one head's width after it.
    if norm is None:
        return split_heads(y, n_heads)
    if len(norm.gain) == y.shape[-1]:
        return split_heads(norm(y), n_heads)
    return norm(split_heads(y, n_heads))


def _with_sinks(
    sinks_N: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    # One key and one value more, both of zeros: the score is the bias alone, which is the sink's logit, and the share
    # of the softmax that it takes adds nothing. Every kernel can do that, and shifts the logit by the row's maximum.
    n_keys, nothing = k.shape[2], (0, 0, 0, 1)
    bias = k.new_zeros(1, n_keys) if bias is None else bias.to(k.dtype)
    rows = torch.broadcast_shapes(bias.shape[:-1], (len(sinks_N), 1))
    columns = (bias.expand(*rows, n_keys), sinks_N.to(k.dtype)[:, None, None].expand(*rows, 1))
    if mask is not None:
        mask = mask.expand(*mask.shape[:-1], n_keys)
        mask = torch.cat((mask, torch.ones_like(mask[..., :1])), dim=-1)
    return F.pad(k, nothing), F.pad(v, nothing), mask, torch.cat(columns, dim=-1)
