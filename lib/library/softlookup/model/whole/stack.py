"""Stacks of layers: the encoder, the decoder, and the way in from token ids to vectors."""

import math
from collections.abc import Iterator
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from softlookup.model.parts.cache import KVCache
from softlookup.model.parts.config import Config
from softlookup.model.parts.distance import ALiBi, T5Bias
from softlookup.model.parts.embeddings import TokenEmbedding
from softlookup.model.parts.layers import Layer, norm_of
from softlookup.model.parts.masks import CausalMask, causal_mask, combine_masks, window_mask
from softlookup.model.parts.positions import Layout, LearnedPositions, Pairing, RotaryPositions, SinusoidalPositions
from softlookup.model.parts.trace import Trace

Columns = TypeVar("Columns", Tensor | None, Tensor | CausalMask | None)


class Embedder(nn.Module):
    """From token ids to the vectors that enter the first layer: embedding, scale, position, dropout.

    Args:
        config: Sizes and parts.

    Source: Vaswani et al. 2017, sections 3.4, 3.5 and 5.4.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        scale = math.sqrt(config.d_model) if config.scale_embeddings else None
        if config.parts is not None and config.parts.embedding_scale is not None:
            scale = config.parts.embedding_scale
        # A row that pads share with a real token (T5 starts its targets with the pad) is that token's, and learns.
        pad_id = None if config.pad_id in (config.start_id, config.end_id) else config.pad_id
        self.tokens = TokenEmbedding(config.vocab_size, config.d_model, scale=scale, pad_id=pad_id)
        self.segments = TokenEmbedding(config.n_segments, config.d_model) if config.n_segments else None
        self.positions: nn.Module | None = None
        if config.positions in ("sinusoidal", "sinusoidal_halves"):
            layout: Layout = "halves" if config.positions.endswith("halves") else "interleaved"
            self.positions = SinusoidalPositions(config.d_model, layout=layout)
        elif config.positions == "learned":
            self.positions = LearnedPositions(config.max_length, config.d_model)
        self.norm = norm_of(config) if config.embedding_norm else None
        self.dropout = nn.Dropout(config.dropout)
        self.config = config

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        offset: int = 0,
        *,
        places: Int[Tensor, "B T"] | None = None,
        segments: Int[Tensor, "B T"] | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Look tokens up, and say where they stand.

        Args:
            ids: Token ids.
            offset: The position of the first of them.
            places: The position of each token, where they are not offset, offset + 1, ... (rows filled up on the
                left).
            segments: The segment of each token, for models that have them; None means segment 0.

        Returns:
            The vectors.

        Raises:
            ValueError: If an id or a segment has no row, there is not one segment for each id, the batch is empty, or
                positions run over the model's length.
            TypeError: If the ids are not whole numbers.
        """
        x_BTD = self.tokens(ids)  # first, since it refuses ids that are none
        if segments is not None and segments.shape != ids.shape:
            raise ValueError(
                f"segments have shape {tuple(segments.shape)}; the ids have {tuple(ids.shape)}: give one for each"
            )
        if offset + ids.shape[1] > self.config.max_length:
            raise ValueError(
                f"{ids.shape[1]} tokens from position {offset} on; the model has positions for {self.config.max_length}"
            )
        if self.segments is not None:
            x_BTD = x_BTD + self.segments(torch.zeros_like(ids) if segments is None else segments)
        elif segments is not None:
            raise ValueError("segments are given, but the model has no embeddings for them (n_segments is 0)")
        if self.positions is not None:
            x_BTD = self.positions(x_BTD, offset) if places is None else self.positions(x_BTD, positions=places)
        if self.norm is not None:
            x_BTD = self.norm(x_BTD)
        return self.dropout(x_BTD)


class _Stack(nn.Module):
    """Layers one after another, with what all of them share: rotary positions, or a bias on the scores."""

    def __init__(self, config: Config, n_layers: int, *, cross: bool, causal: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(config.at(i), cross=cross, linear=config.linear(i)) for i in range(n_layers))
        self.norm = norm_of(config) if config.pre_norm else None
        head_width = config.head_width or config.d_model // config.n_heads
        pairing: Pairing = "halves" if config.positions == "rotary_halves" else "neighbours"
        self.rotary: RotaryPositions | None = None
        self.local_rotary: RotaryPositions | None = None  # of layers with a window, where theirs is another
        parts = config.parts
        if config.is_rotary and config.latent_width is None:
            scaling = config.rotary_scaling
            turned = None if parts is None else parts.turned_width
            self.rotary = RotaryPositions(
                head_width, base=config.rotary_base, pairing=pairing, scaling=scaling, turned_width=turned
            )
            if parts is not None and parts.local_base is not None:
                self.local_rotary = RotaryPositions(head_width, base=parts.local_base, pairing=pairing)
        self.bias: ALiBi | T5Bias | None = None
        if config.positions == "alibi":
            self.bias = ALiBi(config.n_heads, causal=causal)
        elif config.positions == "t5":
            self.bias = T5Bias(config.n_heads, bidirectional=not causal)
        self.windows = [config.window_of(i) for i in range(n_layers)]
        self.config, self.causal = config, causal

    def each(self) -> Iterator[Layer]:
        """Go through the layers, from the first to the last."""
        for layer in self.layers:
            assert isinstance(layer, Layer)
            yield layer

    def _mask(
        self, window: int | None, length: int, offset: int, mask: Tensor | None, device: torch.device
    ) -> Tensor | CausalMask | None:
        if window is not None:
            keys = offset + length
            shape = window_mask(length, window, causal=self.causal, offset=offset, keys=keys, device=device)
            return combine_masks(shape, mask)
        # A single newest token may attend to all there is: no mask is needed, and the kernel runs without one.
        if self.causal and length > 1:
            if mask is None:
                return CausalMask()
            return combine_masks(causal_mask(length, keys=offset + length, offset=offset, device=device), mask)
        return mask

    def _rotary(self, layer: int, mask: Tensor | None) -> nn.Module | None:
        if not self.config.rotates(layer):
            return None
        local = self.windows[layer] is not None and self.local_rotary is not None
        rotary = self.local_rotary if local else self.rotary
        if mask is None or self.config.parts is None or not self.config.parts.norm_turned:
            return rotary
        return _FromFirstToken(rotary, mask[:, 0, 0].int().argmax(dim=-1))

    def _run(
        self,
        x: Tensor,
        mask: Tensor | None,
        memory: Tensor | None,
        memory_mask: Tensor | None,
        cache: KVCache | None,
        trace: Trace | None,
    ) -> Tensor:
        if x.ndim != 3 or x.shape[-1] != self.config.d_model or 0 in x.shape:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; wanted (B, T, D) with D = {self.config.d_model}, none empty"
            )
        offset = 0 if cache is None else cache.length
        masks = {window: self._mask(window, x.shape[1], offset, mask, x.device) for window in {*self.windows}}
        real = None if mask is None or self.config.parts is None else mask[:, 0, 0, -x.shape[1] :]
        bias = None if self.bias is None else self.bias.between(x.shape[1], offset + x.shape[1], offset).to(x)
        if trace is not None:
            trace.check_reach(len(self.layers), cross=memory is not None)
            x = trace.see(0, "state", x)
        for i, layer in enumerate(self.each()):
            gone = 0 if cache is None else offset - cache.layers[i].carried  # keys that a window has let go
            if cache is not None and gone and cache.layers[i].window != self.windows[i]:
                raise ValueError(
                    f"the cache of layer {i} keeps {cache.layers[i].window} positions; the window is {self.windows[i]}"
                )
            x = layer(
                x,
                _from(gone, masks[self.windows[i]]),
                memory,
                memory_mask,
                bias=_from(gone, bias),
                rotary=self._rotary(i, mask),
                real=real,
                cache=None if cache is None else cache.layers[i],
                cross_cache=None if cache is None or cache.cross is None else cache.cross[i],
                trace=trace,
                index=i,
            )
            if trace is not None:
                x = trace.see(i + 1, "state", x)
        return x if self.norm is None else self.norm(x)


class _FromFirstToken(nn.Module):
    """Rotary positions counted from each row's first token.

    Scores know only how far apart positions are, unless queries and keys are normalised after they were turned.
    """

    def __init__(self, rotary: RotaryPositions | None, firsts: Tensor) -> None:
        super().__init__()
        self.rotary, self.firsts = rotary, firsts

    def forward(self, x: Tensor, offset: int) -> Tensor:
        assert self.rotary is not None
        turned: Tensor = self.rotary(x, offset - self.firsts)
        return turned


class Encoder(_Stack):
    """L layers of self-attention and feed-forward network; every token may attend to every other.

    Args:
        config: Sizes and parts.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config, config.n_layers, cross=False, causal=False)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Refine all vectors, layer by layer.

        Args:
            x: The embedded tokens.
            mask: True = may attend; padding of the keys is (B, 1, 1, T).
            trace: Where to leave states and attention weights.

        Returns:
            The refined vectors.

        Raises:
            ValueError: If sizes do not fit.
        """
        return self._run(x, mask, None, None, None, trace)


class Decoder(_Stack):
    """Layers whose tokens may attend back only, and, beside an encoder, at all of its output.

    Args:
        config: Sizes and parts.
        cross: Whether there is an encoder to look at.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: Config, *, cross: bool = True) -> None:
        n_layers = config.n_decoder_layers if cross and config.n_decoder_layers is not None else config.n_layers
        super().__init__(config, n_layers, cross=cross, causal=True)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"] | None = None,
        *,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        cache: KVCache | None = None,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Refine all vectors, layer by layer; the causal mask is applied here.

        Args:
            x: The embedded tokens; with a cache, the newest ones alone.
            memory: The encoder's output, where the decoder looks at one.
            mask: True = may attend, beside the causal mask: padding of the keys is (B, 1, 1, S).
            memory_mask: Which of the encoder's positions may be looked at, (B, 1, 1, S).
            cache: The keys and values of the tokens before x; it is added to.
            trace: Where to leave states and attention weights.

        Returns:
            The refined vectors.

        Raises:
            ValueError: If sizes do not fit, or memory is missing or not wanted.
        """
        return self._run(x, mask, memory, memory_mask, cache, trace)


def _from(start: int, columns: Columns) -> Columns:
    return columns[..., start:] if isinstance(columns, Tensor) and start else columns
