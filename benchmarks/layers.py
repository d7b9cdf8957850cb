"""How long a recurrent layer takes, and how long attention: ``softlookup bench layers``.

One layer each of torch's RNN, GRU and LSTM beside one layer of our multi-head attention: the same width, the same
tokens, forward alone and with the backward pass. All are clocked in turn, in one run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.harness import benchmark
from benchmarks.race import Raced, race
from softlookup.model.parts.masks import causal_mask
from softlookup.model.parts.multihead import MultiHeadAttention

LAYERS = ("RNN", "GRU", "LSTM", "attention")
"""What is clocked, in this order."""


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    width: int = 256
    n_heads: int = 4
    batch: int = 4
    lengths: tuple[int, ...] = (16, 32, 64, 128, 256, 512, 1024, 2048)
    rounds: int = 9


_QUICK = _Plan(width=8, n_heads=2, batch=2, lengths=(4, 8), rounds=1)


@dataclass(frozen=True)
class LayerTimes:
    """Milliseconds of a batch at each length by the clock, and under ``cpu`` by the seconds that the thread ran."""

    RNN: list[float]
    GRU: list[float]
    LSTM: list[float]
    attention: list[float]
    cpu: dict[str, list[float]]


@dataclass(frozen=True)
class LayersResult:
    """All layers forward, and with the backward pass."""

    ratio: float
    ratio_least: float
    ratio_most: float
    ratio_cpu_time: float
    ratio_of: str
    lengths: tuple[int, ...]
    width: int
    heads: int
    batch: int
    rounds: int
    forward: LayerTimes
    training: LayerTimes


@benchmark("layers", _Plan(), quick=_QUICK)
def bench_layers(plan: _Plan, *, device: str = "cpu") -> LayersResult:
    """Clock four layers at growing lengths.

    ``ratio`` is (LSTM / attention) for forward and backward at the length that equals the width, or at the last one
    where none does. ``forward`` and ``training`` hold, for each layer, the median milliseconds of a batch at each of
    ``lengths``, by the clock, and under ``cpu`` by the seconds that the thread was running.
    """
    torch.manual_seed(0)
    layers = _layers(plan, torch.device(device))
    forward, training = _empty(), _empty()
    ratio: dict[str, float] = {}
    pivot = plan.width if plan.width in plan.lengths else plan.lengths[-1]
    for length in plan.lengths:
        x_BTD = torch.randn(plan.batch, length, plan.width, device=device, requires_grad=True)
        for times, way in ((forward, _forward), (training, _training)):
            raced = race({name: partial(way, layer, x_BTD) for name, layer in layers.items()}, plan.rounds)
            _add(times, raced)
            if times is training and length == pivot:
                ratio = raced.ratio("LSTM", "attention")
    return LayersResult(
        **ratio,
        ratio_of=f"LSTM / attention, forward and backward, {pivot} tokens",
        lengths=plan.lengths,
        width=plan.width,
        heads=plan.n_heads,
        batch=plan.batch,
        rounds=plan.rounds,
        forward=forward,
        training=training,
    )


class _Causal(nn.Module):
    """Attention in which each token attends to itself and at what came before, as a recurrent layer has to."""

    def __init__(self, plan: _Plan) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(plan.width, plan.n_heads)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, mask=causal_mask(x.shape[1], device=x.device))


class _Recurrent(nn.Module):
    """One of torch's recurrent layers, its outputs alone."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)[0]


def _layers(plan: _Plan, device: torch.device) -> dict[str, nn.Module]:
    kinds: dict[str, Callable[..., nn.Module]] = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}
    made = {name: _Recurrent(kind(plan.width, plan.width, batch_first=True)) for name, kind in kinds.items()}
    return {name: layer.to(device) for name, layer in (made | {"attention": _Causal(plan)}).items()}


def _forward(layer: nn.Module, x: Tensor) -> Tensor:
    with torch.no_grad():
        return layer(x)


def _training(layer: nn.Module, x: Tensor) -> Tensor:
    x.grad = None
    layer.zero_grad()
    y = layer(x)
    y.square().mean().backward()
    return y.detach()


def _empty() -> LayerTimes:
    return LayerTimes([], [], [], [], {name: [] for name in LAYERS})


def _add(times: LayerTimes, raced: Raced) -> None:
    for name, ms in raced.ms(1, "").items():
        getattr(times, name).append(round(ms, 4))
    of_cpu = Raced(raced.results, raced.cpu_seconds, raced.cpu_seconds)
    for name, ms in of_cpu.ms(1, "").items():
        times.cpu[name].append(round(ms, 4))
