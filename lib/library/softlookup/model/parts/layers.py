"""One layer of an encoder or a decoder: sublayers, each with a residual connection and a norm."""

from collections.abc import Callable
from functools import partial

from jaxtyping import Bool, Float
from torch import Tensor, nn

from softlookup.model.parts.cache import LayerCache
from softlookup.model.parts.config import Config
from softlookup.model.parts.decoder_parts import DecoderParts
from softlookup.model.parts.delta_mixer import GatedDeltaMixer
from softlookup.model.parts.experts import Experts, Router
from softlookup.model.parts.feedforward import FeedForward
from softlookup.model.parts.latent_attention import LatentAttention
from softlookup.model.parts.masks import CausalMask
from softlookup.model.parts.multihead import MultiHeadAttention
from softlookup.model.parts.norms import LayerNorm, RMSNorm
from softlookup.model.parts.relative import ShawBias, TransformerXLBias
from softlookup.model.parts.trace import Trace


def norm_of(config: Config) -> nn.Module:
    """Make the norm that a description asks for, of width D."""
    if config.norm == "rms":
        return RMSNorm(config.d_model, eps=config.norm_eps)
    return LayerNorm(config.d_model, eps=config.norm_eps, bias=_parts(config).norm_shift)


def _parts(config: Config) -> DecoderParts:
    return DecoderParts() if config.parts is None else config.parts


class Residual(nn.Module):
    """x + sublayer(norm(x)), or norm(x + sublayer(x)): where the norm stands decides how gradients travel.

    Args:
        config: Whose norm, place of the norm and dropout are taken.

    Source: Vaswani et al. 2017, section 3.1 (post-LN) and 5.4 (dropout before adding); Xiong et al. 2020 (pre-LN).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        parts = _parts(config)
        self.norm = norm_of(config) if parts.norm_place != "after" else nn.Identity()
        self.out_norm = norm_of(config) if parts.norm_place in ("after", "both") else None
        self.pre_norm, self.scale = config.pre_norm, parts.residual_scale
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Float[Tensor, "B T D"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "B T D"]:
        """Add what the sublayer makes of x.

        Args:
            x: The tokens' vectors.
            sublayer: A function from (B, T, D) to (B, T, D).

        Returns:
            The vectors after the sublayer.
        """
        if self.pre_norm:
            return self.add(x, sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))

    def add(self, x: Float[Tensor, "B T D"], y: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Add a sublayer's output to the residual stream.

        Args:
            x: The residual stream.
            y: What the sublayer made of it.

        Returns:
            The sum; where there is a norm behind the sublayer, or a factor, y has passed it.
        """
        y = self.dropout(y if self.out_norm is None else self.out_norm(y))
        return x + (y if self.scale == 1 else y * self.scale)


class Layer(nn.Module):
    """Self-attention, cross-attention if there is an encoder to look at, then the feed-forward network.

    An encoder's layer is this with two sublayers, a decoder's with three, a decoder-only model's with two and a
    causal mask: the mask comes from outside.

    Args:
        config: Sizes and parts.
        cross: Whether the layer looks at an encoder's output.
        linear: Whether it has linear attention by the delta rule in place of self-attention.

    Source: Vaswani et al. 2017, section 3.1.
    """

    attention: MultiHeadAttention | LatentAttention | GatedDeltaMixer

    def __init__(self, config: Config, *, cross: bool = False, linear: bool = False) -> None:
        super().__init__()
        if linear:
            self.attention = GatedDeltaMixer(config)
        elif config.latent_width is not None:
            self.attention = _latent_of(config)
        else:
            self.attention = _attention_of(config, relative=_relative_of(config))
        self.attention_residual = Residual(config)
        self.cross_attention = _attention_of(config) if cross else None
        self.cross_residual = Residual(config) if cross else None
        self.feed_forward = _feed_forward_of(config)
        self.feed_forward_residual = Residual(config)
        self.side_by_side = _parts(config).norm_place == "shared"
        if self.side_by_side:
            self.feed_forward_residual.norm = nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "..."] | CausalMask | None = None,
        memory: Float[Tensor, "B S D"] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        bias: Float[Tensor, "..."] | None = None,
        rotary: nn.Module | None = None,
        real: Bool[Tensor, "B T"] | None = None,
        cache: LayerCache | None = None,
        cross_cache: LayerCache | None = None,
        trace: Trace | None = None,
        index: int = 0,
    ) -> Float[Tensor, "B T D"]:
        """Refine every token's vector once.

        Args:
            x: The tokens' vectors.
            mask: Which token may attend to which in self-attention; True = may attend.
            memory: The encoder's output, where the layer has cross-attention.
            memory_mask: Which of its positions may be looked at, (B, 1, 1, S).
            bias: Numbers added to the scores of self-attention.
            rotary: What turns queries and keys of self-attention to their places.
            real: Which of the tokens are no padding, for linear attention, which has no mask; None: all.
            cache: Keys and values of the tokens before x.
            cross_cache: The encoder's keys and values, kept from the first call on.
            trace: Where to leave what is computed, and what to compute on with instead; None takes the fused path.
            index: Which layer of its stack this one is, as the trace counts them.

        Returns:
            The refined vectors.

        Raises:
            ValueError: If the layer has cross-attention and no memory is given, or the other way round.
        """
        if (memory is None) != (self.cross_attention is None):
            problem = "has no cross-attention" if self.cross_attention is None else "looks at an encoder's output"
            raise ValueError(f"memory is {'missing' if memory is None else 'given'}, but this layer {problem}")

        def self_attend(x: Tensor) -> Tensor:
            watch = None if trace is None else partial(trace.see, index)
            if isinstance(self.attention, LatentAttention):
                writing = cache is not None and cache.length > 0
                y = self.attention(x, mask, cache=cache, absorbed=writing, watch=watch)
            elif isinstance(self.attention, GatedDeltaMixer):
                y = self.attention(x, real, cache=cache)
            else:
                y = self.attention(x, None, mask, bias=bias, rotary=rotary, cache=cache, watch=watch)
            return y if watch is None else watch("attention", y)

        def look_at_memory(x: Tensor) -> Tensor:
            assert self.cross_attention is not None
            watch = None if trace is None else partial(trace.see, index, cross=True)
            y = self.cross_attention(x, memory, memory_mask, cache=cross_cache, watch=watch)
            return y if watch is None else watch("attention", y)

        def think(x: Tensor) -> Tensor:
            y = self.feed_forward(x)
            return y if trace is None else trace.see(index, "feed_forward", y)

        if self.side_by_side:
            normed = self.attention_residual.norm(x)
            return self.feed_forward_residual.add(self.attention_residual.add(x, self_attend(normed)), think(normed))
        x = self.attention_residual(x, self_attend)
        if self.cross_residual is not None:
            x = self.cross_residual(x, look_at_memory)
        return self.feed_forward_residual(x, think)


def _attention_of(config: Config, relative: nn.Module | None = None) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.d_model,
        config.n_heads,
        head_width=config.head_width,
        n_kv_heads=config.n_kv_heads,
        bias=config.attention_bias,
        scale=config.attention_scale,
        relative=relative,
        qk_norm=config.qk_norm,
        norm_eps=config.norm_eps,
        sinks=config.attention_sinks,
        qkv_bias=_parts(config).qkv_bias or config.attention_bias,
        score_cap=_parts(config).score_cap,
        norm_turned=_parts(config).norm_turned,
        gated=_parts(config).output_gate,
    )


def _latent_of(config: Config) -> LatentAttention:
    assert config.latent_width is not None
    return LatentAttention(
        config.d_model,
        config.n_heads,
        d_latent=config.latent_width,
        head_width=config.head_width or config.d_model // config.n_heads,
        rotary_width=config.latent_rotary_width,
        value_width=_parts(config).value_width,
        d_query_latent=config.latent_query_width,
        rotary_base=config.rotary_base,
        rotary_scaling=config.rotary_scaling,
        scale=config.attention_scale,
    )


def _feed_forward_of(config: Config) -> FeedForward | Experts:
    if not config.n_experts:
        return FeedForward(config.d_model, config.d_hidden, activation=config.activation, bias=config.hidden_bias)
    sizes = config.d_model, config.n_experts, config.experts_per_token
    if (routed := _parts(config).experts) is None:
        return Experts(Router(*sizes, gate=config.expert_gate), config.d_hidden, n_shared=config.n_shared_experts)
    router = Router(
        *sizes,
        gate=config.expert_gate,
        renormalise=routed.renormalise,
        factor=routed.factor,
        groups=routed.groups,
        chosen_groups=routed.chosen_groups,
        logit_bias=routed.clamp is not None,
    )
    return Experts(
        router,
        config.d_hidden,
        shared_width=routed.shared_width,
        shared_gate=routed.shared_gate,
        clamp=routed.clamp,
    )


def _relative_of(config: Config) -> nn.Module | None:
    head_width = config.head_width or config.d_model // config.n_heads
    if config.positions == "shaw":
        return ShawBias(head_width, config.max_length)
    if config.positions == "transformer_xl":
        return TransformerXLBias(config.n_heads, head_width, config.d_model)
    return None
