"""A whole training of a translator beside torch's own transformer: ``softlookup bench translator --device cuda``.

Both are trained by the same loop on the same sentences, batches being made, moved and learned from on the clock, until
they have taken as many steps. Ours goes the device's quickest way, on a GPU with recorded steps; torch's has autocast
and fused Adam, and batches as narrow as its sentences allow.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.harness import benchmark, machine
from benchmarks.kept_runs import KeptRuns
from benchmarks.training import _data, _model
from benchmarks.training import _Plan as _Sizes
from benchmarks.training_peer import copy_of, labels_of, plain_loss
from softlookup.model.whole.schedules import warmup_hold_decay
from softlookup.training.data import Batch, BucketedBatches, IdPair
from softlookup.training.fast import FastLoss, quick_dtype
from softlookup.training.loop import Progress, train, validation_loss
from softlookup.training.plain_loss import PlainLoss

_EPSILON = 0.1


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench: the model's and the data's, how long, and how much of that is not counted."""

    sizes: _Sizes
    steps: int = 320
    uncounted: int = 160  # torch compiles, and shapes are recorded, in the first steps


_CUDA = _Plan(_Sizes(d_model=256, d_hidden=1024, tokens_per_batch=32_000, n_grammar=60_000, warmup=40))
_CPU = _Plan(_Sizes(n_grammar=4000, warmup=12), steps=24, uncounted=4)
_QUICK = _Plan(
    _Sizes(
        d_model=32,
        d_hidden=48,
        n_layers=1,
        vocab_size=200,
        tokens_per_batch=400,
        n_grammar=200,
        n_validation=20,
        warmup=2,
    ),
    steps=4,
    uncounted=1,
)


@dataclass(frozen=True)
class TranslatorRun:
    """One way: real target tokens a second from the first counted step to the last, and where it came to."""

    name: str
    tokens_per_s: float
    step_ms: float
    before_counted_s: float
    validation_loss: float
    last_losses: tuple[float, ...]
    peak_gb: float | None


@dataclass(frozen=True)
class TranslatorTraining:
    """All ways, and ours over torch's."""

    dtype: str
    ratio: float
    tokens_per_batch: int
    steps: int
    parameters: int
    data: str
    runs: tuple[TranslatorRun, ...]


@benchmark("translator", _CPU, quick=_QUICK, cuda=_CUDA, cuda_quick=_QUICK)
def bench_translator(
    plan: _Plan,
    folder: str | Path | None = None,
    *,
    device: str = "cpu",
    runs_file: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> TranslatorTraining:
    """Train torch's nn.Transformer and ours by the same loop, and compare tokens a second and losses.

    ``folder`` has train.en and train.fr, val.en and val.fr, or it is a FileNotFoundError; None takes the generated
    grammar. ``say`` also takes what the steps of a run could not do.
    """
    sizes, on_gpu, dtype = plan.sizes, torch.device(device).type == "cuda", quick_dtype(device)
    tokenizer, pairs, validation, data = _data(folder, sizes)

    def batches(pairs: list[IdPair]) -> BucketedBatches:
        return BucketedBatches(pairs, pad_id=tokenizer.pad_id, tokens_per_batch=sizes.tokens_per_batch)

    def run(name: str, model: nn.Module, loss: Callable[[Batch], Tensor], captured: bool = False) -> TranslatorRun:
        autocast = torch.bfloat16 if dtype == torch.bfloat16 and name != "fast path" else None
        done = partial(_run, name, model, loss, plan, batches(pairs), batches(validation), autocast, captured, say)
        return TranslatorRun(**one_by_one.do(name, done))

    model = _model(sizes, len(tokenizer), device)
    one_by_one = KeptRuns(runs_file, f"{plan} on {data}, {machine(device)}, torch {torch.__version__}", say)
    peer = copy_of(model, dropout_everywhere=False)
    runs = [run("nn.Transformer", peer, lambda batch: plain_loss(peer, batch, _EPSILON) * labels_of(batch))]
    if on_gpu:
        course = PlainLoss(model, epsilon=_EPSILON, compiled=True)
        runs.append(run("compiled, steps recorded", model, course.summed, captured=True))
    else:
        fast = FastLoss(model, epsilon=_EPSILON, dtype=dtype)
        runs.append(run("fast path", model, fast.summed))
    one_by_one.done()
    return TranslatorTraining(
        dtype=str(dtype).removeprefix("torch."),
        ratio=runs[-1].tokens_per_s / runs[0].tokens_per_s,
        tokens_per_batch=sizes.tokens_per_batch,
        steps=plan.steps,
        parameters=sum(p.numel() for p in model.parameters()),
        data=data,
        runs=tuple(runs),
    )


def _run(
    name: str,
    model: nn.Module,
    loss: Callable[[Batch], Tensor],
    plan: _Plan,
    batches: BucketedBatches,
    validation: BucketedBatches,
    autocast: torch.dtype | None,
    captured: bool,
    say: Callable[[str], None] | None,
) -> TranslatorRun:
    sizes, seen = plan.sizes, []
    begun_s = time.perf_counter()

    def on_step(progress: Progress) -> None:
        seen.append((time.perf_counter() - begun_s, progress.tokens))

    on_gpu = next(model.parameters()).is_cuda
    if on_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    state = train(
        model,
        batches,
        optimizer=torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True),
        schedule=lambda step: warmup_hold_decay(
            step, peak=sizes.peak, warmup=sizes.warmup, decay_from=plan.steps, total=plan.steps + 1
        ),
        steps=plan.steps,
        epsilon=_EPSILON,
        autocast=autocast,
        objective=lambda model, batch, epsilon: loss(batch),
        on_step=on_step,
        captured=captured,
        note=say or (lambda line: None),
    )
    begun_counted_s, _ = seen[plan.uncounted - 1]
    counted_s = seen[-1][0] - begun_counted_s
    return TranslatorRun(
        name=name,
        tokens_per_s=sum(tokens for _, tokens in seen[plan.uncounted :]) / counted_s,
        step_ms=1e3 * counted_s / (plan.steps - plan.uncounted),
        before_counted_s=begun_counted_s,
        validation_loss=validation_loss(model, validation),
        last_losses=tuple(state.losses[-10:]),
        peak_gb=torch.cuda.max_memory_allocated() / 1e9 if on_gpu else None,
    )
