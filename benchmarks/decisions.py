"""What five decisions before a run do to one small language model: ``softlookup bench decisions``.

The decoder of ``faults.py`` is trained soundly as usual, and with one thing changed at a time: its width, the precision
it computes in, how a batch is put together from two parts, the size of its first weights, and the targets. Every run
ends with its plain loss on unseen sentences, computed alike, in float32.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.faults import END, PAD, START, grammar_ids
from benchmarks.harness import benchmark
from benchmarks.kept_runs import KeptRuns
from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.schedules import inverse_square_root


@dataclass(frozen=True)
class _Setting:
    """One way to train; the defaults are the usual one."""

    width_times: float = 1.0
    autocast: bool = False
    halves: bool = False  # weights, gradients and Adam's averages in bfloat16, without a master copy
    parts: str = ""  # the batch in two parts: "sums" are divided once, "means" are averaged
    weights_times: float = 1.0
    smoothing: float = 0.0


USUAL = "as usual"
SETTINGS: dict[str, dict[str, _Setting]] = {
    "size": {"half as wide": _Setting(width_times=0.5), "twice as wide": _Setting(width_times=2)},
    "precision": {"autocast": _Setting(autocast=True), "all bfloat16": _Setting(halves=True)},
    "batch": {"28 + 4, sums": _Setting(parts="sums"), "28 + 4, means": _Setting(parts="means")},
    "first weights": {"Xavier / 4": _Setting(weights_times=0.25), "Xavier x 4": _Setting(weights_times=4)},
    "targets": {"smoothed by 0.1": _Setting(smoothing=0.1), "smoothed by 0.3": _Setting(smoothing=0.3)},
}
"""Decision -> name of a setting -> the one thing that it changes."""


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    width: int = 32
    n_heads: int = 2
    layers: int = 2
    dropout: float = 0.1
    sentences: int = 1200
    unseen: int = 200
    rows: int = 32
    first_part: int = 28
    peak: float = 5e-3
    warmup: int = 40
    steps: int = 300
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)


_QUICK = _Plan(width=8, layers=1, sentences=80, unseen=20, steps=4, seeds=(1,))


@dataclass(frozen=True)
class DecisionRun:
    """One training: ``loss`` is the plain loss on unseen sentences at its end, in nats a token."""

    decision: str
    setting: str
    seed: int
    loss: float


@dataclass(frozen=True)
class DecisionsResult:
    """All runs, and the sizes."""

    ratio: float
    ratio_of: str
    width: int
    heads: int
    layers: int
    dropout: float
    vocabulary: int
    sentences: int
    unseen: int
    rows: int
    first_part: int
    peak: float
    warmup: int
    steps: int
    seeds: tuple[int, ...]
    runs: list[DecisionRun]
    cpu_seconds: float


@benchmark("decisions", _Plan(), quick=_QUICK)
def bench_decisions(
    plan: _Plan, *, runs_file: Path | None = None, say: Callable[[str], None] | None = None
) -> DecisionsResult:
    """Train a small language model as usual, and with one decision taken otherwise at a time.

    ``runs`` holds one entry for each setting and seed; those with the same seed draw the same sentences, and begin with
    the same weights where shape and size allow. ``ratio`` is the loss with first weights four times as large over the
    usual one, means over seeds; ``cpu_seconds`` are those of this call.
    """
    begun = time.process_time()
    ids, vocabulary = grammar_ids(plan.sentences, plan.unseen)
    one_by_one = KeptRuns(runs_file, repr(plan), say)
    named = {("", USUAL): _Setting()}
    named |= {(decision, name): setting for decision, of in SETTINGS.items() for name, setting in of.items()}
    runs = [
        DecisionRun(
            decision,
            name,
            seed,
            one_by_one.do(f"{name}, seed {seed}", partial(_run, plan, ids, vocabulary, setting, seed)),
        )
        for (decision, name), setting in named.items()
        for seed in plan.seeds
    ]
    one_by_one.done()

    def final(name: str) -> float:
        return mean(run.loss for run in runs if run.setting == name)

    return DecisionsResult(
        ratio=final("Xavier x 4") / final(USUAL),
        ratio_of="loss on unseen sentences with first weights four times as large / with Xavier's",
        width=plan.width,
        heads=plan.n_heads,
        layers=plan.layers,
        dropout=plan.dropout,
        vocabulary=vocabulary,
        sentences=plan.sentences,
        unseen=plan.unseen,
        rows=plan.rows,
        first_part=plan.first_part,
        peak=plan.peak,
        warmup=plan.warmup,
        steps=plan.steps,
        seeds=plan.seeds,
        runs=runs,
        cpu_seconds=round(time.process_time() - begun, 1),
    )


def made(plan: _Plan, vocabulary: int, setting: _Setting, seed: int) -> DecoderLM:
    """The model of a run before its first step."""
    torch.manual_seed(seed)
    width = int(plan.width * setting.width_times)
    config = Config(
        vocabulary,
        d_model=width,
        n_heads=plan.n_heads,
        n_layers=plan.layers,
        d_hidden=2 * width,
        max_length=64,
        dropout=plan.dropout,
        pre_norm=True,
        tied=False,
        pad_id=PAD,
        start_id=START,
        end_id=END,
    )
    model = DecoderLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:  # matrices; gains and biases begin at 1 and 0 either way
                parameter.mul_(setting.weights_times)
    return model.to(torch.bfloat16) if setting.halves else model


def accumulate(model: DecoderLM, batch: Tensor, setting: _Setting, first_part: int) -> None:
    """Add the gradient of a batch's loss, as this setting computes it, to those that the model holds."""

    def loss_of(ids: Tensor, reduction: str) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=setting.autocast):
            logits_BTV = model(ids[:, :-1])
        return F.cross_entropy(
            logits_BTV.float().mT,
            ids[:, 1:],
            ignore_index=PAD,
            label_smoothing=setting.smoothing,
            reduction=reduction,
        )

    parts = batch.split([first_part, len(batch) - first_part]) if setting.parts else (batch,)
    tokens = (batch[:, 1:] != PAD).sum()
    for part in parts:
        loss = loss_of(part, "sum") / tokens if setting.parts == "sums" else loss_of(part, "mean") / len(parts)
        loss.backward()


def _run(plan: _Plan, ids: Tensor, vocabulary: int, setting: _Setting, seed: int) -> float:
    model = made(plan, vocabulary, setting, seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=plan.peak, betas=(0.9, 0.98), eps=1e-9)
    known, unseen = ids[: plan.sentences], ids[plan.sentences :]
    draws = torch.Generator().manual_seed(seed)
    for step in range(1, plan.steps + 1):
        batch = known[torch.randint(len(known), (plan.rows,), generator=draws)]
        optimizer.zero_grad()
        accumulate(model, batch, setting, plan.first_part)
        optimizer.param_groups[0]["lr"] = inverse_square_root(step, peak=plan.peak, warmup=plan.warmup)
        optimizer.step()
    model.float().eval()
    with torch.no_grad():
        return round(F.cross_entropy(model(unseen[:, :-1]).mT, unseen[:, 1:], ignore_index=PAD).item(), 4)
