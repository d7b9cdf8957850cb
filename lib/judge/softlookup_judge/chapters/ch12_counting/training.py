"""Tasks on training: how long it takes, and what it keeps in memory."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch12_counting.counts import meta, plain
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

DAY_S = 86400.0


def _days_cases(rng: Rng, unit: str, unit_s: float) -> list[Case]:
    a100 = {"dense": 312.0, "sparse": 624.0}
    odd = {"sparse": float(rng.integers(300, 900)), "dense": float(rng.integers(20, 200))}  # no order is promised
    return plain(
        "parameters, tokens, devices, sheet, share",
        (6_738_415_616, 2_000_000_000_000, 1024, a100, 0.4),
        (124_439_808, 10_000_000_000, 1, a100, 0.3),
        (10**9, 2 * 10**10, 8, odd, 1.0),
        (int(rng.integers(10**7, 10**9)), int(rng.integers(10**9, 10**11)), 3, odd, 0.25),
    )


def _days(
    n_parameters: int, n_tokens: int, n_devices: int, sheet: dict[str, float], share: float, unit: str, unit_s: float
) -> float:
    """Token for token: a multiply-add forward and two back for each parameter, so much a second."""
    multiply_adds = n_parameters + 2 * n_parameters
    tokens_per_s = n_devices * share * (sheet["dense"] * 1e12 / (2 * multiply_adds))
    return n_tokens / tokens_per_s / unit_s


DAYS = described(
    "12.days",
    cases=_days_cases,
    oracle=_days,
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


def _states_cases(rng: Rng) -> list[Case]:
    n = int(rng.integers(1000, 10**6))
    return plain(
        "parameters, recipe",
        (1, "master"),
        (6_738_415_616, "master"),
        (124_439_808, "float32"),
        (n, "autocast"),
        (n + 1, "master"),
        (n + 2, "float32"),
    )


def _states(n_parameters: int, recipe: str) -> tuple[int, ...]:
    """The bytes of tensors as torch would hold them."""
    half = recipe == "master"
    weights, gradients = (meta(n_parameters, size=2 if half else 4).nbytes for _ in range(2))
    master = meta(n_parameters, size=4).nbytes if half else 0
    return weights, gradients, master, sum(meta(n_parameters, size=4).nbytes for _ in ("mean", "mean of squares"))


STATES = described("12.states", cases=_states_cases, oracle=_states, frame="plain")


def _activation_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 9)) for low in (2, 11))
    return plain(
        "B, T, D, N, F, fused",
        (1, 2, 4, 2, 8, False),
        (2, 2048, 4096, 32, 16384, False),
        (2, 2048, 4096, 32, 16384, True),
        (3, 5, 12, 4, 30, False),
        (*drawn, 24, 6, 50, True),
        (*drawn, 40, 8, 100, False),
    )


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


ACTIVATIONS = described("12.activations", cases=_activation_cases, oracle=_activation, frame="plain")
