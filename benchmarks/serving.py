"""Latencies under load, predicted and measured: ``softlookup bench serving``.

The shipped language model serves made-up requests in one process, on one thread: prompts of random tokens, answers of
random lengths. In each of several rounds steps are timed first; from them come the costs that the simulator counts
with. Then, load by load, the same requests are simulated and served, in this order. Of what is predicted and of what is
measured the medians of the rounds are kept: the machine is not always equally fast.
"""

from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from benchmarks.clock import note
from benchmarks.harness import benchmark, one_thread
from softlookup.model.published.writer import load_writer
from softlookup.model.whole.language import DecoderLM
from softlookup.serving import (
    Blocks,
    CostRunner,
    Costs,
    Latency,
    ModelRunner,
    Request,
    Rules,
    Server,
    latency,
    percentile,
    poisson_arrivals,
    simulate,
)
from softlookup.serving.scheduler import Policy
from softlookup.serving.simulator import Step

NAMES = ("first_p50_s", "first_p95_s", "between_p50_s", "between_p95_s")


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    requests: int = 240
    calibrating: int = 80
    prompt: tuple[int, int] = (8, 96)
    answer: tuple[int, int] = (8, 48)
    most: int = 8
    n_blocks: int = 128
    block_size: int = 16
    loads: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.2)
    queue: int = 32
    long_prompt: int = 200
    budget: int = 40
    common: int = 64
    rounds: int = 3


@dataclass(frozen=True)
class LoadLatency:
    """Percentiles of latency, in seconds; tokens a second; and how many requests were refused."""

    first_p50_s: float
    first_p95_s: float
    between_p50_s: float
    between_p95_s: float
    tokens_per_s: float
    refused: float


@dataclass(frozen=True)
class ServedLoad:
    """One load, as a share of capacity: what the simulator says and what was measured."""

    load: float
    predicted: LoadLatency
    measured: LoadLatency


@dataclass(frozen=True)
class PrefixSpeed:
    """How soon half of the first tokens were there, and tokens a second."""

    first_p50_s: float
    tokens_per_s: float


@dataclass(frozen=True)
class PrefixSharing:
    """Requests that begin with the same ``common`` tokens, which each computes alone or all share."""

    common: int
    alone: PrefixSpeed
    shared: PrefixSpeed
    prompt_tokens: int
    reused_tokens: int


@dataclass(frozen=True)
class ChunkLatency:
    """Seconds between tokens, and until the first one of a long prompt's answer."""

    between_p50_s: float
    between_p99_s: float
    long_first_s: float


@dataclass(frozen=True)
class PromptChunks:
    """A few prompts of ``long_prompt`` tokens among short ones, whole and in chunks within the budget."""

    long_prompt: int
    budget: int
    whole: ChunkLatency
    chunked: ChunkLatency


@dataclass(frozen=True)
class ServingResult:
    """Costs in seconds, latencies by load, tokens a second by policy, and the share of empty slots by block size."""

    ratio: float
    ratio_of: str
    plan: _Plan
    costs: Costs
    timed_steps: int
    step_error: float
    capacity: float
    loads: list[ServedLoad]
    policies: dict[str, float]
    prefix: PrefixSharing
    chunks: PromptChunks
    waste: dict[str, float]


@benchmark(
    "serving",
    _Plan(),
    quick=_Plan(6, 4, (4, 9), (2, 4), 3, 40, 4, (0.5,), 16, 24, 8, 8, 1),
)
def bench_serving(plan: _Plan) -> ServingResult:
    """Serve requests under rising loads, beside what the simulator says.

    ``costs`` are the seconds of a step fitted to all timed steps, and ``step_error`` the median relative error over
    these. ``loads`` has, for each share of ``capacity`` (requests a second that the simulator finishes when all come at
    once), the four percentiles of latency ``predicted`` and ``measured``, tokens a second and refusals, each the median
    of the rounds. ``policies`` has tokens a second of batches that wait and of continuous ones when all requests come
    at once; ``ratio`` is continuous over waiting. ``prefix`` says what sharing a common beginning saves, ``chunks``
    what cutting a long prompt does to the time between tokens, ``waste`` which share of taken slots stays empty.
    """
    writer = load_writer()
    with one_thread():
        return _measured(plan, writer.model)


def _measured(plan: _Plan, model: DecoderLM) -> ServingResult:
    rules = Rules(most=plan.most, budget=max(plan.budget, plan.most), queue=plan.queue)
    open_rules = replace(rules, queue=10**6)

    def blocks(size: int = plan.block_size, *, share: bool = True) -> Blocks:
        return Blocks(model.config, plan.n_blocks * plan.block_size // size, size, share=share)

    def served(requests: list[Request], how: Rules, *, share: bool = True) -> Server:
        store = blocks(share=share)
        server = Server(ModelRunner(model, store), store, how)
        server.serve(requests)
        return server

    served(_requests(plan, model, plan.most, seed=0), open_rules)  # the first passes are slower than all others
    guessed = _guessed_rate(plan, model, open_rules, served)
    timed: list[tuple[Step, float]] = []
    capacity = 0.0
    latencies: dict[float, dict[str, list[Latency]]] = {
        share: {"predicted": [], "measured": []} for share in plan.loads
    }
    for _ in range(plan.rounds):
        fresh = []
        for share, seed in ((0.25, 0), (0.5, 1), (1.0, 2), (2.0, 3)):  # few, some and many in a batch
            fresh += served(_requests(plan, model, plan.calibrating, seed=seed, rate=share * guessed), open_rules).steps
        timed += fresh
        costs = Costs.fitted(fresh)
        capacity = capacity or _capacity(_requests(plan, model, plan.requests, seed=4), costs, blocks(), open_rules)
        for share, ways in latencies.items():
            requests = _requests(plan, model, plan.requests, seed=5, rate=share * capacity)
            simulate(requests, costs, blocks(), rules)
            ways["predicted"].append(latency(requests))
            requests = _requests(plan, model, plan.requests, seed=5, rate=share * capacity)
            served(requests, rules)
            ways["measured"].append(latency(requests))
    loads = [
        ServedLoad(share, **{way: _load_latency(_middle(several)) for way, several in ways.items()})
        for share, ways in latencies.items()
    ]
    costs = Costs.fitted(timed)
    errors = [abs(costs.seconds(step) / seconds - 1) for step, seconds in timed]

    policies: dict[Policy, list[float]] = {"wait": [], "continuous": []}
    for seed in range(plan.rounds):
        for policy, rates in policies.items():
            requests = _requests(plan, model, plan.calibrating, seed=6 + seed)
            served(requests, replace(open_rules, policy=policy, budget=None))
            rates.append(latency(requests).tokens_per_s)
    gained = [later / earlier for later, earlier in zip(policies["continuous"], policies["wait"], strict=True)]
    return ServingResult(
        ratio=float(f"{median(gained):.4g}"),
        ratio_of="tokens a second when all requests come at once, continuous batching / batches that wait",
        plan=plan,
        costs=Costs(**note(**asdict(costs))),
        timed_steps=len(timed),
        step_error=float(f"{median(errors):.3g}"),
        capacity=float(f"{capacity:.4g}"),
        loads=loads,
        policies=note(**{str(name): median(rates) for name, rates in policies.items()}),
        prefix=_prefix(plan, model, open_rules, served),
        chunks=_chunks(plan, model, open_rules, served),
        waste={str(size): _waste(plan, model, costs, blocks(size), open_rules) for size in (1, 16, 64)},
    )


def _requests(plan: _Plan, model: DecoderLM, n: int, *, seed: int, rate: float | None = None) -> list[Request]:
    """Requests of random lengths; all at once, or as they come by themselves."""
    luck = np.random.default_rng(seed)
    times = [0.0] * n if rate is None else poisson_arrivals(n, rate, seed=seed)
    return [
        Request(
            tuple(luck.integers(4, model.config.vocab_size, luck.integers(*plan.prompt, endpoint=True)).tolist()),
            int(luck.integers(*plan.answer, endpoint=True)),
            arrival_s=time_s,
        )
        for time_s in times
    ]


def _guessed_rate(plan: _Plan, model: DecoderLM, rules: Rules, served: Any) -> float:
    requests = _requests(plan, model, 2 * plan.most, seed=7)
    served(requests, rules)
    begun_s = min(request.arrival_s for request in requests)
    return len(requests) / (max(request.times_s[-1] for request in requests) - begun_s)


def _capacity(requests: list[Request], costs: Costs, blocks: Blocks, rules: Rules) -> float:
    """Requests a second that are complete, if all come at once and steps take what they cost."""
    simulate(requests, costs, blocks, rules)
    return len(requests) / max(request.times_s[-1] for request in requests)


def _middle(several: list[Latency]) -> Latency:
    each = [asdict(round_latency) for round_latency in several]
    return Latency(**{name: median(row[name] for row in each) for name in each[0]})


def _load_latency(latencies: Latency) -> LoadLatency:
    values = note(**{name: getattr(latencies, name) for name in (*NAMES, "tokens_per_s")})
    return LoadLatency(**values, refused=latencies.refused)


def _prefix(plan: _Plan, model: DecoderLM, rules: Rules, served: Any) -> PrefixSharing:
    """Twice the same requests, with one beginning for all of them."""
    common = tuple(np.random.default_rng(8).integers(4, model.config.vocab_size, plan.common).tolist())
    speeds = {}
    for name, share in (("alone", False), ("shared", True)):
        requests = _requests(plan, model, plan.calibrating, seed=8)
        requests = [Request(common + request.prompt, request.max_new_tokens) for request in requests]
        served(requests, rules, share=share)
        seen = latency(requests)
        speeds[name] = PrefixSpeed(**note(first_p50_s=seen.first_p50_s, tokens_per_s=seen.tokens_per_s))
    prompt_tokens = sum(len(request.prompt) for request in requests)
    return PrefixSharing(
        plan.common, **speeds, prompt_tokens=prompt_tokens, reused_tokens=sum(r.reused for r in requests)
    )


def _chunks(plan: _Plan, model: DecoderLM, rules: Rules, served: Any) -> PromptChunks:
    """A few long prompts among short ones, whole and in chunks."""
    rate = 0.4 * _guessed_rate(plan, model, rules, served)
    in_chunks = max(plan.budget, plan.most)
    latencies = {}
    for name, budget in (("whole", None), ("chunked", in_chunks)):
        requests = _requests(plan, model, plan.calibrating, seed=9, rate=rate)
        for request in requests[::5]:
            request.prompt = tuple(np.resize(request.prompt, plan.long_prompt).tolist())
        served(requests, replace(rules, budget=budget))
        between = [wait for request in requests for wait in request.between_s]
        first = median(request.first_token_s for request in requests[::5])
        values = note(between_p50_s=median(between), between_p99_s=percentile(between, 99), long_first_s=first)
        latencies[name] = ChunkLatency(**values)
    return PromptChunks(plan.long_prompt, in_chunks, **latencies)


def _waste(plan: _Plan, model: DecoderLM, costs: Costs, store: Blocks, rules: Rules) -> float:
    """Which share of the taken slots holds nothing, on average over the steps."""
    shares = []

    class Watching(Server):
        def step(self) -> bool:
            there = super().step()
            sequences = [request.sequence for request in self.scheduler.running if request.sequence is not None]
            slots = sum(len(self.blocks.table(sequence)) * self.blocks.block_size for sequence in sequences)
            if slots:
                shares.append(1 - sum(self.blocks.length(sequence) for sequence in sequences) / slots)
            return there

    Watching(CostRunner(costs), store, rules).serve(_requests(plan, model, plan.calibrating, seed=10))
    return float(f"{np.mean(shares):.3g}")
