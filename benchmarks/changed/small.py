"""Newer parts beside what stood in their place, on models that are trained in a minute or need no training."""

import math
from collections.abc import Callable
from functools import partial
from statistics import mean
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from benchmarks.changed.drafts import speculative_generate
from benchmarks.changed.results import (
    DraftGain,
    DraftGains,
    ExpertLoads,
    LargestLogits,
    LoadBySeed,
    LogitBySeed,
    MuonGain,
    OptimiserLosses,
    RecallFractions,
    StretchedLoss,
    StretchedLosses,
)
from benchmarks.changed.sizes import ChangedSizes
from benchmarks.harness import one_thread
from benchmarks.positions import Draw, characters
from benchmarks.race import race
from benchmarks.train_small import train_small
from softlookup.model.decoding.generate import generate
from softlookup.model.parts.config import Config
from softlookup.model.parts.delta_rule import gated_delta_rule
from softlookup.model.parts.experts import Router, expert_load
from softlookup.model.parts.rotary_scaling import RotaryScaling
from softlookup.model.published.writer import load_writer
from softlookup.model.whole.language import DecoderLM

Optimise = Callable[[DecoderLM], list[torch.optim.Optimizer]]


def expert_load_with_and_without_bias(plan: ChangedSizes) -> ExpertLoads:
    """Train a model with routed experts, with a bias that balances their load and without.

    For each way and seed: ``busiest``, the load of the busiest expert as a multiple of the mean, the largest over
    layers; ``entropy``, that of the load as a fraction of log E, the mean over layers; and the loss at the end.
    """
    without, with_bias = (
        LoadBySeed(*map(list, zip(*(_routed(plan, rate, seed) for seed in plan.seeds), strict=True)))
        for rate in (0.0, plan.bias_rate)
    )
    return ExpertLoads(without, with_bias, plan.n_experts, plan.per_token, plan.bias_rate)


def _routed(plan: ChangedSizes, bias_rate: float, seed: int) -> tuple[float, float, float]:
    """The busiest expert's load, the entropy of loads, and the loss, after one training."""
    draw, vocabulary = characters()
    routed = {"n_experts": plan.n_experts, "experts_per_token": plan.per_token, "expert_gate": "sigmoid"}
    gated = {"activation": "swiglu", "hidden_bias": False, "d_hidden": plan.width}
    model = _model(plan, vocabulary, seed, **routed, **gated)
    parts = [part for part in model.modules() if isinstance(part, Router)]
    loads = [torch.zeros(plan.n_experts) for _ in parts]

    def count(index: int, router: Router, inputs: Any, outputs: tuple[Tensor, Tensor]) -> None:
        loads[index] = expert_load(outputs[1], plan.n_experts).float()

    for i, router in enumerate(parts):
        router.register_forward_hook(partial(count, i))

    def after() -> None:
        if bias_rate:
            for router, load in zip(parts, loads, strict=True):
                router.bias += bias_rate * (load.mean() - load).sign()  # more for experts that got too few tokens

    _train(plan, model, draw, seed, _adamw(plan.rate), after)
    loss = _loss(plan, model, draw, plan.length).mean().item()  # the hooks count the test's tokens
    spread = [torch.special.entr(load / load.sum()).sum().item() / math.log(plan.n_experts) for load in loads]
    return round(max((load.max() / load.mean()).item() for load in loads), 3), round(mean(spread), 4), round(loss, 4)


def largest_logit(plan: ChangedSizes) -> LargestLogits:
    """Train with and without a norm on queries and keys, at the usual learning rate and at ten times that.

    For each way (``none_x1``, ``head_x10`` and so on) and seed: the largest scaled dot product of a query and a key
    that it may attend to, on unseen text, and the loss there.
    """
    draw, vocabulary = characters()
    by_way = {}
    for norm in ("none", "head"):
        for times in (1, 10):
            by_seed = by_way[f"{norm}_x{times}"] = LogitBySeed([], [])
            for seed in plan.seeds:
                model = _model(plan, vocabulary, seed, qk_norm=norm)
                _train(plan, model, draw, seed, _adamw(times * plan.rate), clip=None)
                loss = _loss(plan, model, draw, plan.length).mean().item()
                ids, _ = draw(plan.test_rows, plan.length, _unseen())
                by_seed.largest.append(round(_largest(model, ids), 2))
                by_seed.loss.append(round(loss, 4))
    return LargestLogits(**by_way, rate=plan.rate)


@torch.no_grad()
def _largest(model: DecoderLM, ids: Tensor) -> float:
    """The largest scaled score in size, over layers and heads, among those that the causal mask leaves."""
    largest: list[float] = []

    def look(attention: Any, inputs: Any, options: dict[str, Any]) -> None:
        x = inputs[0]
        q, k = ((x @ w).unflatten(-1, (attention.n_heads, -1)).transpose(1, 2) for w in (attention.w_q, attention.w_k))
        if attention.q_norm is not None:
            q, k = attention.q_norm(q), attention.k_norm(k)
        q, k = (options["rotary"](heads, 0) for heads in (q, k))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        largest.append(scores.masked_fill(future, 0).abs().max().item())

    hooks = [layer.attention.register_forward_pre_hook(look, with_kwargs=True) for layer in model.decoder.each()]
    model(ids)
    for hook in hooks:
        hook.remove()
    return max(largest)


def stretched(plan: ChangedSizes) -> StretchedLosses:
    """Read texts longer than those of training, with rotary positions as trained, and slowed by NTK and by YaRN.

    YaRN has its published thresholds, 32 turns and 1, and others that pairs reach within this short length: 4 and 0.5.
    For each way and seed there is the loss of a character: within the trained length, between it and its double, and in
    the last quarter.
    """
    draw, vocabulary = characters()
    times, length = plan.times, plan.length
    scalings = {
        "as_trained": None,
        "ntk": RotaryScaling("ntk", times),
        "yarn": RotaryScaling("yarn", times, trained_length=length),
        "yarn_4": RotaryScaling("yarn", times, trained_length=length, fast_turns=4.0, slow_turns=0.5),
    }
    losses = {name: StretchedLoss([], [], []) for name in scalings}
    for seed in plan.seeds:
        model = _model(plan, vocabulary, seed, max_length=times * length)
        _train(plan, model, draw, seed, _adamw(plan.rate))
        for name, scaling in scalings.items():
            changed = DecoderLM(model.config.but(rotary_scaling=scaling)).eval()
            changed.load_state_dict(model.state_dict())
            loss_T = _loss(plan, changed, draw, times * length)
            parts = {"trained": loss_T[:length], "twice": loss_T[length : 2 * length], "last": loss_T[-length:]}
            for part, values in parts.items():
                getattr(losses[name], part).append(round(values.mean().item(), 4))
    return StretchedLosses(**losses, length=length, times=times)


def draft(plan: ChangedSizes) -> DraftGains:
    """Let a one-layer model draft for the shipped writer of verse: how much is accepted, and what it gains.

    The draft learns from text that the large model writes, to predict what that predicts. Both are clocked on one
    thread, in turn, from the same beginning. For each length of draft: the fraction accepted, tokens for each pass of
    the large model, and the ratio of times (without a draft / with one).
    """
    writer = load_writer()
    large = writer.model
    begin = torch.tensor([writer.encode("First Citizen:\n")])
    luck = torch.Generator().manual_seed(1)
    room = min(plan.written, large.config.max_length + 1 - begin.shape[1])
    texts = generate(
        large, begin.expand(plan.batch, -1), max_new_tokens=room, temperature=1.0, generator=luck, state=large.start()
    ).ids
    small = _taught(plan, large, texts[:, : large.config.max_length])
    with one_thread():
        by_length = {str(n): _drafted(plan, large, small, begin, room, n) for n in plan.n_draft}
    sizes = {name: sum(w.numel() for w in model.parameters()) for name, model in (("large", large), ("draft", small))}
    return DraftGains(by_length, sizes, room, plan.rounds)


def _taught(plan: ChangedSizes, large: DecoderLM, texts: Tensor) -> DecoderLM:
    torch.manual_seed(0)
    small = DecoderLM(large.config.but(n_layers=1, dropout=0.0))
    with torch.no_grad():
        teacher_log_p = large(texts).log_softmax(dim=-1)
    optimiser = torch.optim.AdamW(small.parameters(), lr=plan.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=plan.draft_steps)
    chance = torch.Generator().manual_seed(0)

    def loss() -> Tensor:
        rows = torch.randint(len(texts), (min(8, len(texts)),), generator=chance)
        divergence = F.kl_div(
            small(texts[rows]).log_softmax(dim=-1), teacher_log_p[rows], log_target=True, reduction="batchmean"
        )
        return divergence / texts.shape[1]

    train_small(small, loss, plan.draft_steps, schedule, clip=None)
    return small.eval()


def _drafted(
    plan: ChangedSizes, large: DecoderLM, small: DecoderLM, begin: Tensor, room: int, n_draft: int
) -> DraftGain:
    counts: list[tuple[int, int]] = []

    def with_draft() -> Tensor:
        luck = torch.Generator().manual_seed(len(counts))
        run = speculative_generate(
            large, small, begin, max_new_tokens=room, n_draft=n_draft, temperature=1.0, generator=luck
        )
        counts.append((sum(run.accepted), len(run.drafted)))
        return run.ids

    def without() -> Tensor:
        luck = torch.Generator().manual_seed(0)
        return generate(large, begin, max_new_tokens=room, temperature=1.0, generator=luck, state=large.start()).ids

    raced = race({"without": without, "with": with_draft}, plan.rounds)
    accepted, passes = (sum(column) for column in zip(*counts, strict=True))
    return DraftGain(
        acceptance=round(accepted / (passes * n_draft), 4),
        tokens_per_pass=round(len(counts) * room / passes, 3),
        **raced.ratio("without", "with", "speed"),
    )


def recall(plan: ChangedSizes) -> RecallFractions:
    """Write pairs of keys and values into a state of fixed size, each key twice, and ask for the newest value.

    Linear attention adds each pair to the state; the delta rule first takes away what the key finds. Keys are random
    directions; an answer is right where the newest value of that key is the nearest of all values written. For each
    number of keys: the fraction of right answers of both, over the seeds.
    """
    fractions: dict[str, dict[str, float]] = {"linear": {}, "delta": {}}
    for n in plan.pairs:
        right: dict[str, list[float]] = {"linear": [], "delta": []}
        for seed in plan.seeds:
            chance = torch.Generator().manual_seed(seed)
            keys, old, new = (
                F.normalize(torch.randn(n, plan.state_width, generator=chance, dtype=torch.float64), dim=-1)
                for _ in range(3)
            )
            k, v = torch.cat((keys, keys)), torch.cat((old, new))
            states = {"linear": k.mT @ v, "delta": _by_delta_rule(k, v)}
            for name, state in states.items():
                nearest = (keys @ state @ v.mT).argmax(dim=-1)
                right[name].append((nearest == n + torch.arange(n)).double().mean().item())
        for name, values in right.items():
            fractions[name][str(n)] = round(mean(values), 4)
    return RecallFractions(**fractions, width=plan.state_width)


def _by_delta_rule(k: Tensor, v: Tensor) -> Tensor:
    nothing, all_of_it = torch.zeros(len(k), dtype=k.dtype), torch.ones(len(k), dtype=k.dtype)
    return gated_delta_rule(k, k, v, nothing, all_of_it)[1]


def muon_against_adamw(plan: ChangedSizes) -> MuonGain:
    """Train the same model with AdamW at two rates, and with Muon for its hidden matrices.

    ``curve`` of each, the loss at every step averaged over ten steps and the seeds; ``loss`` on unseen text by seed;
    and ``steps``, after how many steps Muon's curve first is as low as AdamW's at its end (at the usual rate; None if
    it never is), with their ratio.
    """
    draw, vocabulary = characters()

    def muon(model: DecoderLM) -> list[torch.optim.Optimizer]:
        # Matrices of hidden layers are Muon's; embeddings, the output and vectors are AdamW's.
        in_layers = {id(weight) for weight in model.decoder.layers.parameters() if weight.ndim == 2}
        hidden = [weight for weight in model.parameters() if id(weight) in in_layers]
        others = [weight for weight in model.parameters() if id(weight) not in in_layers]
        return [
            torch.optim.Muon(hidden, lr=plan.muon_rate, weight_decay=0.01),
            torch.optim.AdamW(others, lr=plan.rate, weight_decay=0.01),
        ]

    by_optimiser = {}
    ways = {"adamw": _adamw(plan.rate), "adamw_high": _adamw(plan.high_rate), "muon": muon}
    for name, optimise in ways.items():
        losses, ends = [], []
        for seed in plan.seeds:
            model = _model(plan, vocabulary, seed)
            losses.append(_train(plan, model, draw, seed, optimise))
            ends.append(round(_loss(plan, model, draw, plan.length).mean().item(), 4))
        each = torch.tensor(losses).mean(dim=0)
        curve = [round(part.mean().item(), 4) for part in each.split(10)]
        by_optimiser[name] = OptimiserLosses(curve, ends)
    aim = by_optimiser["adamw"].curve[-1]
    reached = next((i for i, loss in enumerate(by_optimiser["muon"].curve) if loss <= aim), None)
    steps = None if reached is None else min(10 * (reached + 1), plan.steps)
    rates = {"adamw": plan.rate, "adamw_high": plan.high_rate, "muon": plan.muon_rate}
    return MuonGain(**by_optimiser, steps=steps, steps_ratio=steps and plan.steps / steps, rates=rates)


def _model(plan: ChangedSizes, vocabulary: int, seed: int, **parts: Any) -> DecoderLM:
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {
        "d_model": plan.width,
        "n_heads": plan.n_heads,
        "n_layers": plan.n_layers,
        "d_hidden": 4 * plan.width,
        "max_length": plan.length,
        "positions": "rotary",
        "pre_norm": True,
        "norm": "rms",
        "dropout": 0.0,
    }
    return DecoderLM(Config(vocabulary, **(sizes | parts)))


def _adamw(rate: float) -> Optimise:
    return lambda model: [torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)]


def _train(
    plan: ChangedSizes,
    model: DecoderLM,
    draw: Draw,
    seed: int,
    optimise: Optimise,
    after: Callable[[], None] | None = None,
    clip: float | None = 1.0,
) -> list[float]:
    """Train on stretches of text, the rate rising over the first tenth and falling to nothing; give each loss."""
    warm = max(1, plan.steps // 10)
    rates = [
        LambdaLR(optimiser, lambda step: min((step + 1) / warm, 1.0) * (1 - step / plan.steps))
        for optimiser in optimise(model)
    ]
    chance = torch.Generator().manual_seed(2 * seed)

    def loss() -> Tensor:
        ids, answers = draw(plan.batch, plan.length, chance)
        return F.cross_entropy(model(ids).flatten(0, 1), answers.flatten())

    losses = train_small(model, loss, plan.steps, *rates, clip=clip, after=after)
    model.eval()
    return losses


def _unseen() -> torch.Generator:
    return torch.Generator().manual_seed(10_001)


@torch.no_grad()
def _loss(plan: ChangedSizes, model: DecoderLM, draw: Draw, length: int) -> Tensor:
    """The mean loss at each position of unseen text."""
    ids, answers = draw(plan.test_rows, length, _unseen())
    logits = model(ids)
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten(), reduction="none").view_as(answers).mean(dim=0)
