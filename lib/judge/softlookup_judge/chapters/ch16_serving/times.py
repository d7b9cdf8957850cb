"""Tasks on time and money: both phases, latencies, batches that stop helping, drafts, and what a token costs."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng

Request = list[Any]


def _phase_cases(rng: Rng) -> list[Case]:
    a100, h100, laptop = (312e12, 2039e9), (989.5e12, 3350e9), (4e12, 100e9)
    random_params = float(rng.integers(3, 40)) * 1e9
    rows = (
        ("8 billion parameters on an A100", (8e9, 2, 131072, *a100, 1000, 16, 2000)),
        ("a short prompt, one long sequence", (8e9, 2, 131072, *a100, 20, 1, 50_000)),
        ("a large batch of short texts: operations limit the step", (1e9, 2, 2048, *h100, 300, 2000, 30)),
        ("weights in 8 bits", (70e9, 1, 327680, *h100, 500, 32, 4000)),
        ("weights in 4 bits on a laptop", (3e9, 0.5, 114688, *laptop, 12, 3, 800)),
        ("nothing cached yet", (8e9, 2, 131072, *a100, 150, 400, 0)),
        ("drawn", (random_params, 2, 98304, *h100, 40, 6, int(rng.integers(500, 9000)))),
    )
    return [Case(label, args) for label, args in rows]


@graded("16.phases", _phase_cases, frame="plain")
def _phases(
    params: float,
    bytes_each: float,
    cache_bytes: int,
    peak: float,
    bandwidth: float,
    prompt: int,
    batch: int,
    cached: int,
) -> tuple[float, float]:
    """By the attainable rate of each phase: the roof at its intensity."""
    flops = 2 * params * np.array([prompt, batch])
    moved = params * bytes_each + np.array([0.0, float(batch)]) * (cached * cache_bytes)
    rate = np.minimum(peak, bandwidth * (flops / moved))
    return float(flops[0] / rate[0]), float(flops[1] / rate[1])


def _times(rng: Rng, arrival: float, wait: float, count: int, gap: float) -> Request:
    """A request: when it arrived, and when each of its tokens came; the waits become longer."""
    waits = gap * (1 + np.arange(count - 1) / 7 + rng.uniform(0, 0.1, count - 1))
    return [arrival, [round(float(t), 6) for t in arrival + wait + np.concatenate([[0.0], np.cumsum(waits)])]]


def _latency_cases(rng: Rng) -> list[Case]:
    def some(count: int, tokens: int) -> list[Request]:
        firsts, gaps = rng.uniform(0.1, 2.0, count), rng.uniform(0.01, 0.2, count)
        many = rng.integers(2, tokens, count)
        return [_times(rng, 0.4 * i, *args) for i, args in enumerate(zip(firsts, many.tolist(), gaps, strict=True))]

    four = [
        _times(rng, *args) for args in ((3.0, 0.5, 6, 0.02), (3.5, 1.9, 3, 0.11), (4.0, 0.3, 2, 0.4), (9, 0.9, 9, 0.05))
    ]
    cases = {
        "four requests": four,
        "one request, four tokens": [_times(rng, 5.0, 0.7, 4, 0.05)],
        "two requests, one of a single token": [_times(rng, 1.0, 0.9, 1, 0.1), _times(rng, 1.2, 0.4, 5, 0.03)],
        "twenty requests": some(20, 7),
        "nine requests, some long": some(9, 30),
        "fifty-one requests": some(51, 5),
        "three hundred requests": some(int(rng.integers(300, 330)), 4),
    }
    return [Case(label, (requests,)) for label, requests in cases.items()]


@graded("16.latencies", _latency_cases, frame="plain")
def _latencies(requests: list[Request]) -> Any:
    """By counting: the least value that enough of the values do not exceed."""

    def least(values: np.ndarray, percent: int) -> float:
        enough = 100 * (values <= values[:, None]).sum(axis=1) >= percent * len(values)
        return float(values[enough].min())

    waits = [np.subtract(times, [arrival, *times[:-1]]) for arrival, times in requests]
    first, between = np.array([row[0] for row in waits]), np.concatenate([row[1:] for row in waits])
    return [least(first, 50), least(first, 95)], [least(between, 50), least(between, 95)]


def _limit_cases(rng: Rng) -> list[Case]:
    a100, h100, laptop = (312e12, 2039e9), (989.5e12, 3350e9), (4e12, 100e9)
    rows = (
        ("no cache: the ridge alone", (8e9, 2, 131072, *a100, 0)),
        ("8 billion parameters on an A100, 500 tokens", (8e9, 2, 131072, *a100, 500)),
        ("the same with 4,000 tokens: the caches are slower for ever", (8e9, 2, 131072, *a100, 4000)),
        ("70 billion in 8 bits", (70e9, 1, 327680, *h100, 900)),
        ("4 bits on a laptop", (3e9, 0.5, 28672, *laptop, 3000)),
        ("4 bits on a laptop, a longer text", (3e9, 0.5, 114688, *laptop, 5000)),
        ("a token takes as long to read as to compute", (1024.0, 2, 64, 1024.0, 512.0, 16)),
        ("drawn", (float(rng.integers(3, 40)) * 1e9, 2, 24576, *h100, int(rng.integers(50, 230)))),
    )
    return [Case(label, args) for label, args in rows]


@graded("16.batch-limit", _limit_cases, frame="plain")
def _limit(params: float, bytes_each: float, cache_bytes: int, peak: float, bandwidth: float, cached: int) -> Any:
    """By what one more sequence adds to either time, and where the two lines meet."""
    weights = params * bytes_each / bandwidth
    more = np.array([2 * params / peak, cached * cache_bytes / bandwidth])
    meet = weights / (more[0] - more[1]) if more[0] > more[1] else np.inf
    return float(meet), float(1 / more.max())


def _speedup_cases(rng: Rng) -> list[Case]:
    random_acceptance = round(float(rng.uniform(0.65, 0.9)), 3)
    rows = (
        ("a good draft", (0.8, 0.05, 8)),
        ("a poor one that costs much", (0.3, 0.4, 6)),
        ("every token is accepted", (1.0, 0.1, 5)),
        ("no token is accepted", (0.0, 0.1, 4)),
        ("the limit is reached", (0.95, 0.02, 3)),
        ("a draft for nothing", (0.6, 0.0, 4)),
        ("one token at most", (0.7, 0.2, 1)),
        ("a draft as slow as the large model", (0.9, 1.0, 3)),
        ("one drafted token gains as much as it costs", (0.5, 0.5, 4)),
        ("every token is accepted, and none gains anything", (1.0, 1.0, 3)),
        ("drawn", (random_acceptance, 0.07, 12)),
        ("a draft that is nearly free and nearly always right", (0.99, 0.0005, 300)),
    )
    return [Case(label, args, part="all" if args[0] == 1 else "core") for label, args in rows]


@graded("16.speedup", _speedup_cases, frame="plain", parts={"core": 0.8, "all": 0.2})
def _speedup(acceptance: float, draft_cost: float, most: int) -> Any:
    """By the chance of each number of tokens that a round may give."""
    best = (0, 1.0)
    for k in range(1, most + 1):
        chances = [acceptance**n * (1 - acceptance) for n in range(k)] + [acceptance**k]
        tokens = sum(chance * (n + 1) for n, chance in enumerate(chances))
        best = max(best, (k, tokens / (k * draft_cost + 1)), key=lambda pair: pair[1])
    return best


def _small_cases(rng: Rng) -> list[Case]:
    giga = 10**9
    random_params = int(rng.integers(2, 12)) * 32 * 10**7
    rows = (
        ("8 billion, 4 bits in groups of 32", (8 * giga, giga, 4, 32, 24 * giga, 131072 * 4000)),
        ("70 billion, 4 bits in groups of 128", (70 * giga, 2 * giga, 4, 128, 80 * giga, 327680 * 8000)),
        ("8 bits", (1_600_000, 320_000, 8, 64, 4_000_000, 30_000)),
        ("nothing stays in 16 bits", (3_200_000, 0, 3, 32, 2_000_000, 70_001)),
        ("groups of 16", (960_000, 160_000, 2, 16, 900_000, 50_000)),
        ("drawn", (random_params, random_params // 8, 5, 32, 16 * giga, 98304 * 2500)),
        ("600 billion", (600 * giga + 8 * 99, giga + 24, 3, 8, 700 * giga, 70_001)),
    )
    return [Case(label, args) for label, args in rows]


@graded("16.small", _small_cases, frame="plain")
def _small(params: int, kept: int, bits: int, group: int, memory: int, sequence_bytes: int) -> Any:
    """By groups: each is a scale and its weights; what is kept takes two bytes each."""
    groups = (params - kept) // group
    weights = groups * (2 + group * bits // 8) + 2 * kept
    return weights, int((memory - weights) / sequence_bytes)


def _cost_cases(rng: Rng) -> list[Case]:
    rows = (
        ("one machine, half of the time busy", (2.0, 1, 20_000, 2_500, 0.5, 1000, 200)),
        ("eight machines", (3.5, 8, 60_000, 9_000, 0.7, 4000, 500)),
        ("always busy", (1.2, 1, 8_000, 400, 1.0, 300, 900)),
        ("a long text, a short answer", (4.0, 2, 30_000, 3_000, 0.25, 50_000, 10)),
        ("drawn", (2.4, 4, int(rng.integers(9, 50)) * 1000, int(rng.integers(1, 8)) * 900, 0.4, 700, 350)),
    )
    return [Case(label, args) for label, args in rows]


@graded("16.cost", _cost_cases, frame="plain")
def _cost(
    price: float, machines: int, input_rate: float, output_rate: float, utilisation: float, prompt: int, answer: int
) -> Any:
    """By the busy seconds that a million tokens take, each of which costs its share of the hour."""
    busy_second = price * machines / (60 * 60 * utilisation)
    once = [busy_second * tokens / rate for tokens, rate in ((prompt, input_rate), (answer, output_rate))]
    return once[0] / prompt * 1e6, once[1] / answer * 1e6, sum(once)


def _pool_cases(rng: Rng) -> list[Case]:
    link = 50e9
    random_machines = int(rng.integers(5, 12))
    rows = (
        ("eight machines, long prompts", (8, 6000, 200, 40_000, 0.025, 32, 131_072, link)),
        ("short prompts, long answers", (8, 300, 900, 40_000, 0.02, 24, 131_072, link)),
        ("two machines", (2, 2000, 150, 30_000, 0.03, 16, 131_072, link)),
        ("a slow link", (6, 5000, 100, 50_000, 0.02, 64, 327_680, 1.2e9)),
        ("a large cache on a slow link", (7, 800, 120, 20_000, 0.04, 48, 2_000_000, 5e9)),
        ("a prompt of two tokens, whose cache fills the link", (4, 2, 5, 50_000, 0.001, 64, 500_000_000, 1e9)),
        ("more machines than tokens of an answer", (9, 4, 3, 5, 0.5, 2, 1000, 1e6)),
        ("two divisions are as good", (5, 1000, 25, 1000, 1.0, 25, 1000, 1e9)),
        ("decoding is slower, and the best division no rounded one", (7, 100, 8, 400, 0.125, 1, 1000, 1e9)),
        ("prefills are slower, and the best division no rounded one", (7, 400, 8, 400, 0.125, 4, 1000, 1e9)),
        ("decoding is always slower", (5, 100, 4000, 90_000, 0.05, 8, 70_656, link)),
        ("prefills are always slower", (5, 90_000, 20, 9000, 0.01, 64, 70_656, link)),
        ("hundreds of machines", (397, 3000, 150, 20_000, 0.03, 20, 131_072, link)),
        ("drawn", (random_machines, 3000, int(rng.integers(150, 400)), 25_000, 0.03, 20, 131_072, link)),
    )
    return [Case(label, args) for label, args in rows]


@graded("16.split-pools", _pool_cases, frame="plain")
def _split_pools(
    machines: int,
    prompt: int,
    answer: int,
    prefill_rate: float,
    step: float,
    batch: int,
    cache_bytes: int,
    bandwidth: float,
) -> tuple[int, float]:
    """All divisions at once, by the seconds between two requests in each of the three places."""
    senders = np.arange(1, machines)
    between = [prompt / prefill_rate / senders, prompt * cache_bytes / bandwidth / senders]
    between.append(answer * step / batch / (machines - senders))
    slowest = np.max(between, axis=0)
    best = int(np.flatnonzero(np.isclose(slowest, slowest.min(), rtol=1e-12))[0])
    return best + 1, float(1 / slowest[best])
