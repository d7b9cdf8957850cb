"""Training a GPT-2 beside plain torch: ``softlookup bench gpt2``.

The same weights, batches and optimizer, one way after the other: tokens a second, the most memory that was taken, and
the loss of each step. The text is drawn: half of the tokens follow from the one before, so that there is something to
learn.
"""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.gpt2_peer import PlainGPT2, same_in_ours
from benchmarks.harness import benchmark, machine
from benchmarks.kept_runs import KeptRuns
from benchmarks.measures import wait
from softlookup.model.whole.language import DecoderLM
from softlookup.training.fast import quick_dtype
from softlookup.training.plain_loss import PlainLoss


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are GPT-2's smallest, 124 million parameters."""

    vocab_size: int = 50304  # 50257 filled up to a multiple of 128, as nanoGPT does
    width: int = 768
    n_heads: int = 12
    n_layers: int = 12
    length: int = 1024
    rows: int = 16
    steps: int = 200
    steps_uncompiled: int = 40
    warmup: int = 20
    peak: float = 6e-4
    at_once: int = 10  # steps between two looks at the clock


_QUICK = _Plan(
    vocab_size=64, width=16, n_heads=2, n_layers=2, length=16, rows=2, steps=6, steps_uncompiled=4, warmup=2, at_once=2
)
_CPU = _Plan(vocab_size=8192, width=256, n_heads=4, n_layers=4, length=256, rows=4, steps=40, steps_uncompiled=20)


@dataclass(frozen=True)
class TrainingWay:
    """How a model is trained: weights are in float32, products in the device's quickest dtype, by autocast.

    Attributes:
        name: What it is called.
        course: Whether the model and its loss are this library's, or the peer's.
        compiled: Whether torch compiles it.
    """

    name: str
    course: bool = True
    compiled: bool = True


_TORCH = TrainingWay("torch", course=False)
_COURSE = TrainingWay("softlookup")


@dataclass(frozen=True)
class RunSpeed:
    """One way of training: how fast, how much memory (None on a CPU), and the losses it went through."""

    name: str
    compiled: bool
    tokens_per_s: float
    step_ms: float
    first_step_s: float
    peak_gb: float | None
    last_loss: float
    losses: tuple[float, ...]


@dataclass(frozen=True)
class GPT2Training:
    """All ways of training, and the last over the peer's, both compiled."""

    dtype: str
    tokens_per_step: int
    parameters: int
    speed_ratio: float
    memory_ratio: float | None
    largest_loss_difference: float
    runs: tuple[RunSpeed, ...]


Loss = Callable[[Tensor, Tensor], Tensor]


@benchmark("gpt2", _CPU, quick=_QUICK, cuda=_Plan(), cuda_quick=_QUICK)
def bench_gpt2(
    plan: _Plan,
    *,
    device: str = "cpu",
    runs_file: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> GPT2Training:
    """Train plain torch's GPT-2 and ours on the same batches, as they are and compiled.

    Args:
        plan: The sizes.
        device: Where.
        runs_file: A file for the runs that are done: an interrupted bench goes on from there.
        say: Takes a line about each run.

    Returns:
        The record.
    """
    dtype = quick_dtype(device)
    ways = [replace(_TORCH, compiled=False), replace(_COURSE, compiled=False), _TORCH, _COURSE]
    one_by_one = KeptRuns(runs_file, f"{plan} on {machine(device)}, torch {torch.__version__}", say)
    # The figures that matter most come first, should the time end.
    by_way = {way: RunSpeed(**one_by_one.do(repr(way), partial(_measured, way, plan, device))) for way in ways[::-1]}
    one_by_one.done()
    runs = [by_way[way] for way in ways]
    peer, course = runs[2], runs[-1]
    differences = [abs(a - b) for a, b in zip(peer.losses, course.losses, strict=True)]
    return GPT2Training(
        dtype=str(dtype).removeprefix("torch."),
        tokens_per_step=plan.rows * plan.length,
        parameters=_count(plan),
        speed_ratio=course.tokens_per_s / peer.tokens_per_s,
        memory_ratio=None if course.peak_gb is None or peer.peak_gb is None else course.peak_gb / peer.peak_gb,
        largest_loss_difference=max(differences),
        runs=tuple(runs),
    )


def _count(plan: _Plan) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in _peer(plan, "meta").parameters())


class _Trainer:
    """A model, its optimizer and its loss."""

    def __init__(self, way: TrainingWay, plan: _Plan, device: str) -> None:
        peer = _peer(plan, device)
        model: nn.Module = same_in_ours(peer) if way.course else peer
        self.parameters = list(model.parameters())
        self.optimizer = torch.optim.AdamW(self.parameters, lr=0.0, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
        self.loss = _loss(model, way)
        self.in_half = quick_dtype(device) == torch.bfloat16

    def step(self, inputs: Tensor, labels: Tensor, rate: float) -> Tensor:
        """Train on a batch, and give its loss."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        with torch.autocast(inputs.device.type, dtype=torch.bfloat16, enabled=self.in_half):
            loss = self.loss(inputs, labels)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        return loss.detach()


def _loss(model: nn.Module, way: TrainingWay) -> Loss:
    """The mean loss of a token."""
    if not way.course:
        run = torch.compile(model) if way.compiled else model
        return lambda inputs, labels: F.cross_entropy(run(inputs).flatten(0, 1), labels.flatten())
    assert isinstance(model, DecoderLM)
    summed = PlainLoss(model, compiled=way.compiled)
    return lambda inputs, labels: summed(inputs, labels=labels) / labels.numel()


def _measured(way: TrainingWay, plan: _Plan, device: str) -> RunSpeed:
    """Train one model from the common weights on the common batches."""
    on_gpu = torch.device(device).type == "cuda"
    torch.compiler.reset()
    if on_gpu:
        gc.collect()
        torch.cuda.empty_cache()
    trainer = _Trainer(way, plan, device)
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    steps = plan.steps if way.compiled else plan.steps_uncompiled
    losses, seconds, begun_s = [], [], time.perf_counter()
    for step, (inputs, labels) in enumerate(_batches(plan, device, steps), start=1):
        losses.append(trainer.step(inputs, labels, plan.peak * min(1.0, step / plan.warmup)))
        if step == 1 or step % plan.at_once == 0:
            wait(inputs)
            now_s = time.perf_counter()
            seconds.append(now_s - begun_s)
            begun_s = now_s
    first_s, *blocks_s = seconds
    step_s = statistics.median(blocks_s[1:] or blocks_s) / plan.at_once
    values = torch.stack(losses).tolist()
    return RunSpeed(
        name=way.name,
        compiled=way.compiled,
        tokens_per_s=plan.rows * plan.length / step_s,
        step_ms=1e3 * step_s,
        first_step_s=first_s,
        peak_gb=torch.cuda.max_memory_allocated() / 1e9 if on_gpu else None,
        last_loss=values[-1],
        losses=tuple(values),
    )


def _peer(plan: _Plan, device: str) -> PlainGPT2:
    torch.manual_seed(0)
    return PlainGPT2(plan.vocab_size, plan.width, plan.n_heads, plan.n_layers, plan.length).to(device)


def _batches(plan: _Plan, device: str, steps: int) -> list[tuple[Tensor, Tensor]]:
    """Draw the text, the same for everybody: frequent tokens are frequent as 1/rank, and half follow from the last."""
    rng = torch.Generator().manual_seed(1)
    v = plan.vocab_size - 1  # the last is the end token, which our model takes for padding
    follows = torch.randperm(v, generator=rng)
    ranks = torch.rand(steps, plan.rows, plan.length + 1, generator=rng)
    text = (v**ranks - 1).long().clamp(max=v - 1)
    chained = torch.rand(text.shape, generator=rng) < 0.5
    for t in range(1, plan.length + 1):
        text[:, :, t] = torch.where(chained[:, :, t], follows[text[:, :, t - 1]], text[:, :, t])
    text = text.to(device)
    return [(batch[:, :-1], batch[:, 1:]) for batch in text]
