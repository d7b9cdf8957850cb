"""What six faults do to the learning curves of one small language model: ``softlookup bench faults``.

A decoder-only model is trained on English sentences of the generated grammar, once soundly and once with each fault,
from the same first weights and with the same batches. Each run reports its losses as its faulty code computes them; the
true loss of the same weights is computed soundly beside them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.harness import benchmark
from benchmarks.kept_runs import KeptRuns
from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.schedules import inverse_square_root
from softlookup.text.grammar import english_words, sample

PAD, START, END = 0, 1, 2
HEALTHY = "healthy"
FAULTS = ("not-shifted", "no-mask", "padding-counted", "second-softmax", "never-zeroed", "dropout-on")
"""Labels are the inputs; later tokens are seen; padding is in the loss; the loss gets probabilities; gradients add up
from step to step; the model is in training mode when it is evaluated."""


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    width: int = 32
    n_heads: int = 2
    hidden: int = 64
    layers: int = 2
    dropout: float = 0.3
    sentences: int = 1200
    unseen: int = 200
    rows: int = 32
    peak: float = 5e-3
    warmup: int = 40
    steps: int = 300
    every: int = 10
    seeds: tuple[int, ...] = (1, 2, 3)


_QUICK = _Plan(width=8, n_heads=2, hidden=16, layers=1, sentences=80, unseen=20, steps=4, every=2, seeds=(1,))


@dataclass(frozen=True)
class FaultRun:
    """One training. Each list has a loss for step 0 and one for every tenth step after it, in nats a token.

    ``training`` holds the means of the losses since the point before (at step 0, the loss of the first batch),
    ``validation`` the loss on unseen sentences as the run reports it, ``true`` that loss computed soundly.
    """

    fault: str
    seed: int
    training: list[float]
    validation: list[float]
    true: list[float]


@dataclass(frozen=True)
class FaultsResult:
    """All runs, and the sizes."""

    ratio: float
    ratio_of: str
    width: int
    heads: int
    hidden: int
    layers: int
    dropout: float
    vocabulary: int
    sentences: int
    unseen: int
    padding: float
    peak: float
    warmup: int
    steps: int
    every: int
    seeds: tuple[int, ...]
    runs: list[FaultRun]
    cpu_seconds: float


@benchmark("faults", _Plan(), quick=_QUICK)
def bench_faults(
    plan: _Plan, *, runs_file: Path | None = None, say: Callable[[str], None] | None = None
) -> FaultsResult:
    """Train a small language model soundly, and with each of six faults.

    ``runs`` holds one entry for each fault (and "healthy") and seed; ``padding`` is the share of padding among the
    labels of the unseen sentences. ``ratio`` is the true loss at the end of the model whose labels were not shifted
    over that of the sound one, means over seeds; ``cpu_seconds`` are those of this call.
    """
    begun = time.process_time()
    ids, vocabulary = grammar_ids(plan.sentences, plan.unseen)
    one_by_one = KeptRuns(runs_file, repr(plan), say)
    runs = [
        FaultRun(
            fault,
            seed,
            **one_by_one.do(f"{fault}, seed {seed}", partial(_run, plan, ids, vocabulary, fault, seed)),
        )
        for fault in (HEALTHY, *FAULTS)
        for seed in plan.seeds
    ]
    one_by_one.done()

    def final(fault: str) -> float:
        return mean(run.true[-1] for run in runs if run.fault == fault)

    return FaultsResult(
        ratio=final("not-shifted") / final(HEALTHY),
        ratio_of="true loss on unseen sentences of the model whose labels were not shifted / of the sound one",
        width=plan.width,
        heads=plan.n_heads,
        hidden=plan.hidden,
        layers=plan.layers,
        dropout=plan.dropout,
        vocabulary=vocabulary,
        sentences=plan.sentences,
        unseen=plan.unseen,
        padding=round((ids[-plan.unseen :, 1:] == PAD).float().mean().item(), 4),
        peak=plan.peak,
        warmup=plan.warmup,
        steps=plan.steps,
        every=plan.every,
        seeds=plan.seeds,
        runs=runs,
        cpu_seconds=round(time.process_time() - begun, 1),
    )


def grammar_ids(n_trained_on: int, n_unseen: int) -> tuple[Tensor, int]:
    """The ids of all sentences (those not trained on are the last ones), and the size of the vocabulary."""
    sentences = [english_words(pair.english) for pair in sample(n_trained_on + n_unseen, seed=9, unique=True)]
    words = sorted({word for sentence in sentences for word in sentence})
    index = {word: END + 1 + i for i, word in enumerate(words)}
    ids = torch.full((len(sentences), max(map(len, sentences)) + 2), PAD)
    for row, sentence in zip(ids, sentences, strict=True):
        row[: len(sentence) + 2] = torch.tensor([START, *(index[word] for word in sentence), END])
    return ids, END + 1 + len(words)


def loss_of(model: DecoderLM, ids: Tensor, fault: str) -> Tensor:
    """The loss as a run with this fault computes it; faults that are not in the loss leave it sound."""
    inputs, labels = ids[:, :-1], ids[:, 1:]
    logits_BTV = model(inputs)
    if fault == "not-shifted":
        labels = inputs
    if fault == "second-softmax":
        logits_BTV = logits_BTV.softmax(-1)
    ignored = -100 if fault == "padding-counted" else PAD
    return F.cross_entropy(logits_BTV.mT, labels, ignore_index=ignored)


def _evaluated(model: DecoderLM, ids: Tensor, fault: str, *, causal: bool) -> float:
    model.train(fault == "dropout-on")
    model.decoder.causal = causal
    with torch.no_grad():
        return round(loss_of(model, ids, fault).item(), 4)


def _run(plan: _Plan, ids: Tensor, vocabulary: int, fault: str, seed: int) -> dict[str, Any]:
    torch.manual_seed(seed)
    config = Config(
        vocabulary,
        d_model=plan.width,
        n_heads=plan.n_heads,
        n_layers=plan.layers,
        d_hidden=plan.hidden,
        max_length=64,
        dropout=plan.dropout,
        pre_norm=True,
        tied=False,
        pad_id=PAD,
        start_id=START,
        end_id=END,
    )
    model = DecoderLM(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=plan.peak, betas=(0.9, 0.98), eps=1e-9)
    known, unseen = ids[: plan.sentences], ids[plan.sentences :]
    draws = torch.Generator().manual_seed(seed)
    causal = fault != "no-mask"
    curves: dict[str, list[float]] = {"training": [], "validation": [], "true": []}

    def evaluate() -> None:
        curves["validation"].append(_evaluated(model, unseen, fault, causal=causal))
        curves["true"].append(_evaluated(model, unseen, HEALTHY, causal=True))
        model.train()
        model.decoder.causal = causal

    evaluate()
    since: list[float] = []
    for step in range(1, plan.steps + 1):
        batch = known[torch.randint(len(known), (plan.rows,), generator=draws)]
        loss = loss_of(model, batch, fault)
        if fault != "never-zeroed":
            optimizer.zero_grad()
        loss.backward()
        optimizer.param_groups[0]["lr"] = inverse_square_root(step, peak=plan.peak, warmup=plan.warmup)
        optimizer.step()
        since.append(loss.item())
        if step == 1:
            curves["training"].append(round(since[0], 4))
        if step % plan.every == 0:
            curves["training"].append(round(mean(since), 4))
            since.clear()
            evaluate()
    return curves
