"""Training a GPT-2 beside plain torch: ``softlookup bench gpt2 --device cuda``.

The same weights, batches, optimizer and precision, one model after the other: tokens a second,
the most memory that was taken, and the loss of each step. The text is drawn: half of the tokens follow from the one
before, so that there is something to learn.
"""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.gpt2_peer import PlainGPT2, same_in_ours
from benchmarks.harness import benchmark
from benchmarks.measures import wait
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
    """All ways of training, and ours over the peer's, both compiled."""

    dtype: str
    tokens_per_step: int
    parameters: int
    speed_ratio: float
    memory_ratio: float | None
    largest_loss_difference: float
    runs: tuple[RunSpeed, ...]


Loss = Callable[[Tensor, Tensor], Tensor]


@benchmark("gpt2", _CPU, quick=_QUICK, cuda=_Plan(), cuda_quick=_QUICK)
def bench_gpt2(plan: _Plan, *, device: str = "cpu") -> GPT2Training:
    """Train plain torch's GPT-2 and ours on the same batches, as they are and compiled.

    Args:
        plan: The sizes.
        device: Where.

    Returns:
        The record.
    """
    dtype = quick_dtype(device)
    runs = [
        _measured(name, compiled, plan, device, dtype) for compiled in (False, True) for name in ("torch", "softlookup")
    ]
    peer, course = runs[2:]
    with torch.device("meta"):
        counted = _peer(plan, "meta")
    differences = [abs(a - b) for a, b in zip(peer.losses, course.losses, strict=True)]
    return GPT2Training(
        dtype=str(dtype).removeprefix("torch."),
        tokens_per_step=plan.rows * plan.length,
        parameters=sum(p.numel() for p in counted.parameters()),
        speed_ratio=course.tokens_per_s / peer.tokens_per_s,
        memory_ratio=None if course.peak_gb is None or peer.peak_gb is None else course.peak_gb / peer.peak_gb,
        largest_loss_difference=max(differences),
        runs=tuple(runs),
    )


def _measured(name: str, compiled: bool, plan: _Plan, device: str, dtype: torch.dtype) -> RunSpeed:
    """Train one model from the common weights on the common batches."""
    on_gpu = torch.device(device).type == "cuda"
    peer = _peer(plan, device)
    model: nn.Module = peer
    loss_of: Loss
    if name == "torch":
        run = torch.compile(model) if compiled else model

        def loss_of(inputs: Tensor, labels: Tensor) -> Tensor:
            return F.cross_entropy(run(inputs).flatten(0, 1), labels.flatten())

    else:
        model = same_in_ours(peer)
        del peer
        summed = PlainLoss(model, compiled=compiled)

        def loss_of(inputs: Tensor, labels: Tensor) -> Tensor:
            return summed(inputs, labels=labels) / labels.numel()

    if on_gpu:
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    steps = plan.steps if compiled else plan.steps_uncompiled
    losses, seconds, begun_s = [], [], time.perf_counter()
    for step, (inputs, labels) in enumerate(_batches(plan, device, steps), start=1):
        optimizer.param_groups[0]["lr"] = plan.peak * min(1.0, step / plan.warmup)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(inputs.device.type, dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
            loss = loss_of(inputs, labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
        if step == 1 or step % plan.at_once == 0:
            wait(inputs)
            now_s = time.perf_counter()
            seconds.append(now_s - begun_s)
            begun_s = now_s
    first_s, *blocks_s = seconds
    step_s = statistics.median(blocks_s[1:] or blocks_s) / plan.at_once
    values = torch.stack(losses).tolist()
    return RunSpeed(
        name=name,
        compiled=compiled,
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
