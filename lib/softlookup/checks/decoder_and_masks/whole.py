"""The last task: an encoder-decoder as a class, equal to nn.Transformer between its embeddings and its logits."""

from typing import Any

import numpy as np

from softlookup.checks.decoder_and_masks import layer, switches
from softlookup.checks.decoder_and_masks.attending import FROM_DECODER
from softlookup.checks.decoder_and_masks.page import PAGE, Flags
from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import gradient_cut, known
from softlookup.checks.task import Case, Mistake, Task

SIZES = 6


def shapes(vocab: int, d: int, n_layers: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights, as a state dict would have them."""
    found: dict[str, tuple[int, ...]] = {"embedding": (vocab, d)}
    for i in range(n_layers):
        own = layer.attention_shapes("attention", d) | layer.think_shapes("feed_forward", d, hidden)
        own |= layer.norm_shapes("norm_1", d) | layer.norm_shapes("norm_2", d)
        found |= {f"encoder.{i}.{name}": shape for name, shape in own.items()}
    for i in range(n_layers):
        found |= {f"decoder.{i}.{name}": shape for name, shape in layer.layer_shapes(d, hidden).items()}
    return found | layer.norm_shapes("encoder_norm", d) | layer.norm_shapes("decoder_norm", d)


def _sentences(rng: Rng, lengths: tuple[int, ...], total: int, vocab: int, pad_id: int) -> np.ndarray:
    free = [n for n in range(vocab) if n != pad_id]
    ids = np.full((len(lengths), total), pad_id)
    for row, n in zip(ids, lengths, strict=True):
        row[:n] = rng.choice(free, size=n)
    return ids.astype(np.int64)


def _case(
    rng: Rng,
    label: str,
    sizes: tuple[int, int, int, int, int, int],
    source: tuple[int, ...],
    target: tuple[int, ...],
    totals: tuple[int, int],
    dtype: str = "float32",
    **more: Any,
) -> Case:
    """Sizes are V, D, N, F, L and the id of padding; then the real tokens of each source and target."""
    vocab, d, _, hidden, n_layers, pad_id = sizes
    named = shapes(vocab, d, n_layers, hidden)
    weights = layer.drawn(rng, named, dtype)
    weights[0] = normal(rng, vocab, d, dtype=dtype, scale=d**-0.5)
    ids = (
        _sentences(rng, source, totals[0], vocab, pad_id),
        _sentences(rng, target, totals[1], vocab, pad_id),
    )
    if more.get("gradients") == "all":
        more["gradients"] = tuple(range(SIZES, SIZES + len(named)))
        more["upstream"] = normal(rng, len(source), totals[1], vocab, dtype=dtype)
    return Case(label, (*sizes, *weights, *ids), sizes=SIZES, parameters=tuple(named), **more)


def _cases(rng: Rng) -> list[Case]:
    one = (9, 6, 3, 5, 1, 0)
    return [
        _case(rng, "one layer, two sentences, S = 5, T = 4", one, (5, 3), (4, 4), (5, 4), tolerance=3e-5),
        _case(rng, "two layers, D = 4, N = 2", (7, 4, 2, 6, 2, 0), (4, 2), (3, 3), (4, 3), tolerance=3e-5),
        _case(
            rng,
            "the French sentence's sizes: S = T = 8, D = 4",
            (12, 4, 2, 16, 1, 0),
            (7,),
            (8,),
            (8, 8),
            tolerance=3e-5,
        ),
        _case(rng, "B = T = S = 3, the pad is 5", (8, 6, 2, 4, 1, 5), (3, 1, 2), (3, 3, 3), (3, 3), tolerance=3e-5),
        _case(rng, "targets filled up too", (8, 4, 1, 4, 1, 0), (3, 4), (2, 5), (4, 5), part="mask", tolerance=3e-5),
        _case(rng, "one word so far", (6, 4, 2, 3, 1, 1), (4, 2), (1, 1), (4, 1), part="mask", tolerance=3e-5),
        _case(
            rng,
            "gradients of all weights",
            (7, 4, 2, 3, 1, 0),
            (3, 2),
            (2, 2),
            (3, 2),
            "float64",
            gradients="all",
            part="gradient",
        ),
    ]


def _whole(vocab: int, d_model: int, n_heads: int, d_hidden: int, n_layers: int, pad_id: int, *given: Any) -> Any:
    """Torch's own encoder and decoder, between embeddings and logits written out."""
    import torch

    names = tuple(shapes(vocab, d_model, n_layers, d_hidden))
    w = dict(zip(names, given, strict=False))
    source, target = given[len(names) :]
    table = w["embedding"]
    options: dict[str, Any] = {"dropout": 0.0, "norm_first": True, "batch_first": True, "dtype": table.dtype}

    def embedded(ids: Any) -> Any:
        place = torch.arange(ids.shape[1], dtype=table.dtype)[:, None]
        even = torch.arange(0, d_model, 2, dtype=table.dtype)
        angle = place * torch.exp(-even / d_model * np.log(10000.0))
        added = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        return torch.nn.functional.embedding(ids, table) * d_model**0.5 + added

    def run(stack: Any, part: str, converted: Any, *inputs: Any, **masks: Any) -> Any:
        loaded = {f"norm.{kind}": w[f"{part}_norm.{kind}"] for kind in ("weight", "bias")}
        for i in range(n_layers):
            own = switches.within(w, f"{part}.{i}")
            loaded |= {f"layers.{i}.{name}": tensor for name, tensor in converted(own).items()}
        return torch.func.functional_call(stack, loaded, inputs, masks)

    def encoder_names(own: dict[str, Any]) -> dict[str, Any]:
        return layer.torch_attention("attention", own, "self_attn") | layer.torch_rest(own, 2)

    norm = torch.nn.LayerNorm(d_model, dtype=table.dtype)
    hidden = source.eq(pad_id)
    one = torch.nn.TransformerEncoderLayer(d_model, n_heads, d_hidden, **options)
    encoder = torch.nn.TransformerEncoder(one, n_layers, norm, enable_nested_tensor=False)
    memory = run(encoder, "encoder", encoder_names, embedded(source), src_key_padding_mask=hidden)
    other = torch.nn.TransformerDecoderLayer(d_model, n_heads, d_hidden, **options)
    decoder = torch.nn.TransformerDecoder(other, n_layers, norm)
    future = torch.ones(target.shape[1], target.shape[1]).triu(1).bool()
    y = run(
        decoder,
        "decoder",
        layer.torch_decoder_layer,
        embedded(target),
        memory,
        tgt_mask=future,
        memory_key_padding_mask=hidden,
    )
    return y @ table.T


def _whole_mistaken(
    flags: Flags, vocab: int, d_model: int, n_heads: int, d_hidden: int, n_layers: int, pad_id: int, *given: np.ndarray
) -> np.ndarray:
    names = tuple(shapes(vocab, d_model, n_layers, d_hidden))
    w = dict(zip(names, given, strict=False))
    source, target = given[len(names) :]
    table = w["embedding"]

    def embedded(ids: np.ndarray) -> np.ndarray:
        x = table[ids] * (1 if "embedding-not-scaled" in flags else table.dtype.type(np.sqrt(d_model)))
        if "no-positions" in flags:
            return x
        return (x + switches.sinusoidal(ids.shape[1], d_model).astype(x.dtype)).astype(x.dtype)

    def final(x: np.ndarray, part: str) -> np.ndarray:
        if "no-final-norms" in flags or f"no-{part}-norm" in flags:
            return x
        name = "decoder_norm" if "norms-exchanged" in flags and part == "encoder" else f"{part}_norm"
        return switches.layer_norm(flags, x, w[f"{name}.weight"], w[f"{name}.bias"])

    real = (source != pad_id)[:, None, None, :]
    t = target.shape[1]
    past = np.tri(t, dtype=bool)
    if "target-padding-hidden" in flags:
        past = past & (target != pad_id)[:, None, None, :]
    everything = np.ones((1, 1), dtype=bool)
    x, kept = embedded(source), []
    inside = flags & {"post-norm"}
    for i in range(n_layers):
        own = switches.within(w, f"encoder.{0 if 'layers-shared' in flags else i}")
        look = everything if "encoder-sees-padding" in flags or "padding-seen" in flags else real
        if "encoder-is-causal" in flags:
            look = look & np.tri(source.shape[1], dtype=bool)
        x = switches.encoder_layer(inside, own, x, n_heads, look)
        kept.append(x)
    memory = embedded(source) if "encoder-skipped" in flags else final(x, "encoder")
    seen = everything if "cross-sees-padding" in flags or "padding-seen" in flags else real
    seen = (target != pad_id)[:, None, None, :] if "target-mask-in-cross" in flags else seen
    y = embedded(target)
    for i in range(n_layers):
        own = switches.within(w, f"decoder.{0 if 'layers-shared' in flags else i}")
        look = everything if "future-seen" in flags else past
        read = y if "cross-looks-at-itself" in flags else kept[i] if "layer-by-layer" in flags else memory
        y = switches.decoder_layer(inside, own, y, read, n_heads, look, seen)
    y = final(y, "decoder")
    if "last-position-alone" in flags:
        y = y[:, -1:]
    logits = y @ table.T
    if "probabilities" in flags:
        logits = np.exp(logits - logits.max(-1, keepdims=True))
        return logits / logits.sum(-1, keepdims=True)
    return logits


ENCODED = "memory = self.encoder_norm(x)"
ACROSS = "y = layer(y, memory, past, real)"
REAL = "real = padding_mask(source_ids, self.pad_id)"
PAST = "past = causal_mask(length, length)"
OUT = "return self.decoder_norm(y) @ self.embedding.T"
ROOT = " * math.sqrt(self.embedding.shape[1])"

TRANSFORMER = Task(
    id="08.transformer",
    name="Transformer",
    title="Your own encoder-decoder",
    points=8,
    minutes=30,
    difficulty=3,
    page=PAGE,
    anchor="decoder-whole",
    returns=("logits",),
    cases=_cases,
    oracle=_whole,
    mistaken=_whole_mistaken,
    parts={"core": 0.65, "mask": 0.2, "gradient": 0.15},
    forbids=layer.PARTS,
    mistakes=(
        known(
            "future-seen",
            (PAST, "past = torch.ones(1, 1, dtype=torch.bool)"),
            says="The decoder sees the future: its self-attention needs the causal mask. In training it would copy the "
            "next word, and know nothing when it has to write.",
        ),
        known(
            "padding-seen",
            (REAL, "real = torch.ones(1, 1, dtype=torch.bool)"),
            says="The source's padding is looked at, in the encoder and from the decoder: hide it in both.",
        ),
        known(
            "encoder-sees-padding",
            ("x = layer(x, real)", "x = layer(x, torch.ones(1, 1, dtype=torch.bool))"),
            says="The encoder looks at its padding: the padding mask belongs to its self-attention as well.",
        ),
        known(
            "cross-sees-padding",
            (ACROSS, ACROSS.replace("real", "torch.ones(1, 1, dtype=torch.bool)")),
            says="Cross-attention looks at the source's padding: what the encoder has made of it is no word either.",
        ),
        known(
            "target-mask-in-cross",
            (ACROSS, ACROSS.replace("real", "padding_mask(target_ids, self.pad_id)")),
            says="Cross-attention hides the padding of the target: it looks at the source, so the source's counts.",
            number=60,
        ),
        known(
            "target-padding-hidden",
            (PAST, PAST + " & padding_mask(target_ids, self.pad_id)"),
            says="The target's padding is hidden too. It stands behind the words, where the causal mask hides it from "
            "every word already; this task asks for the causal mask alone.",
        ),
        known(
            "encoder-is-causal",
            ("x = layer(x, real)", "x = layer(x, real & causal_mask(x.shape[1], x.shape[1]))"),
            says="The encoder is kept from looking ahead: the source is known as a whole, and only padding is hidden.",
        ),
        known(
            "cross-looks-at-itself",
            (ACROSS, ACROSS.replace("memory", "y")),
            says=FROM_DECODER,
            number=59,
        ),
        known(
            "layer-by-layer",
            ("x = layer(x, real)", "x = layer(x, real)\n            kept.append(x)"),
            ("x = self.embed(source_ids)", "x, kept = self.embed(source_ids), []"),
            ("for layer in self.decoder:", "for layer, memory in zip(self.decoder, kept):"),
            says="Decoder layer i looks at encoder layer i: every one of them looks at the END of the encoder, after "
            "its final norm.",
        ),
        known(
            "encoder-skipped",
            (ENCODED, "memory = self.embed(source_ids)"),
            says="The decoder looks at the source's embeddings: it is to look at what the encoder has made of them.",
        ),
        known(
            "no-final-norms",
            (ENCODED, "memory = x"),
            (OUT, "return y @ self.embedding.T"),
            says="The final norms are missing: where each layer norms first, the sums that leave the stack are normed "
            "once more, in the encoder and in the decoder.",
            number=43,
        ),
        known("no-encoder-norm", (ENCODED, "memory = x"), says="The encoder's final norm is missing."),
        known(
            "no-decoder-norm",
            (OUT, "return y @ self.embedding.T"),
            says="The decoder's final norm is missing: it comes before the logits.",
        ),
        known(
            "norms-exchanged",
            (ENCODED, "memory = self.decoder_norm(x)"),
            says="The encoder ends in the decoder's norm: it has one of its own.",
        ),
        known(
            "embedding-not-scaled",
            (ROOT, ""),
            says="The embeddings are not multiplied by the root of D before positions are added.",
            number=32,
        ),
        known(
            "no-positions",
            (" + sinusoidal(ids.shape[1], self.embedding.shape[1]).to(self.embedding)", ""),
            says="No positions are added: the encoder could not tell one order of the words from another.",
        ),
        known(
            "layers-shared",
            ("for layer in self.encoder:", "for layer in [self.encoder[0]] * len(self.encoder):"),
            ("for layer in self.decoder:", "for layer in [self.decoder[0]] * len(self.decoder):"),
            says="The first layer is run again and again: each has weights of its own.",
            number=47,
        ),
        known(
            "last-position-alone",
            (OUT, OUT.replace("(y)", "(y[:, -1:])")),
            says="Only the last position's logits come back: there is a prediction at every position, all at once.",
        ),
        known(
            "probabilities",
            (OUT, "return torch.softmax(self.decoder_norm(y) @ self.embedding.T, dim=-1)"),
            says="These are probabilities: logits are asked for. The loss takes the softmax itself.",
            number=64,
        ),
        Mistake(
            "other-parameters",
            "The model's parameters are not those that were asked for: `embedding`, the layers in `encoder` and "
            "`decoder`, `encoder_norm`, `decoder_norm`, and no others (the output matrix is the embedding's table).",
            None,
            (
                (
                    "self.decoder_norm = nn.LayerNorm(d_model)",
                    "self.decoder_norm = nn.LayerNorm(d_model)\n        self.w_out = nn.Parameter("
                    "torch.empty(d_model, vocab_size))",
                ),
            ),
            symptom="no-parameter",
        ),
        gradient_cut((OUT, "return (self.decoder_norm(y) @ self.embedding.T).detach()")),
    ),
)
