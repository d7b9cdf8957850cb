"""Tasks that count whole models: parameters, operations for a token, time and memory of training."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, sized
from softlookup_judge.chapters.ch12_counting.counts import meta, product_flops
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import torch


def _parameter_cases(rng: Rng) -> list[Case]:
    d, f = int(rng.integers(20, 60)), int(rng.integers(61, 200))
    return sized(
        "V, D, N, K, H, F, L, tied",
        (10, 4, 2, 2, 2, 6, 1, True),
        (32000, 4096, 32, 32, 128, 11008, 32, False),
        (128256, 4096, 32, 8, 128, 14336, 32, False),
        (50, 6, 6, 2, 5, 9, 3, True),
        (41, d, 4, 1, 7, f, 5, False),
        (300, d, 9, 3, 7, f, 4, True),
    )


@graded("12.parameters", _parameter_cases, frame="plain")
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


def _token_cases(rng: Rng) -> list[Case]:
    random_sizes = (int(rng.integers(10**6, 10**8)), int(rng.integers(2, 40)), 6, 50, int(rng.integers(3, 900)))
    return sized(
        "weights in products, L, N, H, S",
        (6_607_077_376, 32, 32, 128, 1),
        (6_607_077_376, 32, 32, 128, 1000),
        (6_607_077_376, 32, 32, 128, 4096),
        (100, 3, 2, 5, 7),
        random_sizes,
    )


def _turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2])


@graded("12.token", _token_cases, frame="plain")
def _token(n_weights: int, n_layers: int, n_heads: int, head_width: int, context: int) -> tuple[int, int]:
    """The products of one token, and the two of each that make gradients; weights as a matrix of one column."""
    scores = (n_heads, 1, head_width), (n_heads, head_width, context)
    mixing = (n_heads, 1, context), (n_heads, context, head_width)
    there = [((1, n_weights), (n_weights, 1)), *[scores, mixing] * n_layers]
    both = list(there)
    for a, b in there:
        result = (*a[:-1], b[-1])
        both += [(result, _turned(b)), (_turned(a), result)]
    return product_flops(*there), product_flops(*both)


DAY_S = 86400.0


def _days_cases(rng: Rng, unit: str, unit_s: float) -> list[Case]:
    a100 = {"dense": 312.0, "sparse": 624.0}
    odd = {"sparse": float(rng.integers(300, 900)), "dense": float(rng.integers(20, 200))}  # no order is promised
    return sized(
        "parameters, tokens, devices, sheet, share",
        (6_738_415_616, 2_000_000_000_000, 1024, a100, 0.4),
        (124_439_808, 10_000_000_000, 1, a100, 0.3),
        (10**9, 2 * 10**10, 8, odd, 1.0),
        (int(rng.integers(10**7, 10**9)), int(rng.integers(10**9, 10**11)), 3, odd, 0.25),
    )


@graded(
    "12.days",
    _days_cases,
    frame="plain",
    variants=(
        {"unit": "days", "unit_s": DAY_S},
        {"unit": "hours", "unit_s": 3600.0},
        {"unit": "weeks", "unit_s": 604800.0},
        {"unit": "minutes", "unit_s": 60.0},
        {"unit": "seconds", "unit_s": 1.0},
        {"unit": "fortnights", "unit_s": 1209600.0},
        {"unit": "months of 30 days", "unit_s": 2592000.0},
        {"unit": "quarters of 90 days", "unit_s": 7776000.0},
        {"unit": "years of 365 days", "unit_s": 31536000.0},
    ),
)
def _days(
    n_parameters: int, n_tokens: int, n_devices: int, sheet: dict[str, float], share: float, unit: str, unit_s: float
) -> float:
    """Token for token: a multiply-add forward and two back for each parameter, so much a second."""
    multiply_adds = n_parameters + 2 * n_parameters
    tokens_per_s = n_devices * share * (sheet["dense"] * 1e12 / (2 * multiply_adds))
    return n_tokens / tokens_per_s / unit_s


def _states_cases(rng: Rng) -> list[Case]:
    n = int(rng.integers(1000, 10**6))
    return sized(
        "parameters, recipe",
        (1, "master"),
        (6_738_415_616, "master"),
        (124_439_808, "float32"),
        (n, "autocast"),
        (n + 1, "master"),
        (n + 2, "float32"),
    )


@graded("12.states", _states_cases, frame="plain")
def _states(n_parameters: int, recipe: str) -> tuple[int, ...]:
    """The bytes of tensors as torch would hold them."""
    half = recipe == "master"
    weights, gradients = (meta(n_parameters, size=2 if half else 4).nbytes for _ in range(2))
    master = meta(n_parameters, size=4).nbytes if half else 0
    return weights, gradients, master, sum(meta(n_parameters, size=4).nbytes for _ in ("mean", "mean of squares"))


def _activation_cases(rng: Rng) -> list[Case]:
    random_sizes = tuple(int(rng.integers(low, low + 9)) for low in (2, 11))
    return sized(
        "B, T, D, N, F, fused",
        (1, 2, 4, 2, 8, False),
        (2, 2048, 4096, 32, 16384, False),
        (2, 2048, 4096, 32, 16384, True),
        (3, 5, 12, 4, 30, False),
        (*random_sizes, 24, 6, 50, True),
        (*random_sizes, 40, 8, 100, False),
    )


@graded("12.activations", _activation_cases, frame="plain")
def _activation(batch: int, n_tokens: int, d_model: int, n_heads: int, d_hidden: int, fused: bool) -> int:
    """The tensors one by one, as torch would hold them."""
    states = ["norm 1", "q, k and v", "output", "norm 2", "up"]
    heads = [meta(batch, n_heads, n_tokens, d_model // n_heads) for _ in "qkv"]
    tensors = [
        *(meta(batch, n_tokens, d_model) for _ in states),
        *heads,
        meta(batch, n_tokens, d_hidden),
        meta(batch, n_tokens, d_hidden),
    ]
    return sum(tensor.nbytes for tensor in tensors) + (0 if fused else meta(batch, n_heads, n_tokens, n_tokens).nbytes)
