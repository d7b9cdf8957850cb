"""A published config, read: its parameters by part, the bytes of its cache, operations for a token, and its layers."""

from collections.abc import Mapping
from typing import Any

import traitlets

from softlookup.describing.layer_sizes import AttentionSizes, LatentSizes
from softlookup.roofline.config_json import Config, cache_bytes, cache_rows, layers, sizes, token_operations
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

LENGTHS = tuple(2**power for power in range(8, 18))
"""Lengths of the text that can be chosen, in tokens."""
BYTES_EACH = {2: "16 bits", 1: "8 bits"}


def summarize(config: Config) -> dict[str, Any]:
    """Write down what the script needs of one config."""
    model = layers(config)
    counts, rows, mixer = sizes(model), cache_rows(model), model.layers[0].parts[0]
    assert isinstance(mixer, AttentionSizes | LatentSizes)
    query = mixer.width if isinstance(mixer, AttentionSizes) else mixer.plain + mixer.rotary
    value = mixer.value_width if isinstance(mixer, AttentionSizes) else mixer.value
    return {
        "parts": {
            "table of tokens": counts.embedding,
            "output matrix": counts.output,
            "attention": counts.attention,
            "feed-forward": counts.feed_forward - counts.unchosen,
            "experts not chosen": counts.unchosen,
            "norms": counts.norms,
        },
        "active": counts.active,
        "products": counts.in_products,
        "windows": [row.window or 0 for row in rows],
        "rotary": list(model.rotary or [True] * len(model.layers)),
        "numbers": rows[0].numbers,
        "full": mixer.heads * (query + value),
        "mixed": rows[0].mixed,
    }


def describe(config: Config, length: int, each: int) -> dict[str, int]:
    """Compute what the figure shows of a config.json, for a text of so many tokens."""
    counts, summary = sizes(config), summarize(config)
    weights, mixing = token_operations(config, length)
    return {
        "total": counts.total,
        "active": counts.active,
        "cache": cache_bytes(config, length, each),
        "plain": each * summary["full"] * length * config["num_hidden_layers"],
        "weights": weights,
        "mixing": mixing,
    }


def static_table(configs: Mapping[str, Config]) -> str:
    """Write all models at one length as HTML, for readers whose browser runs no script."""
    length, rows = LENGTHS[-3], []
    for name, config in configs.items():
        now = describe(config, length, 2)
        counts = (f"{now[count_name] / 1e9:.2f}" for count_name in ("total", "active"))
        rows.append((name, *counts, f"{now['cache'] / 1e6:,.0f}", f"{(now['weights'] + now['mixing']) / 1e9:.1f}"))
    head = ("model", "billion parameters", "of them for one token", f"MB of cache at {length:,} tokens")
    return plain_table((*head, "GFLOP for the next token"), rows)


class ConfigReader(InteractiveFigure):
    """Choose a model, move the length of the text, and read off what the config fixes; configs are by name."""

    models = traitlets.Dict(help="what the script needs of each model").tag(sync=True)
    first = traitlets.Unicode(help="the model shown first").tag(sync=True)
    lengths = traitlets.List(traitlets.Int(), list(LENGTHS), help="lengths to choose from").tag(sync=True)
    numbers = traitlets.List(traitlets.List(), help="bytes of a number, with a name").tag(sync=True)

    def __init__(self, configs: Mapping[str, Config], first: str) -> None:
        super().__init__(
            models={name: summarize(config) for name, config in configs.items()},
            first=first,
            numbers=[[each, name] for each, name in BYTES_EACH.items()],
            fallback=static_table(configs),
        )
