"""How fast training is, beside torch's own transformer on the same batches: ``softlookup bench training``."""

import statistics
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.harness import benchmark
from benchmarks.measures import product_rate, quantile, step_flops, wait
from benchmarks.training_peer import copy_of, labels_of, plain_loss
from softlookup.model.parts.config import Config
from softlookup.model.whole.schedules import warmup_hold_decay
from softlookup.model.whole.transformer import Transformer
from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.corpus import read_pairs
from softlookup.text.grammar import sample
from softlookup.training.data import Batch, Batches, BucketedBatches, IdPair, PlainBatches, encode_pairs
from softlookup.training.fast import FastLoss, quick_dtype
from softlookup.training.loop import validation_loss
from softlookup.training.plain_loss import PlainLoss

_EPSILON = 0.1
_WARMING_UP = 3  # steps that are not counted: torch prepares its kernels in them


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    d_model: int = 192
    d_hidden: int = 512
    n_heads: int = 4
    n_layers: int = 3
    vocab_size: int = 6000
    dropout: float = 0.2
    tokens_per_batch: int = 2000
    max_length: int = 100
    steps: int = 160
    warmup: int = 60
    peak: float = 1.5e-3
    timed_every: int = 4  # the rows that are only timed take part in every so many steps
    n_grammar: int = 20_000
    n_validation: int = 300
    products: tuple[int, ...] = (1024, 2048)
    product_s: float = 0.5
    most_steps: int = 3  # the padded pipeline stops after so many times the steps, reached or not


_QUICK = _Plan(
    d_model=32,
    d_hidden=48,
    n_layers=1,
    vocab_size=200,
    tokens_per_batch=400,
    steps=8,
    warmup=2,
    peak=5e-3,
    timed_every=2,
    n_grammar=300,
    n_validation=20,
    products=(64, 128),
    product_s=0.02,
)


_CUDA = _Plan(d_model=256, d_hidden=1024, tokens_per_batch=32_000, n_grammar=120_000, warmup=20, products=(4096, 8192))


@dataclass
class _Runner:
    """One way of training: a model, its optimizer, its loss, and how long each of its steps took."""

    name: str
    model: nn.Module
    optimizer: torch.optim.Optimizer
    loss: Callable[[Batch], Tensor]
    trains: bool = True
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    flops: list[float] = field(default_factory=list)

    def step(self, batch: Batch, rate: float, flops: float) -> None:
        """Train on one batch, on the clock."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        wait(batch)
        begun_s, begun_cpu_s = time.perf_counter(), time.process_time()
        self.model.zero_grad(set_to_none=True)
        self.loss(batch).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        wait(batch)
        self.seconds.append(time.perf_counter() - begun_s)
        self.cpu_seconds.append(time.process_time() - begun_cpu_s)
        self.tokens.append(batch.tokens)
        self.flops.append(flops)


@dataclass(frozen=True)
class PaddedRun:
    """The plain pipeline up to the loss of the fast one: seconds, whether it got there, and what it trained on."""

    seconds: float
    cpu_seconds: float
    reached: bool
    steps: int
    rows: int
    validation_loss: float
    share_of_padding: float


@dataclass(frozen=True)
class RunnerSpeed:
    """One way of training after its first steps: medians over them, and its validation loss if it learns."""

    name: str
    tokens_per_s: float
    tokens_per_s_p10: float
    tokens_per_s_p90: float
    step_ms: float
    steps: int
    gflop_per_s: float
    product_dtype: str
    share_of_product_rate: float
    validation_loss: float | None


@dataclass(frozen=True)
class TrainingResult:
    """The fast path beside nn.Transformer; losses are in nats a token."""

    ratio: float
    ratio_of: str
    ratio_p10: float
    ratio_p90: float
    ratio_cpu_time: float
    steps: int
    tokens_seen: int
    validation_loss_before: float
    validation_loss_fast: float
    validation_loss_torch: float
    time_ratio: float
    time_ratio_cpu_time: float
    time_ratio_of: str
    fast_s: float
    padded: PaddedRun
    share_of_product_rate: float
    product_rate_gflop_per_s: dict[str, float]
    rows: list[RunnerSpeed]
    data: str
    vocab_size: int
    parameters: int
    peer: str


@benchmark("training", _Plan(), quick=_QUICK, cuda=_CUDA, cuda_quick=_QUICK)
def bench_training(plan: _Plan, folder: str | Path | None = None, *, device: str = "cpu") -> TrainingResult:
    """Train by the fast path and by torch's nn.Transformer, step by step in turn on the same batches, and compare.

    Both begin with the same weights, and drop numbers at the same places. Rows beside these two are only timed: torch
    with the dropout that nn.Transformer has by itself, and torch under autocast. Then a plain pipeline, padded and
    unbucketed, is trained until it reaches the validation loss that the fast run ended with.

    ``folder`` has train.en and train.fr, val.en and val.fr (FileNotFoundError if not, ValueError if there are too few
    pairs). None takes the generated grammar, whose vocabulary is small; the record says so.

    ``ratio`` is the median over the batches of (seconds of torch's step / seconds of ours); ``time_ratio`` is (seconds
    of the plain pipeline / seconds of ours) to the same validation loss; then rates, losses, shares of the machine's
    measured rate of matrix products, the machine and the peer's version.
    """
    tokenizer, training, validation_pairs, data = _data(folder, plan)
    batches = BucketedBatches(training, pad_id=tokenizer.pad_id, tokens_per_batch=plan.tokens_per_batch)
    validation = BucketedBatches(validation_pairs, pad_id=tokenizer.pad_id, tokens_per_batch=4000)
    model = _model(plan, len(tokenizer), device)
    runners = _runners(model, device, batches)
    fast_runner, peer_runner = runners[0], runners[1]
    before = validation_loss(model, validation)
    n_rows = _side_by_side(runners, batches, model.config, plan, device)
    losses = {runner.name: validation_loss(runner.model, validation) for runner in runners if runner.trains}
    ratios = [peer / fast for fast, peer in zip(fast_runner.seconds, peer_runner.seconds, strict=True)][_WARMING_UP:]
    cpu_ratios = [peer / fast for fast, peer in zip(fast_runner.cpu_seconds, peer_runner.cpu_seconds, strict=True)][
        _WARMING_UP:
    ]
    rates = {
        name: product_rate(dtype, device, plan.products, plan.product_s) for name, dtype in _dtypes(device).items()
    }
    rows = [_row(runner, fast_runner, rates, losses) for runner in runners]
    padded = _padded_run(training, validation, plan, len(tokenizer), device, n_rows, losses[fast_runner.name])
    fast_s = sum(fast_runner.seconds)
    return TrainingResult(
        ratio=statistics.median(ratios),
        ratio_of=f"seconds of a step of nn.Transformer ({peer_runner.name}) / of {fast_runner.name}, on the same "
        "batch, the median",
        ratio_p10=quantile(ratios, 0.1),
        ratio_p90=quantile(ratios, 0.9),
        ratio_cpu_time=statistics.median(cpu_ratios),
        steps=plan.steps,
        tokens_seen=sum(fast_runner.tokens),
        validation_loss_before=before,
        validation_loss_fast=losses[fast_runner.name],
        validation_loss_torch=losses[peer_runner.name],
        time_ratio=padded.seconds / fast_s,
        time_ratio_cpu_time=padded.cpu_seconds / sum(fast_runner.cpu_seconds),
        time_ratio_of="seconds of nn.Transformer on padded, unbucketed batches / of ours, to the same loss"
        + ("" if padded.reached else "; not reached: at least so much"),
        fast_s=fast_s,
        padded=padded,
        share_of_product_rate=rows[0].share_of_product_rate,
        product_rate_gflop_per_s={name: rate / 1e9 for name, rate in rates.items()},
        rows=rows,
        data=data,
        vocab_size=len(tokenizer),
        parameters=sum(p.numel() for p in model.parameters()),
        peer=f"torch {torch.__version__}, nn.Transformer",
    )


def _data(folder: str | Path | None, plan: _Plan) -> tuple[BytePairTokenizer, list[IdPair], list[IdPair], str]:
    if folder is None:
        drawn = [(pair.english, pair.french) for pair in sample(plan.n_grammar, 0, unique=True)]
        pairs, validation = drawn[plan.n_validation :], drawn[: plan.n_validation]
        data = f"{len(pairs):,} sentences of the generated grammar, whose vocabulary is small"
    else:
        pairs, validation = read_pairs(folder, "train").pairs, read_pairs(folder, "val").pairs[: plan.n_validation]
        data = f"{len(pairs):,} pairs of {Path(folder).name}"
    tokenizer = BytePairTokenizer.train([text for pair in pairs for text in pair], vocab_size=plan.vocab_size)
    id_pairs, kept_validation = (
        [ids for ids in encode_pairs(some, tokenizer) if max(map(len, ids)) <= plan.max_length]
        for some in (pairs, validation)
    )
    return tokenizer, id_pairs, kept_validation, data


def _model(plan: _Plan, vocab_size: int, device: str) -> Transformer:
    """The model that both are copies of: nn.Transformer has biases in attention, so it has them too."""
    torch.manual_seed(0)
    config = Config(
        vocab_size,
        d_model=plan.d_model,
        n_heads=plan.n_heads,
        n_layers=plan.n_layers,
        d_hidden=plan.d_hidden,
        max_length=plan.max_length,
        pre_norm=True,
        attention_bias=True,
        dropout=plan.dropout,
    )
    return Transformer(config).to(device)


def _adam(model: nn.Module, **options: bool) -> torch.optim.Adam:
    return torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9, **options)


def _torch_runner(name: str, model: Transformer, *, everywhere: bool, autocast: bool, trains: bool) -> _Runner:
    peer = copy_of(model, dropout_everywhere=everywhere)

    def loss(batch: Batch) -> Tensor:
        with torch.autocast(batch.target_ids.device.type, dtype=torch.bfloat16, enabled=autocast):
            return plain_loss(peer, batch, _EPSILON)

    return _Runner(name, peer, _adam(peer), loss, trains)


def _runners(model: Transformer, device: str, batches: Batches) -> list[_Runner]:
    """Ours first, then the peer of equal work, then those that are only timed."""
    fast = FastLoss(model, epsilon=_EPSILON, dtype=quick_dtype(device))
    if torch.device(device).type == "cuda":
        return _runners_on_gpu(model, fast, batches)
    fast_runner = _Runner("fast path", model, _adam(model, fused=True), lambda batch: fast.summed(batch) / batch.tokens)
    return [
        fast_runner,
        _torch_runner("torch float32", model, everywhere=False, autocast=False, trains=True),
        _torch_runner("torch float32, its own dropout", model, everywhere=True, autocast=False, trains=False),
        _torch_runner("torch autocast bfloat16", model, everywhere=False, autocast=True, trains=False),
    ]


def _runners_on_gpu(model: Transformer, fast: FastLoss, batches: Batches) -> list[_Runner]:
    """The plain model compiled, and the peer in the same precision; the fast path, made for CPUs, is only timed."""
    plain_model = deepcopy(model)
    plain = PlainLoss(plain_model, epsilon=_EPSILON, compiled=True)

    def plain_loss(batch: Batch) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return plain.summed(batch) / labels_of(batch)

    for batch in islice(batches.epoch(0), 4):  # torch compiles for one shape, then for all: before the clock runs
        plain_loss(batch.to("cuda")).backward()
    fast_adam = _adam(model, fused=True)
    return [
        _Runner("plain model, compiled, bfloat16", plain_model, _adam(plain_model, fused=True), plain_loss),
        _torch_runner("torch autocast bfloat16", model, everywhere=False, autocast=True, trains=True),
        _torch_runner("torch float32", model, everywhere=False, autocast=False, trains=False),
        _Runner("fast path, bfloat16", model, fast_adam, lambda batch: fast.summed(batch) / batch.tokens, trains=False),
    ]


def _side_by_side(runners: Sequence[_Runner], batches: Batches, config: Config, plan: _Plan, device: str) -> int:
    """Train all of them in turn on the same batches; return the mean number of rows in a batch."""
    done, epoch, n_rows = 0, 0, 0
    for runner in runners:
        runner.model.train()
    while done < plan.steps:
        for batch in islice(batches.epoch(epoch), plan.steps - done):
            taking_part = [r for r in runners if r.trains or done % plan.timed_every == 0]
            # Whoever comes first finds the caches otherwise than whoever comes last: so they take turns.
            first = done % len(taking_part)
            done += 1
            on_device = batch.to(device)
            for runner in taking_part[first:] + taking_part[:first]:
                work = step_flops(batch, config, padded_labels=runner is not runners[0])
                runner.step(on_device, _rate(plan, done), work)
            n_rows += len(batch.target_ids)
        epoch += 1
    return max(1, round(n_rows / plan.steps))


def _padded_run(
    pairs: Sequence[IdPair],
    validation: Batches,
    plan: _Plan,
    vocab_size: int,
    device: str,
    n_rows: int,
    target_loss: float,
) -> PaddedRun:
    """Train nn.Transformer on shuffled batches of a fixed number of rows until it is as good as wanted."""
    model = _model(plan, vocab_size, device)
    runner = _torch_runner("", model, everywhere=False, autocast=False, trains=True)
    batches = PlainBatches(pairs, pad_id=model.config.pad_id, rows=n_rows)
    every = max(1, plan.steps // 10)
    step, epoch, loss = 0, 0, validation_loss(runner.model, validation)
    before, n_real, n_padded = loss, 0, 0
    while loss > target_loss and step < plan.most_steps * plan.steps:
        runner.model.train()
        for batch in batches.epoch(epoch):
            step += 1
            runner.step(batch.to(device), _rate(plan, step), 0.0)
            n_real, n_padded = n_real + batch.tokens, n_padded + batch.target_ids[:, 1:].numel()
            if step % every == 0:
                before, loss = loss, validation_loss(runner.model, validation)
                if loss <= target_loss or step >= plan.most_steps * plan.steps:
                    break
        epoch += 1
    # It was reached somewhere between the last two measurements.
    part = (before - target_loss) / (before - loss) if loss <= target_loss < before else 1.0
    return PaddedRun(
        seconds=sum(runner.seconds[:-every]) + part * sum(runner.seconds[-every:]),
        cpu_seconds=sum(runner.cpu_seconds[:-every]) + part * sum(runner.cpu_seconds[-every:]),
        reached=loss <= target_loss,
        steps=step,
        rows=n_rows,
        validation_loss=loss,
        share_of_padding=1 - n_real / max(1, n_padded),
    )


def _rate(plan: _Plan, step: int) -> float:
    """Up, then level: so that a loss may be reached at any step."""
    far = plan.most_steps * plan.steps
    return warmup_hold_decay(step, peak=plan.peak, warmup=plan.warmup, decay_from=far, total=far + 1)


def _dtypes(device: str) -> dict[str, torch.dtype]:
    names = {"float32": torch.float32}
    return names | {"bfloat16": torch.bfloat16} if quick_dtype(device) == torch.bfloat16 else names


def _row(runner: _Runner, fast_runner: _Runner, rates: dict[str, float], losses: dict[str, float]) -> RunnerSpeed:
    """What was measured of one runner, after its first steps."""
    counted = slice(_WARMING_UP, None) if runner.trains else slice(1, None)
    seconds, tokens, flops = (values[counted] for values in (runner.seconds, runner.tokens, runner.flops))
    speeds = [n / s for n, s in zip(tokens, seconds, strict=True)]
    in_half = "bfloat16" in runner.name or runner is fast_runner
    dtype = "bfloat16" if in_half and "bfloat16" in rates else "float32"
    flop_rate = statistics.median(work / s for work, s in zip(flops, seconds, strict=True))
    return RunnerSpeed(
        name=runner.name,
        tokens_per_s=statistics.median(speeds),
        tokens_per_s_p10=quantile(speeds, 0.1),
        tokens_per_s_p90=quantile(speeds, 0.9),
        step_ms=1e3 * statistics.median(seconds),
        steps=len(seconds),
        gflop_per_s=flop_rate / 1e9,
        product_dtype=dtype,
        share_of_product_rate=flop_rate / rates[dtype],
        validation_loss=losses.get(runner.name),
    )
