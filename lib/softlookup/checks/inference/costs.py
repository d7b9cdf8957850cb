"""Tasks that count: the bytes of a cache, and what writing costs with one and without."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.inference.page import PAGE
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _bytes_cases(rng: Rng) -> list[Case]:
    drawn = [int(n) for n in rng.integers(2, 9, size=4)]
    sizes = (
        (2, 4, 2, 3, 5, 7, 4),
        (drawn[0], 6, 3, drawn[1], drawn[2], 10 * drawn[3] + 1, 2),
        (32, 32, 8, 128, 1, 8192, 2),
        (12, 12, 12, 64, 8, 1024, 4),
        (80, 64, 8, 128, 16, 4096, 1),
        (3, 5, 1, 4, 2, 6, 8),
    )
    return [Case(f"(L, N, K, H, B, S, bytes) = {one}", one, frame="plain") for one in sizes]


def _bytes(layers: int, n: int, kv: int, width: int, batch: int, tokens: int, each: int) -> int:
    """A tensor of keys and values on the device that holds no numbers."""
    import torch

    kind = {1: torch.int8, 2: torch.float16, 4: torch.float32, 8: torch.float64}[each]
    cache = torch.empty(layers, 2, batch, kv, tokens, width, dtype=kind, device="meta")
    return cache.numel() * cache.element_size()


CACHE_BYTES = Task(
    id="10.cache-bytes",
    name="cache_bytes",
    title="The cache in bytes",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="inference-memory",
    returns=("bytes",),
    cases=_bytes_cases,
    oracle=_bytes,
    frame="plain",
    mistakes=(
        known(
            "query-heads",
            ("n_kv_heads *", "n_heads *"),
            says="The query heads are counted: queries are not kept. There are K heads of keys and of values.",
            number=83,
        ),
        known(
            "keys-alone",
            ("= 2 * n_layers", "= n_layers"),
            says="Keys or values are missing: both are kept, which makes it twice as much.",
            number=79,
        ),
        known(
            "queries-kept-too",
            ("2 * n_layers * batch * n_kv_heads", "n_layers * batch * (n_heads + 2 * n_kv_heads)"),
            says="Queries are counted beside keys and values: they have been asked, and are not kept.",
            number=83,
        ),
        known(
            "all-heads",
            ("* n_kv_heads *", "* n_heads * n_kv_heads *"),
            says="Both numbers of heads are multiplied in: it is the K key-value heads alone.",
            number=83,
        ),
        known(
            "always-half",
            ("numbers * bytes_each", "numbers * 2"),
            says="Two bytes are counted for each number, whatever was asked.",
            number=80,
        ),
        known(
            "one-token",
            (" * n_tokens", ""),
            says="One token is counted: each of the n_tokens has a key and a value.",
        ),
        known(
            "numbers",
            ("numbers * bytes_each", "numbers"),
            says="These are numbers, not bytes: each takes more than one.",
            number=80,
        ),
        known(
            "bits",
            ("numbers * bytes_each", "numbers * bytes_each * 8"),
            says="These are bits: a byte has 8 of them.",
            number=80,
        ),
        known(
            "one-layer",
            ("2 * n_layers *", "2 *"),
            says="One layer is counted: each of the L layers keeps keys and values of its own.",
        ),
        known("one-text", (" * batch", ""), says="One text is counted: each of the batch has a cache."),
        known(
            "width-forgotten",
            (" * head_width", ""),
            says="A key is counted as one number: it has H of them.",
        ),
        known(
            "scores-kept",
            ("* n_tokens *", "* n_tokens**2 *"),
            says="It grows with the square of the length, as the scores do: of each token one key and one value are "
            "kept.",
        ),
    ),
)


def _cost_cases(rng: Rng) -> list[Case]:
    p, m = (int(n) for n in rng.integers(4, 30, size=2))
    sizes = ((2, 3), (1, 1), (1, 6), (10, 1), (5, 5), (p, m), (128, 128))
    return [Case(f"a prompt of {p}, {m} new tokens", (p, m), frame="plain") for p, m in sizes]


def _cost(n_prompt: int, n_new: int) -> Any:
    """Counted one by one, as a program would run them."""
    again = [list(range(length)) for length in range(n_prompt, n_prompt + n_new)]
    fed = [list(range(n_prompt)), *([length] for length in range(n_prompt, n_prompt + n_new - 1))]
    tokens = [sum(map(len, steps)) for steps in (again, fed)]
    scores = [sum(place + 1 for step in steps for place in step) for steps in (again, fed)]
    return tuple(np.array(n) for n in (tokens[0], tokens[1], scores[0], scores[1]))


HALF, HALF_CACHED = "n * (n + 1) // 2 for n", "tokens_cached * (tokens_cached + 1) // 2"
FOUND = "return tokens_again, tokens_cached, scores_again, scores_cached"

COST = Task(
    id="10.cost",
    name="writing_cost",
    title="What writing costs",
    points=3,
    minutes=12,
    difficulty=2,
    page=PAGE,
    anchor="inference-training",
    returns=("tokens again", "tokens cached", "scores again", "scores cached"),
    cases=_cost_cases,
    oracle=_cost,
    frame="plain",
    mistakes=(
        known(
            "last-fed-too",
            ("n_prompt + n_new - 1", "n_prompt + n_new"),
            says="With a cache the last token is fed in too: nobody asks what follows it.",
            number=77,
        ),
        known(
            "one-late",
            ("range(n_prompt, n_prompt + n_new)", "range(n_prompt + 1, n_prompt + n_new + 1)"),
            says="Computed again, every step is one token too long: the first new token comes out of the prompt alone.",
            number=77,
        ),
        known(
            "prompt-free",
            ("n_prompt + n_new - 1", "n_new"),
            says="The prompt is not counted: its tokens run through the model too, once.",
        ),
        known(
            "full-square",
            (HALF, "n * n for n"),
            (HALF_CACHED, "tokens_cached * tokens_cached"),
            says="Full squares are counted: a token may look back and at itself, which is a little more than half.",
            number=82,
        ),
        known(
            "itself-not-counted",
            (HALF, "n * (n - 1) // 2 for n"),
            (HALF_CACHED, "tokens_cached * (tokens_cached - 1) // 2"),
            says="The diagonal is left out: a token also looks at itself.",
            number=82,
        ),
        known(
            "one-row-again",
            (HALF, "n for n"),
            says="Computed again, only the newest token's row of scores is counted: all rows are made once more.",
        ),
        known(
            "scores-as-tokens",
            (HALF_CACHED, "tokens_cached"),
            says="With a cache one score is counted for each token: each new token makes a row, as long as the text.",
        ),
        known(
            "prompt-rows-free",
            (HALF_CACHED, f"{HALF_CACHED} - n_prompt * (n_prompt + 1) // 2"),
            says="With a cache the prompt's own scores are left out: reading it makes its whole triangle, once.",
        ),
        known(
            "prompt-unmasked",
            (HALF_CACHED, f"{HALF_CACHED} + n_prompt * (n_prompt - 1) // 2"),
            says="With a cache the prompt's scores are counted as a full square: it is read under a causal mask too.",
            number=82,
        ),
        known(
            "last-step-alone",
            (f"sum({HALF} in lengths)", "lengths[-1] * (lengths[-1] + 1) // 2"),
            says="Computed again, only the last step's scores are counted: every step makes a triangle.",
        ),
        known(
            "one-step-more",
            ("lengths = range(n_prompt, n_prompt + n_new)", "lengths = range(n_prompt, n_prompt + n_new + 1)"),
            says="Computed again, one step too many is counted: the last token is never fed in.",
            number=77,
        ),
        known(
            "exchanged",
            (FOUND, "return tokens_cached, tokens_again, scores_cached, scores_again"),
            says="The pairs have changed places: computed again first, cached second.",
        ),
    ),
)
