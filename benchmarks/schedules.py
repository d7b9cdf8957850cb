"""What the peak of the learning rate and a warm-up do to small translators: ``softlookup bench schedules``.

One small encoder-decoder with the norm after each sublayer, as in the paper, is trained on the generated grammar with
the paper's curve (up in a line, down with the root of the step) at several peaks. Runs without a warm-up begin at the
peak and stay there as long as the others rise; from there on both have the same rate.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from benchmarks.harness import benchmark
from benchmarks.kept_runs import KeptRuns
from softlookup.model.parts.config import Config
from softlookup.model.whole.schedules import inverse_square_root
from softlookup.model.whole.transformer import Transformer
from softlookup.text.grammar import english_words, french_words
from softlookup.training.data import BucketedBatches, IdPair
from softlookup.training.grammar_run import grammar_splits
from softlookup.training.loop import DivergedError, train, validation_loss

PAD, UNKNOWN, START, END = 0, 1, 2, 3


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    width: int = 64
    n_heads: int = 4
    hidden: int = 128
    layers: int = 3
    tokens_per_batch: int = 800
    pairs: int = 8000
    steps: int = 400
    warmups: tuple[int, ...] = (0, 100)
    peaks: tuple[float, ...] = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
    seeds: tuple[int, ...] = (1, 2)
    kept_every: int = 10


_QUICK = _Plan(
    width=8, n_heads=2, hidden=16, layers=1, pairs=900, steps=4, warmups=(0, 2), peaks=(1e-3, 1e-2), kept_every=2
)


@dataclass(frozen=True)
class ScheduleRun:
    """One training: loss on unseen sentences (None if it diverged) and mean training losses, in nats a token."""

    warmup: int
    peak: float
    seed: int
    loss: float | None
    curve: list[float]


@dataclass(frozen=True)
class SchedulesResult:
    """All runs, and the sizes; ``best_peak`` is the best with a warm-up."""

    ratio: float
    ratio_of: str
    best_peak: float
    width: int
    heads: int
    hidden: int
    layers: int
    vocabulary: int
    tokens_per_batch: int
    steps: int
    warmups: tuple[int, ...]
    peaks: tuple[float, ...]
    seeds: tuple[int, ...]
    kept_every: int
    runs: list[ScheduleRun]
    cpu_seconds: float


@benchmark("schedules", _Plan(), quick=_QUICK)
def bench_schedules(
    plan: _Plan, *, runs_file: Path | None = None, say: Callable[[str], None] | None = None
) -> SchedulesResult:
    """Train small translators at several peaks of the learning rate, with a warm-up and without.

    ``runs`` holds one entry for each run: warmup (0 is none), peak, seed, ``curve`` (the mean training loss of each ten
    steps, in nats a token) and ``loss`` on sentences that were not trained on, None where the loss ceased to be a
    number. ``ratio`` is the loss without a warm-up over that with one, at the peak that is best with one;
    ``cpu_seconds`` are those of this call.
    """
    begun = time.process_time()
    batches, validation, vocabulary = _data(plan)
    one_by_one = KeptRuns(runs_file, repr(plan), say)
    runs = [
        ScheduleRun(
            warmup,
            peak,
            seed,
            **one_by_one.do(
                f"warm-up {warmup}, peak {peak:g}, seed {seed}",
                partial(_run, plan, batches[seed], validation, vocabulary, warmup, peak, seed),
            ),
        )
        for warmup in plan.warmups
        for peak in plan.peaks
        for seed in plan.seeds
    ]

    def final(warmup: int, peak: float) -> float:
        losses = [run.loss for run in runs if (run.warmup, run.peak) == (warmup, peak)]
        return mean(float("inf") if loss is None else loss for loss in losses)

    one_by_one.done()
    best = min(plan.peaks, key=lambda peak: final(plan.warmups[-1], peak))
    return SchedulesResult(
        ratio=final(plan.warmups[0], best) / final(plan.warmups[-1], best),
        ratio_of=f"loss on unseen sentences without a warm-up / with one, both at a peak of {best:g}",
        best_peak=best,
        width=plan.width,
        heads=plan.n_heads,
        hidden=plan.hidden,
        layers=plan.layers,
        vocabulary=vocabulary,
        tokens_per_batch=plan.tokens_per_batch,
        steps=plan.steps,
        warmups=plan.warmups,
        peaks=plan.peaks,
        seeds=plan.seeds,
        kept_every=plan.kept_every,
        runs=runs,
        cpu_seconds=round(time.process_time() - begun, 1),
    )


def _data(plan: _Plan) -> tuple[dict[int, BucketedBatches], BucketedBatches, int]:
    """The same sentences in another order for each seed, sentences set apart, and the size of the vocabulary."""
    training, validation, _ = grammar_splits(plan.pairs, n_validation=200, n_test=1)
    words = sorted({word for pair in training for word in english_words(pair.english) + french_words(pair.french)})
    known = {word: END + 1 + i for i, word in enumerate(words)}

    def ids(pair: Any) -> IdPair:
        source = [known.get(word, UNKNOWN) for word in english_words(pair.english)]
        target = [known.get(word, UNKNOWN) for word in french_words(pair.french)]
        return [*source, END], [START, *target, END]

    taught = [ids(pair) for pair in training]
    batches = {
        seed: BucketedBatches(taught, pad_id=PAD, tokens_per_batch=plan.tokens_per_batch, seed=seed)
        for seed in plan.seeds
    }
    apart = BucketedBatches([ids(pair) for pair in validation], pad_id=PAD, tokens_per_batch=4000)
    return batches, apart, END + 1 + len(words)


def _run(
    plan: _Plan,
    batches: BucketedBatches,
    validation: BucketedBatches,
    vocabulary: int,
    warmup: int,
    peak: float,
    seed: int,
) -> dict[str, Any]:
    torch.manual_seed(seed)
    model = Transformer(
        Config(
            vocabulary,
            d_model=plan.width,
            n_heads=plan.n_heads,
            n_layers=plan.layers,
            d_hidden=plan.hidden,
            max_length=64,
            dropout=0.0,
            pre_norm=False,
            pad_id=PAD,
            start_id=START,
            end_id=END,
        )
    )
    losses: list[float] = []
    top = plan.warmups[-1]
    try:
        train(
            model,
            batches,
            optimizer=torch.optim.Adam(model.parameters(), lr=peak, betas=(0.9, 0.98), eps=1e-9),
            # Without a warm-up the rate is the peak until the way down begins.
            schedule=lambda step: inverse_square_root(step if warmup else max(step, top), peak=peak, warmup=top),
            steps=plan.steps,
            clip=None,
            epsilon=0.0,
            on_step=lambda progress: losses.append(progress.loss),
        )
        loss: float | None = round(validation_loss(model, validation), 4)
    except DivergedError:
        loss = None
    every = plan.kept_every
    curve = [round(mean(losses[i : i + every]), 4) for i in range(0, len(losses), every)]
    return {"loss": loss, "curve": curve}
