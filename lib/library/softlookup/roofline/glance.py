"""A config.json at a glance: what each layer is, parameters, cache, operations, and a diagram of text."""

from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from softlookup.describing.layer_sizes import LayerSizes, ModelLayers, PartSizes
from softlookup.roofline.config_json import (
    Config,
    cache_bytes,
    cache_rows,
    layers,
    sizes,
    state_numbers,
    token_operations,
)
from softlookup.roofline.layer_counts import part_counts

LONG = 131_072
"""Tokens of a long text: 128k."""


@dataclass(frozen=True)
class ModelGlance:
    """What is shown of a config.

    Attributes:
        model: Its layers.
        total: Parameters.
        active: Of them for one token: all but the experts that are not chosen for it.
        first_bytes: How much the cache grows by a token, while no window is full.
        late_bytes: How much it grows by a token once all windows are full.
        long_bytes: The cache at ``LONG`` tokens.
        state_bytes: Recurrent states, however long the text is.
        weight_flops: Operations with weights for a token.
        long_flops: Operations of scores, mixing and states for a token at the end of ``LONG`` tokens.
        further_layers: Layers behind the last that predict further tokens, which are not counted.
        bytes_each: Bytes of a number in the cache and the states.
    """

    model: ModelLayers
    total: int
    active: int
    first_bytes: float
    late_bytes: float
    long_bytes: int
    state_bytes: int
    weight_flops: int
    long_flops: int
    further_layers: int
    bytes_each: int

    def as_json(self) -> dict[str, Any]:
        """The same as numbers, lists and words alone.

        The counts stand by name; "layers" has layers that are alike once, with their places from 0 and their parts.
        """
        alike: dict[LayerSizes, list[int]] = {}
        for layer_index, layer in enumerate(self.model.layers):
            alike.setdefault(layer, []).append(layer_index)
        return {
            "model_type": self.model.model_type,
            "wrapped_in": self.model.wrapped_in,
            "d_model": self.model.d_model,
            "vocab_size": self.model.vocab_size,
            "tied": self.model.tied,
            "n_layers": len(self.model.layers),
            "long_tokens": LONG,
            **{name: value for name, value in vars(self).items() if name != "model"},
            "layers": [
                {
                    "places": layer_indices,
                    "parts": [
                        {"kind": type(part).__name__.removesuffix("Sizes"), "words": part.words, **asdict(part)}
                        for part in layer.parts
                    ],
                }
                for layer, layer_indices in alike.items()
            ],
        }


def glance(config: Config, bytes_each: int = 2) -> ModelGlance:
    """Read a config and count what is worth a glance.

    Args:
        config: The entries of a config.json.
        bytes_each: Bytes of a number in the cache and the states; 2 in half precision.

    Returns:
        The counts.

    Raises:
        TypeError: If config or its text_config is no mapping.
        ValueError: If the config cannot be read; the message names the entry.
    """
    model = layers(config)
    counts, caches = sizes(model), cache_rows(model)
    weights, mixing = token_operations(model, LONG)
    return ModelGlance(
        model=model,
        total=counts.total,
        active=counts.active,
        first_bytes=bytes_each * sum(rows.numbers / rows.every for rows in caches),
        late_bytes=bytes_each * sum(rows.numbers / rows.every for rows in caches if rows.window is None),
        long_bytes=cache_bytes(model, LONG, bytes_each),
        state_bytes=state_numbers(model) * bytes_each,
        weight_flops=weights,
        long_flops=mixing,
        further_layers=_further(config),
        bytes_each=bytes_each,
    )


def _further(config: Config) -> int:
    """How many layers predict further tokens, which stand beside the model."""
    inner = config.get("text_config") or config
    counts = [inner.get(name) for name in ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers")]
    return next((count for count in counts if isinstance(count, int)), 0)


def formulas(model_glance: ModelGlance) -> dict[str, str]:
    """Write how each count of a glance comes about, layer by layer of its kind.

    Under "total", "active", "cache" and "states" a sum of products, with what each term stands for in brackets; without
    the last two where a model has no cache or no states.
    """
    model = model_glance.model
    kinds: dict[PartSizes, int] = {}
    for part in [*(part for layer in model.layers for part in layer.parts), *model.beside]:
        kinds[part] = kinds.get(part, 0) + 1
    counts = {part: part_counts(part, model.d_model) for part in kinds}
    table = f"{model.vocab_size:,} × {model.d_model:,}"
    terms = [f"{table} [embedding]"] if model.tied else [f"2 × {table} [embedding, output]"]
    terms += [f"{kinds[part]} × {counts[part].parameters:,} [{part.words}]" for part in kinds]
    norms = sum(layer.norms for layer in model.layers) + model.last_norms
    terms += [f"{count:,} [{words}]" for count, words in ((norms, "norms"), (model.tables, "tables")) if count]
    unchosen = [f"{kinds[part]} × {counts[part].unchosen:,}" for part in kinds if counts[part].unchosen]
    caches = [
        f"{kinds[part]} × {rows.rows(LONG):,} × {rows.numbers:,} [{part.words}]"
        for part in kinds
        for rows in counts[part].caches
        if rows.numbers
    ]
    states = [f"{kinds[part]} × {counts[part].state:,} [{part.words}]" for part in kinds if counts[part].state]
    written = {"total": " + ".join(terms), "active": " − ".join([f"{model_glance.total:,}", *unchosen])}
    for name, of_name in (("cache", caches), ("states", states)):
        if of_name:
            written[name] = f"{model_glance.bytes_each} × ({' + '.join(of_name)})"
    return written


def glance_text(counts: ModelGlance) -> str:
    """Write a glance for a terminal: the diagram, then the counts.

    Args:
        counts: What ``glance`` counted.

    Returns:
        Lines of at most some hundred characters.
    """
    model = counts.model
    title = f"{model.model_type}: {len(model.layers):,} layers, width {model.d_model:,}"
    if model.wrapped_in is not None:
        title += f" (the text decoder of {model.wrapped_in}; nothing else of it is counted)"
    active = "" if counts.active == counts.total else f", {_in_words(counts.active)} of them for a token"
    cache = "none"
    if counts.long_bytes:
        cache = f"{counts.first_bytes:,.0f} bytes for a token"
        if counts.late_bytes != counts.first_bytes:
            cache += f", {counts.late_bytes:,.0f} once all windows are full"
        cache += f"; {_short(counts.long_bytes)}B at {LONG:,} tokens"
    lines = [
        title,
        "",
        *diagram(model),
        "",
        f"parameters  {_in_words(counts.total)}{active}",
        f"cache       {cache}",
        *([f"state       {_short(counts.state_bytes)}B, however long the text is"] if counts.state_bytes else []),
        f"operations  {_short(counts.weight_flops)}FLOP with weights for a token,",
        f"            {_short(counts.long_flops)}FLOP more for scores, mixing and states at {LONG:,} tokens",
        "",
        f"Cache and states with {8 * counts.bytes_each} bits for a number. A multiply-add is two operations;",
        "norms, activations and decays are not counted.",
    ]
    if (further := counts.further_layers) > 0:
        also = f"{further} layers that predict" if further > 1 else "one layer that predicts"
        lines.append(f"Not counted either: {also} further tokens.")
    return "\n".join(lines)


def diagram(model: ModelLayers) -> list[str]:
    """Draw a model as lines of text, from the token to the next token's scores.

    Layers that repeat stand in a box once, with how often.
    """
    lines = [f"   embedding {model.vocab_size:,} x {model.d_model:,}"]
    lines += [f"   {model.tables:,} numbers in tables for each layer"] if model.tables else []
    for times, body in repeats(list(model.layers)):
        inner = []
        for count, layer in body:
            first, *others = layer.words
            inner += [f"{f'{count} x' if len(body) > 1 else '':5}{first}", *(f"     {words}" for words in others)]
        inner = inner if len(body) > 1 else [line[5:] for line in inner]
        times = times if len(body) > 1 else times * body[0][0]
        wide = max(map(len, inner))
        head = f" {times} x "
        lines += ["   │", f"┌{head}{'─' * (wide + 2 - len(head))}┐"]
        lines += [*(f"│ {line:{wide}} │" for line in inner), f"└{'─' * (wide + 2)}┘"]
    lines += ["   │", *(f"   {part.words}" for part in model.beside)]
    return [*lines, f"   {'the embedding again' if model.tied else 'an output matrix'}, {model.vocab_size:,} scores"]


def repeats(sequence: list[LayerSizes]) -> list[tuple[int, list[tuple[int, LayerSizes]]]]:
    """Cut a sequence of layers into blocks that repeat.

    Gives for each block how often it stands there, and its runs of equal layers, each with its length.
    """
    blocks, start = [], 0
    while start < len(sequence):
        best = (1, 1)
        for period in range(1, min(24, (len(sequence) - start) // 2) + 1):
            times = 1
            body = sequence[start : start + period]
            while sequence[start + times * period : start + (times + 1) * period] == body:
                times += 1
            if times > 1 and times * period > best[0] * best[1]:
                best = (times, period)
        times, period = best
        runs = groupby(sequence[start : start + period])
        blocks.append((times, [(len(list(equal)), layer) for layer, equal in runs]))
        start += times * period
    return _joined(blocks)


def _joined(
    blocks: list[tuple[int, list[tuple[int, LayerSizes]]]],
) -> list[tuple[int, list[tuple[int, LayerSizes]]]]:
    """Join single layers that follow each other into one box."""
    joined: list[tuple[int, list[tuple[int, LayerSizes]]]] = []
    for times, body in blocks:
        if joined and times == 1 and joined[-1][0] == 1:
            joined[-1][1].extend(body)
        else:
            joined.append((times, list(body)))
    return joined


_LETTERS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_WORDS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def _in_words(parameters: int) -> str:
    """A number of parameters, from a million on in words."""
    return _short(parameters, _WORDS) if parameters >= _WORDS[-1][0] else f"{parameters:,}"


def _short(value: float, units: tuple[tuple[float, str], ...] = _LETTERS) -> str:
    """A number in the largest unit that it has."""
    size, unit = next(((size, unit) for size, unit in units if value >= size), (1, ""))
    return f"{value / size:.3g} {unit}"
