"""One layer of an encoder or a decoder: sublayers, each with a residual connection and a norm."""

from collections.abc import Callable
from functools import partial

from jaxtyping import Bool, Float
from torch import Tensor, nn

from softlookup.model.cache import LayerCache
from softlookup.model.config import Config
from softlookup.model.experts import Experts, Router
from softlookup.model.feedforward import FeedForward
from softlookup.model.latent_attention import LatentAttention
from softlookup.model.masks import CausalMask
from softlookup.model.multihead import MultiHeadAttention
from softlookup.model.norms import LayerNorm, RMSNorm
from softlookup.model.relative import ShawBias, TransformerXLBias
from softlookup.model.trace import Trace


def norm_of(config: Config) -> nn.Module:
    """Make the norm that a description asks for.

    Returns:
        A LayerNorm or an RMSNorm of width D.
    """
    kind = LayerNorm if config.norm == "layer" else RMSNorm
    return kind(config.d_model, eps=config.norm_eps)


class Residual(nn.Module):
    """x + sublayer(norm(x)), or norm(x + sublayer(x)): where the norm stands decides how gradients travel.

    Args:
        config: Whose norm, place of the norm and dropout are taken.

    Source: Vaswani et al. 2017, section 3.1 (post-LN) and 5.4 (dropout before adding); Xiong et al. 2020 (pre-LN).
    Book: 07_encoder.html#encoder-residual.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = norm_of(config)
        self.pre_norm = config.pre_norm
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
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class Layer(nn.Module):
    """Self-attention, cross-attention if there is an encoder to look at, then the feed-forward network.

    An encoder's layer is this with two sublayers, a decoder's with three, a decoder-only model's with two and a
    causal mask: the mask comes from outside.

    Args:
        config: Sizes and parts.
        cross: Whether the layer looks at an encoder's output.

    Source: Vaswani et al. 2017, section 3.1.
    Book: 07_encoder.html#encoder-layer, 08_decoder_and_masks.html#decoder-layer.
    """

    def __init__(self, config: Config, *, cross: bool = False) -> None:
        super().__init__()
        self.attention = (
            _attention_of(config, relative=_relative_of(config)) if config.latent_width is None else _latent_of(config)
        )
        self.attention_residual = Residual(config)
        self.cross_attention = _attention_of(config) if cross else None
        self.cross_residual = Residual(config) if cross else None
        self.feed_forward = _feed_forward_of(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "..."] | CausalMask | None = None,
        memory: Float[Tensor, "B S D"] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        bias: Float[Tensor, "..."] | None = None,
        rotary: nn.Module | None = None,
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

        def look(x: Tensor) -> Tensor:
            watch = None if trace is None else partial(trace.see, index)
            if isinstance(self.attention, LatentAttention):
                writing = cache is not None and cache.length > 0
                y = self.attention(x, mask, cache=cache, absorbed=writing, watch=watch)
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

        x = self.attention_residual(x, look)
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
    )


def _latent_of(config: Config) -> LatentAttention:
    assert config.latent_width is not None
    return LatentAttention(
        config.d_model,
        config.n_heads,
        d_latent=config.latent_width,
        head_width=config.head_width or config.d_model // config.n_heads,
        rotary_width=config.latent_rotary_width,
        d_query_latent=config.latent_query_width,
        rotary_base=config.rotary_base,
        rotary_scaling=config.rotary_scaling,
        scale=config.attention_scale,
    )


def _feed_forward_of(config: Config) -> FeedForward | Experts:
    if not config.n_experts:
        return FeedForward(config.d_model, config.d_hidden, activation=config.activation, bias=config.hidden_bias)
    router = Router(config.d_model, config.n_experts, config.experts_per_token, gate=config.expert_gate)
    return Experts(router, config.d_hidden, n_shared=config.n_shared_experts)


def _relative_of(config: Config) -> nn.Module | None:
    head_width = config.head_width or config.d_model // config.n_heads
    if config.positions == "shaw":
        return ShawBias(head_width, config.max_length)
    if config.positions == "transformer_xl":
        return TransformerXLBias(config.n_heads, head_width, config.d_model)
    return None
