"""A cache that grows step by step: what runs through the model, what is kept, how many bytes, how many scores."""

from collections.abc import Sequence
from typing import Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

LAYERS = (1, 4, 12, 32, 80)
"""Numbers of layers that can be chosen."""
KV_HEADS = (1, 2, 4, 8)
"""Numbers of key-value heads that can be chosen, of 8 query heads."""
N_HEADS = 8
HEAD_WIDTHS = (4, 64, 128)
BYTES_EACH = {2: "half precision", 4: "float32"}
OPTIONS: dict[str, Any] = {
    "layers": list(LAYERS),
    "kv_heads": list(KV_HEADS),
    "heads": N_HEADS,
    "widths": list(HEAD_WIDTHS),
    "bytes": [[each, name] for each, name in BYTES_EACH.items()],
}


def describe(
    n_tokens: int, prompt: int, step: int, *, cached: bool, n_layers: int, n_kv_heads: int, head_width: int, each: int
) -> dict[str, int]:
    """Compute what the figure shows at one pass, from 1, of a text of ``n_tokens``, its prompt among them."""
    lengths = [prompt + i for i in range(step)]  # what each pass has seen when it ends
    length = lengths[-1]
    fed = [prompt] + [1] * (step - 1) if cached else lengths
    scores = [sum(range(end - new + 1, end + 1)) for end, new in zip(lengths, fed, strict=True)]
    n_cached = length if cached else 0
    return {
        "length": length,
        "through": fed[-1],
        "through_total": sum(fed),
        "kept": n_cached,
        "bytes": 2 * n_layers * n_kv_heads * n_cached * head_width * each,
        "scores": scores[-1],
        "scores_total": sum(scores),
    }


def static_table(tokens: Sequence[str], prompt: int) -> str:
    """Write the steps with a cache and without as HTML, for readers whose browser runs no script."""
    sizes = {"n_layers": 4, "n_kv_heads": 8, "head_width": 64, "each": 2}
    rows = []
    for step in range(1, len(tokens) - prompt + 1):
        cached, again = (describe(len(tokens), prompt, step, cached=c, **sizes) for c in (True, False))
        name = f"{step}: {tokens[prompt + step - 1]}"
        rows.append((name, again["through"], cached["through"], cached["kept"], f"{cached['bytes']:,}"))
    head = ("pass, and the token written", "tokens in, no cache", "tokens in, cached", "tokens cached")
    sentence = (
        f"<p>A text of {len(tokens)} tokens is generated, of which the first {prompt} are the prompt. With scripts "
        "switched on, you can follow it step by step.</p>"
    )
    return sentence + plain_table((*head, "bytes, 4 layers of 8 heads of 64 in half precision"), rows)


class CacheGrowth(InteractiveFigure):
    """Write a text step by step, with a cache and without; its first tokens are the prompt."""

    tokens = traitlets.List(traitlets.Unicode(), help="the text").tag(sync=True)
    prompt = traitlets.Int(help="tokens of the prompt").tag(sync=True)
    options = traitlets.Dict(default_value=OPTIONS, help="sizes to choose from").tag(sync=True)

    def __init__(self, tokens: Sequence[str], prompt: int) -> None:
        words = [str(token) for token in tokens]
        super().__init__(tokens=words, prompt=prompt, fallback=static_table(tokens, prompt))
