"""The fast way to a training loss: the plain model's own weights, the same numbers, and less time.

These make the difference on a CPU, and all but the last help on a GPU as well:

* products in bfloat16, which such machines multiply at several times their float32 rate; sums, norms, softmax and the
  weights themselves stay in float32;
* the vocabulary's logits are made for real tokens only, a thousand rows at a time, and their gradient at once: the
  (tokens, V) matrix, the largest of the whole step, never exists, and each step's logits stand where the last one's
  stood;
* query, key and value come from one product, and so do the keys and values of cross-attention;
* the weights of all layers are copied to the products' dtype in one call, and their gradients back in one;
* dropout draws eight decisions from each 64-bit random number, instead of one decision from each number;
* attention over short sentences has its backward pass written by hand (short_attention.py).

softlookup.model stays the text to read. Without dropout and in float32, this gives the same loss and gradients (test).
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.parts._sizes import check_ids
from softlookup.model.parts.config import SIZES, check_parts
from softlookup.model.parts.feedforward import FeedForward
from softlookup.model.parts.layers import Layer, Residual
from softlookup.model.parts.masks import causal_mask
from softlookup.model.parts.multihead import MultiHeadAttention
from softlookup.model.whole.objectives import teacher_forcing
from softlookup.model.whole.stack import Decoder, Encoder
from softlookup.model.whole.transformer import Transformer
from softlookup.training.data import Batch
from softlookup.training.short_attention import ShortAttention
from softlookup.training.vocabulary_loss import VocabularyLoss, fill_up, room_for_logits
from softlookup_inside.torch_internals import copy_each

_KNOWN = SIZES | {
    "n_decoder_layers": (),
    "head_width": (),
    "n_kv_heads": (),
    "positions": ("sinusoidal", "sinusoidal_halves", "learned", "none"),
    "norm": ("layer", "rms"),
    "pre_norm": (False, True),
    "embedding_norm": (False, True),
    "attention_bias": (False, True),
    "hidden_bias": (False, True),
    "attention_scale": (),
    "scale_embeddings": (False, True),
}


class FastLoss:
    """Computes the label-smoothed loss of a Transformer, ready for backward().

    The model has tied embeddings, and positions that are added to them or none; smoothing puts eps/V on all classes;
    ``dtype`` is that of matrix products; ``chunk`` tokens' logits are held at once. TypeError if it is no Transformer,
    or no floating-point dtype; ValueError for a number out of range or a part, which is named, that is not known here.

    With ``consistency``, while training, each batch is passed twice with other numbers dropped, and this much of the
    two passes' disagreement is added (R-Drop; its alpha is twice this).
    """

    def __init__(
        self,
        model: Transformer,
        *,
        epsilon: float = 0.0,
        dtype: torch.dtype = torch.bfloat16,
        chunk: int = 1024,
    ) -> None:
        _check(model, epsilon, dtype, chunk)
        self.model, self.epsilon = model, epsilon
        self.dtype, self.chunk = dtype, chunk
        self._logits: Tensor | None = None
        self._joined: dict[Tensor, Tensor] = {}  # the weights that products are done with, during a call

    def __call__(
        self, source_ids: Int[Tensor, "B S"], inputs: Int[Tensor, "B T"], labels: Int[Tensor, "B T"]
    ) -> Float[Tensor, ""]:
        """Give the mean loss of a token.

        All ids are filled up with pad_id on the right. It is the smoothed cross-entropy in nats, a mean over the labels
        that are not padding. ValueError if sizes differ, ids have no row, a sentence is too long or holds nothing but
        padding, or all labels are padding; TypeError if ids are not whole numbers.
        """
        model, pad_id = self.model, self.model.config.pad_id
        self._check_ids(source_ids, inputs, labels)
        real = (labels != pad_id).flatten().nonzero()[:, 0]

        # Padding hides behind the words of its sentence: the causal mask is enough for the target, as in the model.
        source = _Rectangle(source_ids, (source_ids != pad_id)[:, None, :])
        target = _Rectangle(inputs, causal_mask(inputs.shape[1], device=inputs.device)[None])
        self._joined = _joined(model, self.dtype)
        rows = model.embedder.tokens(torch.cat((source.ids.flatten(), target.ids.flatten()))[None])[0]
        source_rows, target_rows = rows.split((source.ids.numel(), target.ids.numel()))
        memory = self._embed(source_rows, source)
        for layer in model.encoder.each():
            memory = self._layer(layer, memory, source)
        memory = _last_norm(model.encoder, memory).to(self.dtype)
        x = self._embed(target_rows, target)
        for layer in model.decoder.each():
            x = self._layer(layer, x, target, memory, source)
        x = _last_norm(model.decoder, x)
        self._joined = {}
        states, real_labels = x.index_select(0, real), labels.flatten().index_select(0, real)
        table = model.embedder.tokens.table
        loss: Tensor = VocabularyLoss.apply(
            states, table, real_labels, self.epsilon, self.dtype, self.chunk, self._room(states)
        )
        return loss

    def summed(self, batch: Batch) -> Float[Tensor, ""]:
        """Give the summed loss of a batch on the model's device, in the form that the training loop asks for.

        ValueError if the batch has no sources, or another id of padding than the model.
        """
        if batch.source_ids is None:
            raise ValueError("the batch has no source_ids: this path trains encoder-decoders")
        if batch.pad_id != self.model.config.pad_id:
            raise ValueError(
                f"the batch is padded with id {batch.pad_id}, the model takes {self.model.config.pad_id} for padding"
            )
        inputs, labels = teacher_forcing(batch.target_ids, batch.pad_id)
        return self(batch.source_ids, inputs, labels) * batch.tokens

    def _room(self, states: Tensor) -> Tensor:
        """Give the memory for a chunk's logits and keep it: new memory costs more time than what is written there."""
        n = len(states)
        if self._logits is None or len(self._logits) < min(self.chunk, n) or self._logits.device != states.device:
            self._logits = room_for_logits(n, self.chunk, self.model.embedder.tokens.table, self.dtype)
        return self._logits

    def _check_ids(self, source_ids: Tensor, inputs: Tensor, labels: Tensor) -> None:
        config = self.model.config
        for name, ids in (("source_ids", source_ids), ("inputs", inputs), ("labels", labels)):
            check_ids(name, ids, config.vocab_size, config.max_length)
        if inputs.shape != labels.shape or len(source_ids) != len(inputs):
            raise ValueError(
                f"source_ids, inputs and labels have shapes {tuple(source_ids.shape)}, {tuple(inputs.shape)} and "
                f"{tuple(labels.shape)}; wanted (B, S), (B, T) and (B, T)"
            )
        if labels.device != inputs.device:
            raise ValueError(f"inputs are on {inputs.device}, labels on {labels.device}: move one to the other")
        if (labels == config.pad_id).all():
            raise ValueError(f"all labels are padding (id {config.pad_id}): there is nothing to learn from")
        if (source_ids == config.pad_id).all(dim=1).any():
            raise ValueError(f"a sentence of source_ids is nothing but padding (id {config.pad_id}); wanted a token")

    def _embed(self, rows: Tensor, rectangle: "_Rectangle") -> Tensor:
        embedder = self.model.embedder
        x = rows.view(*rectangle.ids.shape, -1)
        if embedder.positions is not None:
            x = embedder.positions(x)
        if embedder.norm is not None:
            x = embedder.norm(x)
        return rectangle.rows(self._dropped(x, embedder.dropout))

    def _layer(
        self,
        layer: Layer,
        x: Tensor,
        rectangle: "_Rectangle",
        memory: Tensor | None = None,
        memory_rectangle: "_Rectangle | None" = None,
    ) -> Tensor:
        def self_attend(h: Tensor) -> Tensor:
            assert isinstance(layer.attention, MultiHeadAttention)  # a latent cache is refused before
            return self._self_attention(layer.attention, h, rectangle)

        def look_at_memory(h: Tensor) -> Tensor:
            assert layer.cross_attention is not None and memory is not None and memory_rectangle is not None
            return self._cross_attention(layer.cross_attention, h, rectangle, memory, memory_rectangle)

        x = self._residual(layer.attention_residual, x, self_attend)
        if layer.cross_residual is not None:
            x = self._residual(layer.cross_residual, x, look_at_memory)
        return self._residual(layer.feed_forward_residual, x, lambda h: self._feed_forward(layer.feed_forward, h))

    def _residual(self, residual: Residual, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if residual.pre_norm:
            return x + self._dropped(sublayer(residual.norm(x).to(self.dtype)), residual.dropout)
        return residual.norm(x + self._dropped(sublayer(x.to(self.dtype)), residual.dropout))

    def _self_attention(self, layer: MultiHeadAttention, x: Tensor, rectangle: "_Rectangle") -> Tensor:
        qkv = self._linear(x, layer.w_q, layer.b_q)
        return self._linear(self._attend(layer, qkv, None, rectangle, rectangle), layer.w_o, layer.b_o)

    def _cross_attention(
        self, layer: MultiHeadAttention, x: Tensor, queries: "_Rectangle", memory: Tensor, keys: "_Rectangle"
    ) -> Tensor:
        q = self._linear(x, layer.w_q, layer.b_q)
        kv = self._linear(memory, layer.w_k, layer.b_k)
        return self._linear(self._attend(layer, q, kv, queries, keys), layer.w_o, layer.b_o)

    def _attend(
        self,
        layer: MultiHeadAttention,
        rows: Tensor,
        memory_rows: Tensor | None,
        queries: "_Rectangle",
        keys: "_Rectangle",
    ) -> Tensor:
        """Let queries in rows look at the keys and values beside them, or in the rows of a memory; give rows."""
        n_heads, n_kv_heads, width = layer.n_heads, layer.n_kv_heads, layer.head_width
        if rows.is_cuda:
            heads = queries.heads(rows, width)
            kv = heads[n_heads:] if memory_rows is None else keys.heads(memory_rows, width)
            q, k, v = (t.transpose(0, 1) for t in (heads[:n_heads], *kv.chunk(2)))
            z = F.scaled_dot_product_attention(
                q, k, v, keys.mask[:, None], scale=layer.scale, enable_gqa=n_kv_heads < n_heads
            )
            return queries.rows(z.transpose(1, 2).flatten(2))
        scale = width**-0.5 if layer.scale is None else layer.scale
        group = n_heads // n_kv_heads
        sizes = (*queries.ids.shape, keys.ids.shape[1], n_kv_heads, group, width)
        unseen = keys.unseen(n_kv_heads, group, queries.ids.shape[1], torch.promote_types(self.dtype, torch.float32))
        attended: Tensor = ShortAttention.apply(rows, memory_rows, unseen, sizes, scale)
        return attended

    def _feed_forward(self, layer: nn.Module, x: Tensor) -> Tensor:
        assert isinstance(layer, FeedForward)  # a model with experts is refused before
        hidden = self._linear(x, layer.w_1, layer.b_1)
        return self._linear(F.relu(hidden, inplace=True), layer.w_2, layer.b_2)

    def _linear(self, x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        """Multiply by the matrices that begin with w, side by side, and add their biases."""
        return x @ self._joined[w] if b is None else torch.addmm(self._joined[b], x, self._joined[w])

    def _dropped(self, x: Tensor, dropout: nn.Dropout) -> Tensor:
        if not dropout.training or dropout.p == 0:
            return x
        return x * keep_mask(x, dropout.p)


def quick_dtype(device: torch.device | str) -> torch.dtype:
    """Say in which dtype a device multiplies matrices quickest without losing float32's range.

    It is bfloat16 where the hardware has it, else float32.
    """
    if torch.device(device).type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float32
    # Without such instructions bfloat16 is emulated, and slower than float32.
    tests = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    return torch.bfloat16 if any(test is not None and test() for test in tests) else torch.float32


def keep_mask(x: Float[Tensor, "..."], probability: float) -> Float[Tensor, "..."]:
    """Decide for each number of x whether dropout keeps it, eight decisions from each random number.

    0 with the probability, rounded to a 256th, else 1 over what remains of 1. ValueError if the probability, rounded,
    is not at least 0 and below 1.
    """
    threshold = round(probability * 256)
    if not 0 <= threshold < 256:
        raise ValueError(f"probability is {probability}; wanted at least 0, and below 1 by a 512th")
    if threshold == 0:
        return torch.ones_like(x)
    numbers = torch.empty((x.numel() + 7) // 8, dtype=torch.int64, device=x.device)
    numbers.random_(torch.iinfo(torch.int64).min, None)  # all 64 bits: the default leaves the sign bit at 0
    mask = numbers.view(torch.uint8)[: x.numel()].view(x.shape)
    # 1 from the threshold on, else 0: a comparison says the same, but takes five times as long on bytes.
    mask = mask.clamp_(threshold - 1, threshold).sub_(threshold - 1)
    return mask.to(x.dtype).mul_(256 / (256 - threshold))


class _Rectangle:
    """A batch's sentences, where they lie among the rows of a product, and what of them may be seen."""

    def __init__(self, ids: Tensor, mask: Tensor) -> None:
        """Take the ids (B, T), and the mask (B or 1, T or 1, T): True = may be seen."""
        self.ids, self.mask = ids, mask
        self._unseen: dict[tuple[int, int, int, torch.dtype], Tensor] = {}

    def rows(self, x: Tensor) -> Tensor:
        """Lay (B, T, D) out as rows, filled up."""
        return fill_up(x.flatten(0, 1))

    def heads(self, rows: Tensor, width: int) -> Tensor:
        """Take the filling rows off and cut the rest into heads, (heads, B, T, H)."""
        x = rows[: self.ids.numel()].view(*self.ids.shape, -1, width)
        return x.permute(2, 0, 1, 3).contiguous()

    def unseen(self, n_kv_heads: int, group: int, n_queries: int, dtype: torch.dtype) -> Tensor:
        """Give what is added to the scores, (K*B, G*T, S): 0 where seen, else the lowest number. Made once."""
        key = (n_kv_heads, group, n_queries, dtype)
        if key not in self._unseen:
            bias = torch.zeros(self.mask.shape, dtype=dtype, device=self.mask.device)
            bias = bias.masked_fill_(~self.mask, torch.finfo(dtype).min)[:, None]
            shape = (n_kv_heads, len(self.ids), group, n_queries, self.ids.shape[1])
            self._unseen[key] = bias.expand(shape).flatten(2, 3).flatten(0, 1)
        return self._unseen[key]


class _SideBySide(torch.autograd.Function):
    """Copy matrices side by side, in another dtype, and their gradients back: all of a model's in one call."""

    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, counts: Sequence[int], *parts: Tensor) -> tuple[Tensor, ...]:
        """Join the first counts[0] parts along their last axis, then the next counts[1], and so on."""
        joined, views, start = [], [], 0
        for count in counts:
            group = parts[start : start + count]
            start += count
            widths = [part.shape[-1] for part in group]
            joined.append(group[0].new_empty((*group[0].shape[:-1], sum(widths)), dtype=dtype))
            views += joined[-1].split(widths, dim=-1)
        copy_each(views, parts)
        ctx.parts, ctx.counts = [(part.shape, part.dtype) for part in parts], counts
        return tuple(joined)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Cut the gradients apart again."""
        gradients = [grads[0].new_empty(shape, dtype=dtype) for shape, dtype in ctx.parts]
        views, start = [], 0
        for grad, count in zip(grads, ctx.counts, strict=True):
            views += grad.split([part.shape[-1] for part in gradients[start : start + count]], dim=-1)
            start += count
        copy_each(gradients, views)
        return None, None, *gradients


def _joined(model: Transformer, dtype: torch.dtype) -> dict[Tensor, Tensor]:
    """Give the layers' weights in another dtype, those of one product side by side, by the first of each."""
    groups: list[tuple[Tensor | None, ...]] = []
    for layer in (*model.encoder.each(), *model.decoder.each()):
        hidden, attention, cross = layer.feed_forward, layer.attention, layer.cross_attention
        assert isinstance(hidden, FeedForward) and isinstance(
            attention, MultiHeadAttention
        )  # others are refused before
        groups += [(attention.w_q, attention.w_k, attention.w_v), (attention.w_o,), (hidden.w_1,), (hidden.w_2,)]
        groups += [(attention.b_q, attention.b_k, attention.b_v), (attention.b_o,), (hidden.b_1,), (hidden.b_2,)]
        if cross is not None:
            groups += [(cross.w_q,), (cross.w_k, cross.w_v), (cross.w_o,)]
            groups += [(cross.b_q,), (cross.b_k, cross.b_v), (cross.b_o,)]
    parts = [[part for part in group if part is not None] for group in groups if group[0] is not None]
    joined = _SideBySide.apply(dtype, [len(group) for group in parts], *(part for group in parts for part in group))
    return {group[0]: tensor for group, tensor in zip(parts, joined, strict=True)}


def _last_norm(stack: Encoder | Decoder, x: Tensor) -> Tensor:
    return x if stack.norm is None else stack.norm(x)


def _check(model: Transformer, epsilon: float, dtype: torch.dtype, chunk: int) -> None:
    if not isinstance(model, Transformer):
        raise TypeError(f"the model is a {type(model).__name__}; the fast path trains a Transformer")
    check_parts(model.config, _KNOWN, "the fast path")
    if not dtype.is_floating_point:
        raise TypeError(f"dtype is {dtype}; wanted a floating-point dtype")
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"epsilon is {epsilon}; wanted a share from 0 to 1")
    if chunk < 1:
        raise ValueError(f"chunk is {chunk}; wanted at least 1 token")
