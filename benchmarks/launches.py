"""What launches cost where a model writes: ``softlookup bench launches --device cuda``.

One text is continued greedily in several ways: by the model's own step, by FastStep, by StaticStep (one recorded graph
a token), and by StaticStep compiled before it is recorded. Beside them stands the least time that the memory allows:
the bytes of the weights that a token needs, and of its cache, at the speed at which this device copies.
"""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.harness import benchmark
from benchmarks.measures import wait
from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.decoding.generate import generate
from softlookup.model.decoding.static_step import StaticStep
from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM
from softlookup.training.fast import quick_dtype

_GPT2 = Config(
    50304,
    d_model=768,
    n_heads=12,
    n_layers=12,
    d_hidden=3072,
    max_length=1024,
    positions="learned",
    pre_norm=True,
    activation="gelu_tanh",
    attention_bias=True,
    scale_embeddings=False,
    dropout=0.0,
)
_LLAMA = Config(
    32000,
    d_model=4096,
    n_heads=32,
    n_layers=32,
    d_hidden=11008,
    max_length=4096,
    positions="rotary_halves",
    norm="rms",
    pre_norm=True,
    activation="swiglu",
    hidden_bias=False,
    scale_embeddings=False,
    tied=False,
    dropout=0.0,
)
_SMALL = {"vocab_size": 64, "d_model": 32, "n_heads": 2, "n_layers": 2, "d_hidden": 64, "max_length": 64}


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench."""

    models: tuple[tuple[str, Config], ...]
    prompt: int = 64
    new_tokens: int = 128
    rounds: int = 5
    copied: int = 1 << 30  # bytes that are copied, to learn the memory's speed


_CUDA = _Plan((("GPT-2", _GPT2), ("Llama 2 7B", _LLAMA)))
_CPU = _Plan((("GPT-2", _GPT2),), new_tokens=16, rounds=2, copied=1 << 28)
_QUICK = _Plan((("GPT-2", _GPT2.but(**_SMALL)),), prompt=4, new_tokens=5, rounds=1, copied=1 << 20)


@dataclass(frozen=True)
class WayOfWriting:
    """Milliseconds a token, and how many times as fast as the model's own step; a bound has no tokens of its own."""

    name: str
    ms_per_token: float
    ratio_to_plain: float
    share_of_bound: float
    first_use_s: float
    different_tokens: int


@dataclass(frozen=True)
class ModelWriting:
    """One model's shape, the bytes that a token reads on average, and all ways of writing."""

    name: str
    parameters: int
    bytes_per_token: float
    bound_ms: float
    ways: tuple[WayOfWriting, ...]


@dataclass(frozen=True)
class Launches:
    """All models, and the speed of the memory that the bounds are made with."""

    dtype: str
    bytes_per_s: float
    prompt: int
    new_tokens: int
    models: tuple[ModelWriting, ...]


@benchmark("launches", _CPU, quick=_QUICK, cuda=_CUDA, cuda_quick=_QUICK)
def bench_launches(plan: _Plan, *, device: str = "cpu") -> Launches:
    """Continue a text in several ways, one after the other."""
    dtype = quick_dtype(device)
    rate = _copy_rate(plan.copied, device)
    models = tuple(_written(name, config, plan, device, dtype, rate) for name, config in plan.models)
    return Launches(str(dtype).removeprefix("torch."), rate, plan.prompt, plan.new_tokens, models)


@torch.no_grad()
def _written(name: str, config: Config, plan: _Plan, device: str, dtype: torch.dtype, rate: float) -> ModelWriting:
    torch.manual_seed(0)
    model = _drawn(config, device, dtype)
    prompt = torch.randint(4, config.vocab_size, (1, plan.prompt), device=device)
    room = plan.prompt + plan.new_tokens
    ways: dict[str, Callable[[], Callable[[int], Tensor]]] = {
        "plain step": lambda: lambda n: generate(model, prompt, max_new_tokens=n).ids,
        "FastStep": lambda: _by(FastStep(model), prompt),
        "StaticStep": lambda: _static(model, prompt, room, compiled=False),
        "StaticStep, compiled": lambda: _static(model, prompt, room, compiled=True),
    }
    embedding = 0 if config.tied else model.embedder.tokens.table.numel()
    weights = sum(p.numel() for p in model.parameters()) - embedding
    position = (
        2
        * config.n_layers
        * (config.n_kv_heads or config.n_heads)
        * (config.head_width or config.d_model // config.n_heads)
    )
    read = (weights + position * (plan.prompt + plan.new_tokens / 2)) * dtype.itemsize
    bound_ms = 1e3 * read / rate
    rows: list[WayOfWriting] = []
    first: Tensor | None = None
    for way, made in ways.items():
        begun_s = time.perf_counter()
        write = made()
        ids = write(plan.new_tokens)
        wait(ids)
        used_s = time.perf_counter() - begun_s
        # The prompt is read in both, so that their difference is that of the tokens between.
        long_s, short_s = (_median_s(write, n, plan.rounds) for n in (plan.new_tokens, 1))
        ms = 1e3 * (long_s - short_s) / (plan.new_tokens - 1)
        first = ids if first is None else first
        plain_ms = rows[0].ms_per_token if rows else ms
        rows.append(WayOfWriting(way, ms, plain_ms / ms, bound_ms / ms, used_s, int((ids != first).sum())))
        del write
        gc.collect()
    return ModelWriting(name, sum(p.numel() for p in model.parameters()), read, bound_ms, tuple(rows))


def _drawn(config: Config, device: str, dtype: torch.dtype) -> DecoderLM:
    """Draw a model where it is to stay, in the dtype that it is to have: seven billion numbers have no room twice."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            return DecoderLM(config).eval()
    finally:
        torch.set_default_dtype(before)


def _by(step: FastStep, prompt: Tensor) -> Callable[[int], Tensor]:
    return lambda n: generate(step, prompt, max_new_tokens=n).ids


def _static(model: DecoderLM, prompt: Tensor, room: int, *, compiled: bool) -> Callable[[int], Tensor]:
    step = StaticStep(model, room=room, compiled=compiled)
    return lambda n: step.write(prompt, n)


def _median_s(write: Callable[[int], Tensor], n: int, rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        begun_s = time.perf_counter()
        wait(write(n))
        seconds.append(time.perf_counter() - begun_s)
    return statistics.median(seconds)


def _copy_rate(n_bytes: int, device: str) -> float:
    """Bytes a second that a copy reads and writes, the best of ten."""
    source = torch.randint(0, 255, (n_bytes,), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    best_s = float("inf")
    for _ in range(10):
        wait(source)
        begun_s = time.perf_counter()
        target.copy_(source)
        wait(source)
        best_s = min(best_s, time.perf_counter() - begun_s)
    return 2 * n_bytes / best_s
