"""Tasks that count whole decoder-only models: parameters, and operations for a token."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch12_counting.counts import plain, product_flops
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _parameter_cases(rng: Rng) -> list[Case]:
    d, f = int(rng.integers(20, 60)), int(rng.integers(61, 200))
    return plain(
        "V, D, N, K, H, F, L, tied",
        (10, 4, 2, 2, 2, 6, 1, True),
        (32000, 4096, 32, 32, 128, 11008, 32, False),
        (128256, 4096, 32, 8, 128, 14336, 32, False),
        (50, 6, 6, 2, 5, 9, 3, True),
        (41, d, 4, 1, 7, f, 5, False),
        (300, d, 9, 3, 7, f, 4, True),
    )


def _parameters(
    vocab_size: int,
    d_model: int,
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    d_hidden: int,
    n_layers: int,
    tied: bool,
) -> tuple[int, int]:
    """Counted on torch's own modules, on the device that holds no numbers."""
    import torch
    from torch import nn

    with torch.device("meta"):
        shapes = [
            (d_model, n_heads * head_width),
            (d_model, n_kv_heads * head_width),
            (d_model, n_kv_heads * head_width),
            (n_heads * head_width, d_model),
            (d_model, d_hidden),
            (d_model, d_hidden),
            (d_hidden, d_model),
        ]
        linear = nn.ModuleList([nn.Linear(*shape, bias=False) for _ in range(n_layers) for shape in shapes])
        norms = nn.ModuleList([nn.RMSNorm(d_model) for _ in range(2 * n_layers + 1)])
        table, last = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, vocab_size, bias=False)
        if tied:
            last.weight = table.weight
        whole = nn.ModuleList([linear, norms, table, last])
    in_products = sum(p.numel() for p in (*linear.parameters(), *last.parameters()))
    return sum(p.numel() for p in whole.parameters()), in_products


PARAMETERS = described("12.parameters", cases=_parameter_cases, oracle=_parameters, frame="plain")


def _token_cases(rng: Rng) -> list[Case]:
    drawn = (int(rng.integers(10**6, 10**8)), int(rng.integers(2, 40)), 6, 50, int(rng.integers(3, 900)))
    return plain(
        "weights in products, L, N, H, S",
        (6_607_077_376, 32, 32, 128, 1),
        (6_607_077_376, 32, 32, 128, 1000),
        (6_607_077_376, 32, 32, 128, 4096),
        (100, 3, 2, 5, 7),
        drawn,
    )


def _token(n_weights: int, n_layers: int, n_heads: int, head_width: int, context: int) -> tuple[int, int]:
    """The products of one token, and the two of each that make gradients; weights as a matrix of one column."""
    scores = (n_heads, 1, head_width), (n_heads, head_width, context)
    mixing = (n_heads, 1, context), (n_heads, context, head_width)
    there = [((1, n_weights), (n_weights, 1)), *[scores, mixing] * n_layers]
    both = list(there)
    for left, right in there:
        result = (*left[:-1], right[-1])
        both += [(result, _turned(right)), (_turned(left), result)]
    return product_flops(*there), product_flops(*both)


def _turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2])


TOKEN = described("12.token", cases=_token_cases, oracle=_token, frame="plain")
