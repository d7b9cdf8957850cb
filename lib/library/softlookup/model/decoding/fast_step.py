"""The fast way to write: the plain model's own weights and memory, the same logits, and less time for each token.

One new token is multiplied so little that what stands around the products decides how long its step takes: calls of
modules, weights looked up by name, checks of shapes that cannot have changed, dropout that drops nothing. Here all that
is settled once, query, key and value come from one product, and so do both halves of a gated feed-forward network. On
a CPU the weights themselves are what a step waits for, so they are laid out once in the order in which they are read:
a tied table by columns for one token, and for tokens of several sequences all matrices as oneDNN wants them, where
that is quicker than MKL's product of the plain ones (on some processors it is by far, on others never).

softlookup.model's other files stay the text to read. This gives the same logits up to rounding (test).
"""

import timeit
from collections.abc import Callable
from functools import cache, partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.parts._sizes import check_ids
from softlookup.model.parts.attention import fused_attention
from softlookup.model.parts.cache import KVCache, LayerCache
from softlookup.model.parts.config import WRITING, check_parts
from softlookup.model.parts.feedforward import _ACTIVATIONS, FeedForward
from softlookup.model.parts.head import Head
from softlookup.model.parts.layers import Layer
from softlookup.model.parts.multihead import MultiHeadAttention
from softlookup.model.parts.norms import LayerNorm, RMSNorm
from softlookup.model.parts.positions import RotaryPositions
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.transformer import Transformer
from softlookup_inside.torch_internals import packed_weight, product_by_packed

_KNOWN = WRITING | {
    "positions": (
        "sinusoidal", "sinusoidal_halves", "learned", "rotary", "rotary_halves", "alibi", "t5", "none",
    ),
    "n_segments": (),
    "mlm_transform": (False, True),
}  # fmt: skip


class FastStep:
    """Stands in for a model where text is written: generate(FastStep(model), ...), and beam_search likewise.

    The prompt, and prompts that are filled up, go the plain way; single tokens go the short one. Both share one state.

    Args:
        model: A decoder-only model or an encoder-decoder, in eval mode. The matrices of query, key and value are copied
            side by side, as are those of a gate and of what it gates; absolute positions are copied, and on a CPU a
            tied table too. Once the model has learnt more or has been moved, make a new FastStep.

    Raises:
        TypeError: If the model is neither.
        ValueError: If it is in training mode, or has parts that this path does not know; the message names them.
    """

    def __init__(self, model: DecoderLM | Transformer) -> None:
        if not isinstance(model, DecoderLM | Transformer):
            raise TypeError(f"model is a {type(model).__name__}; wanted a DecoderLM or a Transformer")
        if model.training:
            raise ValueError("model is in training mode, and this path drops nothing: call eval() first")
        check_parts(config := model.config, _KNOWN, "this path")
        self.model = model
        self._logits = _head_of(model.head)
        self._layers = [_FastLayer(layer) for layer in model.decoder.each()]
        self._norm = None if model.decoder.norm is None else _norm_of(model.decoder.norm)
        embedder, self._added_rows = model.embedder, None  # what is added to a token at every position
        if embedder.positions is not None:
            nothing = torch.zeros(1, config.max_length, config.d_model).to(embedder.tokens.table)
            with torch.no_grad():
                self._added_rows = embedder.positions(nothing)[0]
        self._embedding_norm = None if embedder.norm is None else _norm_of(embedder.norm)
        rotary, table = model.decoder.rotary, model.embedder.tokens.table
        self._turns = None if rotary is None else _Turns(rotary, config.max_length, table)

    def start(self, *args: Tensor) -> KVCache:
        """Make ready to write, as the model itself does.

        Args:
            args: What the model's own start takes: the sources of an encoder-decoder, or the prompts' mask.

        Returns:
            An empty state, which the model itself would take as well.
        """
        return self.model.start(*args)

    @torch.no_grad()
    def step(self, ids: Int[Tensor, "B T"], state: KVCache | None = None) -> tuple[Float[Tensor, "B V"], KVCache]:
        """Take the tokens that the state has not seen yet, and say what comes next.

        Args:
            ids: The prompt at first, then one token at a time.
            state: What start made, or the last call returned; it is added to. An encoder-decoder needs one.

        Returns:
            The logits of the next token, and the state. No gradient flows from them.

        Raises:
            ValueError: If an id has no row, the text grows over the model's length, or the state is another model's.
            TypeError: If the ids are not whole numbers.
        """
        state = self.start() if state is None else state
        model, past_length = self.model, state.length
        if not past_length or ids.shape[1:] != (1,) or state.padding is not None:
            return model.step(ids, state)
        if len(state.layers) != len(self._layers) or (state.cross is None) != isinstance(model, DecoderLM):
            raise ValueError(f"the state, of {len(state.layers)} layers, comes from another kind of model")
        if any(cache.window is not None for cache in state.layers):
            raise ValueError("the state keeps the positions of a window; this path's model has none")
        x_BD = self._embed(ids, past_length)
        decoder = model.decoder
        bias = None if decoder.bias is None else decoder.bias.between(1, past_length + 1, past_length).to(x_BD)
        turn = None if self._turns is None else self._turns.at(past_length)
        for i, layer in enumerate(self._layers):
            cross_cache = None if state.cross is None else state.cross[i]
            x_BD = layer(x_BD, state.layers[i], bias, turn, cross_cache, state.memory_mask)
        x_BD = x_BD if self._norm is None else self._norm(x_BD)
        return self._logits(x_BD), state

    def _embed(self, ids: Tensor, past_length: int) -> Tensor:
        embedder = self.model.embedder
        table, scale = embedder.tokens.table, embedder.tokens.scale
        if embedder.segments is not None or past_length >= self.model.config.max_length or ids.device != table.device:
            return embedder(ids, past_length)[:, 0]  # which adds a segment, or says what is wrong
        try:
            x_BD = torch.embedding(table, ids[:, 0])
        except (IndexError, RuntimeError):
            check_ids("ids", ids, table.shape[0])  # which says what is wrong
            raise
        if scale is not None:
            x_BD = x_BD * scale
        if self._added_rows is not None:
            x_BD = x_BD + self._added_rows[past_length]
        return x_BD if self._embedding_norm is None else self._embedding_norm(x_BD)


class _FastLayer:
    """A layer of a decoder, for one token of each sequence."""

    def __init__(self, layer: Layer) -> None:
        attention, cross, hidden = layer.attention, layer.cross_attention, layer.feed_forward
        # A model with experts or a latent cache is refused before.
        assert isinstance(hidden, FeedForward) and isinstance(attention, MultiHeadAttention)
        self.pre_norm = layer.attention_residual.pre_norm
        self.norm, self.hidden_norm = (
            _norm_of(layer.attention_residual.norm),
            _norm_of(layer.feed_forward_residual.norm),
        )
        self.heads, self.head_width = (
            (attention.n_heads, attention.n_kv_heads, attention.n_kv_heads),
            attention.head_width,
        )
        self.scale, self.grouped = attention.scale, attention.n_kv_heads < attention.n_heads
        b_qkv = None
        if attention.b_q is not None and attention.b_k is not None and attention.b_v is not None:
            b_qkv = torch.cat((attention.b_q, attention.b_k, attention.b_v)).detach()
        self.qkv = _Product(torch.cat((attention.w_q, attention.w_k, attention.w_v), dim=1).detach(), b_qkv)
        self.o = _Product(attention.w_o, attention.b_o)
        if cross is not None and layer.cross_residual is not None:
            self.cross_norm = _norm_of(layer.cross_residual.norm)
            self.cross_q, self.cross_o = _Product(cross.w_q, cross.b_q), _Product(cross.w_o, cross.b_o)
        self.gated, self.gate_and_gated = hidden.w_gate is not None, (hidden.w_1.shape[1],) * 2
        self.first, self.second = _Product(hidden.w_1, hidden.b_1), _Product(hidden.w_2, hidden.b_2)
        if hidden.w_gate is not None:
            b_both = None
            if hidden.b_1 is not None and hidden.b_gate is not None:
                b_both = torch.cat((hidden.b_gate, hidden.b_1)).detach()
            self.first = _Product(torch.cat((hidden.w_gate, hidden.w_1), dim=1).detach(), b_both)
        self.act = _ACTIVATIONS[hidden.activation]

    def __call__(
        self,
        x_BD: Tensor,
        cache: LayerCache,
        bias: Tensor | None,
        turn: Callable[[Tensor], Tensor] | None,
        cross_cache: LayerCache | None,
        memory_mask: Tensor | None,
    ) -> Tensor:
        x_BD = self._added(self.norm, x_BD, self._look, cache, bias, turn)
        if cross_cache is not None:
            x_BD = self._added(self.cross_norm, x_BD, self._look_at_memory, cross_cache, memory_mask)
        return self._added(self.hidden_norm, x_BD, self._feed_forward)

    def _added(
        self, norm: Callable[[Tensor], Tensor], x_BD: Tensor, sublayer: Callable[..., Tensor], *args: object
    ) -> Tensor:
        return x_BD + sublayer(norm(x_BD), *args) if self.pre_norm else norm(x_BD + sublayer(x_BD, *args))

    def _look(
        self, x_BD: Tensor, cache: LayerCache, bias: Tensor | None, turn: Callable[[Tensor], Tensor] | None
    ) -> Tensor:
        heads = self.qkv(x_BD).view(x_BD.shape[0], -1, 1, self.head_width)
        q_BN1H, k_BK1H, v_BK1H = heads.split_with_sizes(self.heads, 1)
        if turn is not None:  # queries and keys at once: they stand side by side, and at the same position
            n_heads, n_kv_heads, _ = self.heads
            q_BN1H, k_BK1H = turn(heads[:, : n_heads + n_kv_heads]).split_with_sizes((n_heads, n_kv_heads), 1)
        k_BKSH, v_BKSH = cache.append(k_BK1H, v_BK1H)
        z_BN1H = fused_attention(q_BN1H, k_BKSH, v_BKSH, None, bias=bias, scale=self.scale, grouped=self.grouped)
        return self.o(z_BN1H.flatten(1))

    def _look_at_memory(self, x_BD: Tensor, cache: LayerCache, mask: Tensor | None) -> Tensor:
        q_BN1H = self.cross_q(x_BD).view(x_BD.shape[0], -1, 1, self.head_width)
        z_BN1H = fused_attention(q_BN1H, cache.k, cache.v, mask, scale=self.scale, grouped=self.grouped)
        return self.cross_o(z_BN1H.flatten(1))

    def _feed_forward(self, x_BD: Tensor) -> Tensor:
        hidden = self.first(x_BD)
        if not self.gated:
            return self.second(self.act(hidden))
        gate_BF, hidden_BF = hidden.split_with_sizes(self.gate_and_gated, -1)
        return self.second(self.act(gate_BF) * hidden_BF)


class _Turns:
    """The rotations of one token's queries and keys, for every position: fewer operations than rotate takes.

    A pair that stands side by side is one complex number, and its turn a product. Of pairs in two halves, the row and
    the row with its halves exchanged are each multiplied once.
    """

    def __init__(self, rotary: RotaryPositions, max_length: int, table: Tensor) -> None:
        dtype = torch.promote_types(table.dtype, torch.float32)
        sin, cos = rotary._rows(torch.arange(max_length, device=table.device)).to(dtype).chunk(2, dim=-1)
        self._turned: Callable[..., Tensor] = _turned_halves
        self._tables: tuple[Tensor, ...] = torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)
        if rotary.pairing == "neighbours":
            self._turned, self._tables = _turned_pairs, (torch.complex(cos, sin),)

    def at(self, position: int) -> Callable[[Tensor], Tensor]:
        """The turn of one position."""
        return partial(self._turned, *(rows[position] for rows in self._tables))


def _turned_pairs(turn: Tensor, x: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.to(turn.dtype.to_real()).unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


def _turned_halves(cos: Tensor, sin: Tensor, x: Tensor) -> Tensor:
    turned = torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, -1), sin)  # rolled by half the width, halves change places
    return turned if turned.dtype == x.dtype else turned.to(x.dtype)


class _Product:
    """x @ w + b for the few rows of a step; on some CPUs by packed weights where there are several rows."""

    def __init__(self, w: Tensor, b: Tensor | None) -> None:
        self.w, self.b = w, b
        self.packed: Tensor | None = None  # made when a second row is first seen: most models write one text at a time
        self.may_pack = w.device.type == "cpu" and w.dtype == torch.float32 and torch.backends.mkldnn.is_available()

    def __call__(self, x: Tensor) -> Tensor:
        if self.may_pack and x.shape[0] > 1 and _packing_pays():
            if self.packed is None:
                self.packed = packed_weight(self.w)
            return product_by_packed(x, self.packed, self.b)
        return torch.mm(x, self.w) if self.b is None else torch.addmm(self.b, x, self.w)


@cache
def _packing_pays() -> bool:
    """Whether a product of few rows is quicker by packed weights on this machine: both are clocked once, for 10 ms.

    The operations that pack are torch's own, not promised to anybody: where one is gone or called otherwise, they do
    not pay.
    """
    x, w = torch.ones(8, 512), torch.ones(512, 2048)
    try:
        products = partial(torch.mm, x, w), partial(product_by_packed, x, packed_weight(w), None)
        products[1]()
    except (AttributeError, RuntimeError, TypeError):
        return False
    plain_s, packed_s = (min(timeit.repeat(product, number=1, repeat=20)) for product in products)
    return packed_s < plain_s


def _head_of(head: Head) -> Callable[[Tensor], Tensor]:
    """The head, whose product with the vocabulary is the largest of a step."""
    w_out = head.w_out if head._tied is None else head._tied[0].table.detach().T
    assert w_out is not None
    if w_out.device.type == "cpu":
        w_out = w_out.contiguous()  # a vector times rows of V numbers reads memory nearly twice as fast
    product = _Product(w_out, head.b_out)

    def logits(x: Tensor) -> Tensor:
        x = x if head.transform is None else head.transform(x)
        return product(x if head.scale is None else x * head.scale)

    return logits


def _norm_of(norm: nn.Module) -> Callable[[Tensor], Tensor]:
    if isinstance(norm, LayerNorm):
        return partial(
            torch.layer_norm, normalized_shape=norm.gain.shape, weight=norm.gain, bias=norm.shift, eps=norm.eps
        )
    assert isinstance(norm, RMSNorm)
    gain = norm.gain.detach()
    if gain.dtype != torch.float32 or gain.device.type != "cpu":
        return partial(torch.rms_norm, normalized_shape=gain.shape, weight=gain, eps=norm.eps)
    # x / sqrt(mean(x^2) + eps), by torch's one kernel for lengths; rms_norm takes six on a CPU.
    width = len(gain)
    scaled, least = gain * width**0.5, torch.tensor((width * norm.eps) ** 0.5)

    def normed(x: Tensor) -> Tensor:
        return x / torch.hypot(torch.linalg.vector_norm(x, dim=-1, keepdim=True), least) * scaled

    return normed
