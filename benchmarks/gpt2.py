"""Training a GPT-2: ``softlookup bench gpt2`` beside plain torch, ``softlookup bench precision`` in other formats.

The same weights, batches and optimizer, one way after the other: tokens a second, the most memory that was taken, and
the loss of each step. The text is drawn: half of the tokens follow from the one before, so that there is something to
learn.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.gpt2_peer import PlainGPT2, same_in_ours
from benchmarks.harness import benchmark, machine
from benchmarks.kept_runs import KeptRuns
from benchmarks.measures import wait
from softlookup.model.whole.language import DecoderLM
from softlookup.training.captured import CapturedStep, make_capturable, recorder_for, set_rate
from softlookup.training.fast import quick_dtype
from softlookup.training.float8 import Float8Products
from softlookup.training.master_weights import MasterWeights
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
    """How a model is trained. Weights and products are in float32 where nothing else is said.

    Attributes:
        name: What it is called.
        course: Whether the model and its loss are this library's, or the peer's.
        compiled: Whether torch compiles it.
        products: The dtype that autocast takes, or "float8" for float8 products under bfloat16; None without.
        weights: What the model's weights are kept in: "float32", "bfloat16", or "both", with copies in float32.
        captured: Whether a step is recorded and replayed.
        by_layer: Whether torch compiles a layer once for all of them, in seconds, and not the whole model.
        tf32: Whether products of float32 may be rounded to TF32, as a GPU does soonest.
    """

    name: str
    course: bool = True
    compiled: bool = True
    products: str | None = "bfloat16"
    weights: str = "float32"
    captured: bool = False
    by_layer: bool = False
    tf32: bool = False


_TORCH = TrainingWay("torch", course=False)
_COURSE = TrainingWay("softlookup")
_FASTEST = TrainingWay(
    "softlookup, bfloat16 weights with float32 copies, recorded", products=None, weights="both", captured=True
)
_PRECISIONS = (
    TrainingWay("float32", products=None),
    TrainingWay("float32, products in TF32", products=None, tf32=True),
    TrainingWay("float16 by autocast, a loss scale", products="float16"),
    TrainingWay("bfloat16 by autocast"),
    TrainingWay("bfloat16 weights with float32 copies", products=None, weights="both"),
    TrainingWay("bfloat16 weights alone", products=None, weights="bfloat16"),
    TrainingWay("float8 products, else bfloat16 by autocast", products="float8"),
)


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


@dataclass(frozen=True)
class Precisions:
    """The same training in other number formats; last losses are means over the last ten steps."""

    tokens_per_step: int
    parameters: int
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
    """Train plain torch's GPT-2 and ours on the same batches, as they are, compiled, and in the fastest way."""
    dtype = quick_dtype(device)
    ways = [replace(_TORCH, compiled=False), replace(_COURSE, compiled=False), _TORCH, _COURSE, _FASTEST]
    if dtype == torch.float32:
        ways = [replace(way, products=None, weights="float32") for way in ways]
    runs = _runs(ways, (2, 4, 3, 0, 1), plan, device, runs_file, say)
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


@benchmark("precision", _CPU, quick=_QUICK, cuda=_Plan(steps=100), cuda_quick=_QUICK)
def bench_precision(
    plan: _Plan,
    *,
    device: str = "cpu",
    runs_file: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Precisions:
    """Train our GPT-2 on the same batches in all number formats that torch knows here."""
    ways = [replace(way, by_layer=True) for way in _PRECISIONS]
    runs = _runs(ways, range(len(ways))[::-1], plan, device, runs_file, say)
    ends = [run.losses[-10:] for run in runs]
    runs = [replace(run, last_loss=sum(end) / len(end)) for run, end in zip(runs, ends, strict=True)]
    return Precisions(plan.rows * plan.length, _count(plan), tuple(runs))


def _runs(
    ways: Sequence[TrainingWay],
    order: Iterable[int],
    plan: _Plan,
    device: str,
    runs_file: Path | None,
    say: Callable[[str], None] | None,
) -> list[RunSpeed]:
    """Measure all ways, in an order in which the figures that matter most come first, should the time end."""
    one_by_one = KeptRuns(runs_file, f"{plan} on {machine(device)}, torch {torch.__version__}", say)
    runs = {
        place: RunSpeed(**one_by_one.do(repr(ways[place]), partial(_measured, ways[place], plan, device)))
        for place in order
    }
    one_by_one.done()
    return [runs[place] for place in range(len(ways))]


def _count(plan: _Plan) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in _peer(plan, "meta").parameters())


class _Trainer:
    """A model, its optimizer and its loss, and a step in two halves."""

    def __init__(self, way: TrainingWay, plan: _Plan, device: str) -> None:
        self.way = way
        peer = _peer(plan, device)
        model: nn.Module = same_in_ours(peer) if way.course else peer
        del peer
        self.copies = MasterWeights(model) if way.weights == "both" else None
        if way.weights == "bfloat16":
            model.bfloat16()
        self.parameters = list(model.parameters()) if self.copies is None else self.copies.masters
        self.left_in = list(model.parameters())
        self.optimizer = torch.optim.AdamW(self.parameters, lr=0.0, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
        # The scale of float16's losses doubles every so often, and is halved when a gradient overflows.
        self.scaler = torch.amp.GradScaler(device, enabled=way.products == "float16")
        self.loss = _loss(model, way)
        self.taken: _Trainer | CapturedStep = self
        if way.captured:
            make_capturable(self.optimizer)
            self.taken = CapturedStep(self.gradients, self.apply, self.parameters, recorder_for(torch.device(device)))

    def gradients(self, inputs: Tensor, labels: Tensor) -> tuple[Tensor]:
        """Leave the gradients, clipped, and give the loss."""
        for parameter in self.left_in:
            parameter.grad = None
        with self._formats(inputs.device.type):
            loss = self.loss(inputs, labels)
        self.scaler.scale(loss).backward()
        if self.copies is not None:
            self.copies.take_gradients()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        return (loss.detach(),)

    def apply(self) -> None:
        """Change the weights."""
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.copies is not None:
            self.copies.give_back()

    def step(self, inputs: Tensor, labels: Tensor, rate: float) -> Tensor:
        """Train on a batch, and give its loss."""
        set_rate(self.optimizer, rate)
        (loss,) = self.taken.gradients(inputs, labels)
        loss = loss.clone()  # a recorded step writes over it
        self.taken.apply()
        return loss

    def _formats(self, kind: str) -> Any:
        products = self.way.products
        if products is None:
            return nullcontext()
        dtype = torch.float16 if products == "float16" else torch.bfloat16
        return torch.autocast(kind, dtype=dtype)


def _loss(model: nn.Module, way: TrainingWay) -> Loss:
    """The mean loss of a token, by the way's own formats."""
    if not way.course:
        run = torch.compile(model) if way.compiled else model
        return lambda inputs, labels: F.cross_entropy(run(inputs).flatten(0, 1), labels.flatten())
    assert isinstance(model, DecoderLM)
    if way.by_layer:
        for layer in model.decoder.each():
            layer.compile()
    summed = PlainLoss(model, compiled=way.compiled and not way.by_layer)
    if way.products != "float8":
        return lambda inputs, labels: summed(inputs, labels=labels) / labels.numel()

    def in_float8(inputs: Tensor, labels: Tensor) -> Tensor:
        with Float8Products():
            return summed(inputs, labels=labels) / labels.numel()

    return in_float8


def _measured(way: TrainingWay, plan: _Plan, device: str) -> RunSpeed:
    """Train one model from the common weights on the common batches."""
    on_gpu = torch.device(device).type == "cuda"
    torch.compiler.reset()
    if on_gpu:
        gc.collect()
        torch.cuda.empty_cache()
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = way.tf32
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
    torch.backends.cuda.matmul.allow_tf32 = before
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
