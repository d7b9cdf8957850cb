"""Tasks on steps of training: rates, Adam, clipping, accumulation, dropout, first weights, and a whole run."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, normal, sentences
from softlookup_judge.chapters.oracles import torch


def _rate_cases(rng: Rng) -> list[Case]:
    sizes = (
        (3999, 512, 4000),
        (0, 512, 4000),
        (99_999, 512, 4000),
        (3999, 1024, 4000),
        (10, 64, 100),
        (int(rng.integers(200, 900)), 256, 150),
    )
    return [Case(f"{d:,} steps done, D = {w}, warm-up {u}", (d, w, u)) for d, w, u in sizes]


@graded("09.warmup", _rate_cases, frame="plain", forbids=("softlookup.model",))
def _rate(done: int, d_model: int, warmup: int) -> float:
    """The peak, times how far up or down the curve is."""
    step = done + 1
    peak = (d_model * warmup) ** -0.5
    return peak * (step / warmup if step < warmup else (warmup / step) ** 0.5)


def _adam_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, shape: tuple[int, ...], step: int, *more: float, first: bool = False, dtype: str = "float32"
    ) -> Case:
        m, v = normal(rng, *shape, dtype=dtype), rng.uniform(0.1, 2, shape).astype(dtype)
        if first:
            m, v = np.zeros_like(m), np.zeros_like(v)
        w, g = normal(rng, *shape, dtype=dtype), normal(rng, *shape, dtype=dtype)
        return Case(label, (w, g, m, v, step, *more))

    return [
        case("the first step, with the paper's numbers", (3, 2), 1, 0.05, 0.9, 0.98, 1e-9, first=True),
        case("the seventh step", (4,), 7, 0.1, 0.8, 0.95, 1e-8),
        case("a large eps", (2, 3), 3, 0.2, 0.9, 0.98, 0.4),
        case("a square matrix", (3, 3), 2, 0.05, 0.7, 0.9, 1e-3),
        case("the hundredth step in float64", (5,), 100, 0.01, 0.9, 0.999, 1e-8, dtype="float64"),
    ]


@graded("09.adam", _adam_cases, forbids=("torch.optim", "softlookup.model"))
def _adam(w: Any, g: Any, m: Any, v: Any, step: int, rate: float, beta_1: float, beta_2: float, eps: float) -> Any:
    """Torch's own Adam, in the middle of a run."""
    weight = torch.nn.Parameter(w.clone())
    weight.grad = g.clone()
    optimiser = torch.optim.Adam([weight], lr=rate, betas=(beta_1, beta_2), eps=eps, foreach=False)
    optimiser.state[weight] = {"step": torch.tensor(float(step - 1)), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimiser.step()
    state = optimiser.state[weight]
    return weight, state["exp_avg"], state["exp_avg_sq"]


def _clip_cases(rng: Rng) -> list[Case]:
    def case(label: str, max_norm: float, *scales: float, dtype: str = "float32") -> Case:
        shapes = ((2, 3), (3,), (4, 1))
        gradients = (normal(rng, *s, dtype=dtype, scale=k) for s, k in zip(shapes, scales, strict=True))
        return Case(label, (*gradients, max_norm))

    return [
        case("gradients of unequal size", 1.0, 3.0, 0.2, 1.0),
        case("long ones in float64, a bound of 2.5", 2.5, 4.0, 9.0, 5.0, dtype="float64"),
        case("short ones", 5.0, 0.02, 0.01, 0.03),
        # torch's own function adds a millionth to the norm.
        case("a norm of some millionths, float64", 1e-6, 2e-6, 1e-6, 1e-6, dtype="float64"),
        case("one is much longer than the others", 0.5, 0.01, 20.0, 0.01),
        case("all of them are zero", 1.0, 0.0, 0.0, 0.0),
    ]


@graded("09.clip", _clip_cases, forbids=("torch.nn.utils",))
def _clip(g_1: Any, g_2: Any, g_3: Any, max_norm: float) -> Any:
    norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in (g_1, g_2, g_3)]))
    if norm <= max_norm:
        return g_1, g_2, g_3, norm
    return g_1 / norm * max_norm, g_2 / norm * max_norm, g_3 / norm * max_norm, norm


def _accumulate_cases(rng: Rng) -> list[Case]:
    def case(label: str, batches: int, width: int, every: int, rate: float, dtype: str = "float32") -> Case:
        tokens = rng.permutation(np.arange(3, 3 + 4 * batches, 4))
        gradients = normal(rng, batches, width, dtype=dtype) * tokens[:, None].astype(dtype)
        return Case(label, (normal(rng, width, dtype=dtype), gradients, tokens, every, rate))

    return [
        case("six batches, three to a step", 6, 4, 3, 0.3),
        case("seven batches, two to a step: one is left", 7, 3, 2, 2.0),
        case("as many batches as weights", 5, 5, 2, 0.3),
        case("each batch is a step", 3, 2, 1, 0.05),
        case("fewer batches than a step has, in float64", 2, 3, 4, 0.7, "float64"),
    ]


@graded("09.accumulate", _accumulate_cases)
def _accumulate(w: Any, gradients: Any, tokens: Any, every: int, rate: float) -> Any:
    after = []
    for group, counts in zip(gradients.split(every), tokens.split(every), strict=True):
        after += [w] * (len(group) - 1)
        w = w - rate * group.sum(dim=0) / counts.sum()
        after.append(w)
    return torch.stack(after)


def _dropout_cases(rng: Rng) -> list[Case]:
    def args(shape: tuple[int, ...], p: float, training: bool, dtype: str = "float32") -> tuple[Any, ...]:
        u = rng.random(shape)
        u.flat[0], u.flat[1] = p, p / 2
        return normal(rng, *shape, dtype=dtype), u.astype(dtype), p, training

    x, u, *options = args((3, 4), 0.5, True, "float16")

    return [
        Case("in training, p = 0.25", args((3, 5), 0.25, True)),
        Case("in use, p = 0.25", args((2, 5), 0.25, False)),
        Case("in training, p = 0.5, three axes", args((3, 1, 3), 0.5, True)),
        Case("in training, p = 0", args((2, 3), 0.0, True)),
        Case("half precision", args((3, 3), 0.25, True, "float16"), **DTYPE),
        Case("x in half precision, u in float32", (x, u.astype("float32"), *options), **DTYPE),
        Case("the gradient of x", args((2, 4), 0.25, True, "float64"), **backward(doubles(rng, 2, 4), 0)),
    ]


@graded(
    "09.dropout",
    _dropout_cases,
    parts={"core": 0.6, "gradient": 0.2, "dtype": 0.2},
    forbids=("torch.nn.functional.dropout", "torch.nn.Dropout", "torch.dropout"),
)
def _dropout(x: Any, u: Any, p: float, training: bool) -> Any:
    return torch.where(u < p, torch.zeros_like(x), x / (1 - p)) if training else x


def _first_cases(rng: Rng) -> list[Case]:
    def case(n_in: int, n_out: int, after_relu: bool, dtype: str = "float32") -> Case:
        label = f"{n_in} in, {n_out} out, {'behind a ReLU' if after_relu else 'no ReLU'}"
        # A root taken in float32 costs nothing.
        tolerance = 1e-6 if dtype == "float64" else None
        return Case(label, (normal(rng, n_in, n_out, dtype=dtype), after_relu), tolerance=tolerance)

    return [case(3, 5, False), case(3, 5, True), case(4, 4, False), case(6, 2, True, "float64"), case(6, 2, False)]


@graded("09.initialise", _first_cases, forbids=("torch.nn.init", "softlookup.model"))
def _first(z: Any, after_relu: bool) -> Any:
    n_in, n_out = z.shape
    return z * (2 / n_in) ** 0.5 if after_relu else z / ((n_in + n_out) / 2) ** 0.5


def _train_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, lengths: tuple[int, ...], n_words: int, pad_id: int, rate: float, steps: int, dtype: str = "float32"
    ) -> Case:
        ids = sentences(rng, lengths, n_words, pad_id)
        return Case(label, (normal(rng, n_words, n_words, dtype=dtype), ids, pad_id, rate, steps), descends=True)

    return [
        case("three steps, two sentences", (5, 3), 7, 0, 2.0, 3),
        case("one step", (4, 2, 3), 5, 4, 1.0, 1),
        case("eight steps in float64", (6, 4), 6, 1, 3.0, 8, "float64"),
        case("as many sentences as tokens", (4, 3, 4, 2), 4, 2, 1.5, 4),
    ]


@graded("09.train", _train_cases)
def _train(w: Any, ids: Any, pad_id: int, rate: float, steps: int) -> Any:
    """By hand: pairs are counted, and the gradient of a word's row is (softmax - share) times how often it stood."""
    n_words = len(w)
    pairs = torch.zeros(n_words, n_words, dtype=w.dtype)
    for row in ids.tolist():
        for token, following in zip(row, row[1:], strict=False):
            if following != pad_id:
                pairs[token, following] += 1
    tokens, losses = pairs.sum(), []
    for _ in range(steps):
        losses.append(-(pairs * w.log_softmax(-1)).sum() / tokens)
        w = w - rate * (pairs.sum(-1, keepdim=True) * w.softmax(-1) - pairs) / tokens
    return w, torch.stack(losses)
