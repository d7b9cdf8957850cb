"""The whole machine on one page: every part of an encoder-decoder says what it does, with a real sentence's numbers."""

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure
from softlookup_course.widgets.machine_parts import PARTS

if TYPE_CHECKING:
    from softlookup.model import Translator

SHOWN_NUMBERS = 4
"""How many of a vector's numbers are shown."""

SHOWN_WORDS = 5
"""How many of the likeliest words are shown."""

NORMS = {
    "encoder": ("attention-norm", "feed-forward-norm", "encoder-norm"),
    "decoder": ("masked-norm", "cross-norm", "decoder-feed-forward-norm", "decoder-norm"),
}
"""The norms of each stack, in the order of the path: one before each sublayer, and one at the end of the stack."""

SUBLAYERS = {
    "encoder": ("attention_residual", "feed_forward_residual"),
    "decoder": ("attention_residual", "cross_residual", "feed_forward_residual"),
}
"""Where a layer of each stack keeps the norms of its sublayers."""


def plain(token: str) -> str:
    """Write a token in a few letters, as a reader would: the sign for a space gone, special tokens in words.

    >>> plain("▁chat"), plain("</s>"), plain("ver")
    ('chat', '(end)', '·ver')
    """
    words_for = {"<s>": "(start)", "</s>": "(end)", "▁": "(space)"}
    if token in words_for:
        return words_for[token]
    if token.startswith("▁"):
        return token[1:]
    return f"·{token}" if token[:1].isalpha() else token


def compute(translator: "Translator", sentence: str) -> dict[str, Any]:
    """Run a sentence and its greedy translation through the machine, and keep what the map shows."""
    import torch

    from softlookup.model import Trace

    model, tokenizer = translator.model, translator.tokenizer
    source_ids = tokenizer.encode(sentence, end=True)
    written = translator.translate(sentence, beams=1)
    target_ids = tokenizer.encode(written.text, start=True, end=True)
    source, target = torch.tensor([source_ids]), torch.tensor([target_ids[:-1]])
    read, wrote = Trace(), Trace()
    with torch.no_grad(), _Watch(model) as watch:
        memory, _ = model.encode(source, trace=read)
        logits = model(source, target, trace=wrote)[0].double()
        plain_rows = model.embedder.tokens(source)
    probabilities = logits.softmax(-1)
    names = tokenizer.vocabulary.token
    best = probabilities.argsort(dim=-1, descending=True)[:, :SHOWN_WORDS]
    return {
        "sentence": sentence,
        "translation": written.text,
        "source": [plain(names(i)) for i in source_ids],
        "source_ids": source_ids,
        "target": [plain(names(i)) for i in target_ids],
        "target_ids": target_ids,
        "vectors": {
            "embedding": _numbers(plain_rows),
            "positions": _numbers(read.states[0]),
            "memory": _numbers(memory),
            "target-embedding": _numbers(wrote.states[0]),
        },
        "weights": {
            "self-attention": [_table(w) for w in read.weights],
            "masked-attention": [_table(w) for w in wrote.weights],
            "cross-attention": [_table(w) for w in wrote.cross_weights],
        },
        # The encoder runs twice above, once alone: its first pass is the one that is kept.
        "active": {
            "feed-forward": watch.active["encoder"][: len(read.weights)],
            "decoder-feed-forward": watch.active["decoder"],
        },
        "norms": watch.first_pass(),
        "lengths": {"residual": _lengths(read.states), "decoder-residual": _lengths(wrote.states)},
        "best": [[plain(names(int(i))) for i in row] for row in best],
        "logits": [[float(logits[t, i]) for i in row] for t, row in enumerate(best)],
        "probabilities": [[float(probabilities[t, i]) for i in row] for t, row in enumerate(best)],
    }


class _Watch:
    """Watch a model run: how many hidden units are above zero, and how long vectors are before and after each norm."""

    def __init__(self, model: Any) -> None:
        self.active: dict[str, list[list[int]]] = {side: [] for side in NORMS}
        self._layers = [(side, layer.feed_forward) for side in NORMS for layer in getattr(model, side).each()]
        self._norms = _norms(model)
        self._lengths: dict[str, list[list[list[float]]]] = {norm_name: [] for norm_name in self._norms}
        self._handles: list[Any] = []

    def first_pass(self) -> dict[str, list[list[list[float]]]]:
        """For each norm, by name and layer: the lengths of all tokens' vectors before it, and after it."""
        return {norm_name: self._lengths[norm_name][: len(same)] for norm_name, same in self._norms.items()}

    def __enter__(self) -> "_Watch":
        def count(side: str) -> Any:
            def before(network: Any, inputs: Any) -> None:
                hidden = inputs[0] @ network.w_1 + network.b_1
                self.active[side].append((hidden > 0).sum(-1)[0].tolist())

            return before

        def measure(norm_name: str) -> Any:
            def after(norm: Any, inputs: Any, output: Any) -> None:
                self._lengths[norm_name].append(_lengths([inputs[0], output]))

            return after

        self._handles = [network.register_forward_pre_hook(count(side)) for side, network in self._layers]
        for norm_name, same in self._norms.items():
            self._handles += [norm.register_forward_hook(measure(norm_name)) for norm in same]
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()


def _norms(model: Any) -> dict[str, list[Any]]:
    """The norms by name, one for each layer; at the end of a stack there is one alone."""
    norms: dict[str, list[Any]] = {}
    for side, (*inside, last) in NORMS.items():
        stack = getattr(model, side)
        for norm_name, sublayer in zip(inside, SUBLAYERS[side], strict=True):
            norms[norm_name] = [getattr(layer, sublayer).norm for layer in stack.each()]
        norms[last] = [stack.norm]
    return norms


def _numbers(rows: Any) -> list[list[float]]:
    return rows[0, :, :SHOWN_NUMBERS].double().tolist()


def _table(weights_BNTS: Any) -> list[list[float]]:
    return weights_BNTS[0].double().mean(dim=0).tolist()


def _lengths(states: Sequence[Any]) -> list[list[float]]:
    return [state[0].double().norm(dim=-1).tolist() for state in states]


def sizes(translator: "Translator") -> dict[str, Any]:
    """Give the machine's D, N, H, F, V and L, and the parameters that each part adds in all layers."""
    model = translator.model
    config = model.config

    def count(*modules: Any) -> int:
        return sum(p.numel() for module in modules if module is not None for p in module.parameters())

    encoder, decoder = list(model.encoder.each()), list(model.decoder.each())
    return {
        "letters": {
            "D": config.d_model,
            "N": config.n_heads,
            "H": config.head_width or config.d_model // config.n_heads,
            "F": config.d_hidden,
            "V": config.vocab_size,
            "L": config.n_layers,
        },
        "parameters": {
            "embedding": count(model.embedder),
            "self-attention": count(*(layer.attention for layer in encoder)),
            "feed-forward": count(*(layer.feed_forward for layer in encoder)),
            "masked-attention": count(*(layer.attention for layer in decoder)),
            "cross-attention": count(*(layer.cross_attention for layer in decoder)),
            "decoder-feed-forward": count(*(layer.feed_forward for layer in decoder)),
            **{norm_name: count(*same) for norm_name, same in _norms(model).items()},
        },
        "all": count(model),
    }


def sharpest_layer(runs: Sequence[dict[str, Any]]) -> int:
    """Find the layer in which cross-attention is most decided: the one to begin with.

    >>> even, decided = [[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]
    >>> sharpest_layer([{"weights": {"cross-attention": [even, decided, even]}}])
    1
    """
    layers = zip(*(run["weights"]["cross-attention"] for run in runs), strict=True)
    largest = [[max(row) for table in tables for row in table] for tables in layers]
    means = [sum(maxima) / len(maxima) for maxima in largest]
    return means.index(max(means))


def static_list(parts: Sequence[dict[str, Any]]) -> str:
    """Write the parts as an HTML list, for readers whose browser runs no script."""
    rows = "".join(
        f"<li><strong>{escape(part['name'])}</strong> ({escape(part['side'])}): {escape(part['does'])}</li>"
        for part in parts
    )
    sentence = (
        "The encoder-decoder, part by part. With scripts switched on, each part shows the numbers of a real sentence."
    )
    return f"<p>{sentence}</p><ol>{rows}</ol>"


class MachineMap(InteractiveFigure):
    """An encoder-decoder (pre-LN) as a map: choose a part, or follow a sentence from its words to the next word.

    Source: Vaswani et al. 2017, figure 1; Xiong et al. 2020 (pre-LN).
    """

    parts = traitlets.List(traitlets.Dict(), help="the fields of each Part, in the order of the path").tag(sync=True)
    sizes = traitlets.Dict(help="what `sizes` returned").tag(sync=True)
    runs = traitlets.List(traitlets.Dict(), help="what `compute` returned for each sentence").tag(sync=True)
    chosen = traitlets.Int(0, help="index of the sentence shown").tag(sync=True)
    place = traitlets.Int(0, help="index of the part shown").tag(sync=True)
    layer = traitlets.Int(0, help="index of the layer shown").tag(sync=True)
    word = traitlets.Int(1, help="index of the token that is followed through the encoder").tag(sync=True)
    step = traitlets.Int(0, help="index of the token that is being written").tag(sync=True)

    def __init__(self, translator: "Translator", sentences: Sequence[str]) -> None:
        runs = [compute(translator, sentence) for sentence in sentences]
        records = [asdict(part) for part in PARTS]
        super().__init__(
            parts=records, sizes=sizes(translator), runs=runs, layer=sharpest_layer(runs), fallback=static_list(records)
        )
