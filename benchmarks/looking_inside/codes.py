"""Sparse codes of the shipped language model: ``softlookup bench codes``.

L1 and TopK autoencoders on the same states, with the same steps, each at several learning rates; and transcoders of one
feed-forward network, with the model's loss when they stand in its place.

Letters of its own: M states.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.harness import benchmark, one_thread
from benchmarks.kept_runs import KeptRuns
from benchmarks.looking_inside.reading import writer
from softlookup.looking_inside import train_autoencoder
from softlookup.model.decoding.generate import generate
from softlookup.model.parts.trace import Trace


@dataclass(frozen=True)
class CodesSizes:
    """The sizes of the bench; the defaults are those of the whole run."""

    layer: int = 2
    rows: int = 128
    shown: int = 96
    length: int = 200
    latents: int = 384
    steps: int = 1000
    batch: int = 256
    rates: tuple[float, ...] = (1e-3, 3e-3)
    ks: tuple[int, ...] = (8, 16, 32)
    prices: tuple[float, ...] = (0.06, 0.1, 0.16, 0.26, 0.4)


_QUICK = CodesSizes(rows=4, shown=3, length=8, latents=8, steps=2, batch=8, rates=(1e-3,), ks=(4,), prices=(0.0, 9.0))


@dataclass(frozen=True)
class CodesRun:
    """One net: its k or its price, its learning rate, and its report on held-out states.

    ``loss`` is the model's, in nats a token of held-out texts, with a transcoder in the network's place.
    """

    k: int | None
    price: float | None
    rate: float
    explained: float
    active: float
    dead: float
    loss: float | None = None


@dataclass(frozen=True)
class CodesResult:
    """All nets; L1's best explained variance at each k; the model's loss, and with the network's mean output or zeros.

    Losses are in nats a token of held-out texts, which the model wrote itself.
    """

    ratio: float
    ratio_of: str
    width: int
    shown: int
    held_out: int
    top_k: list[CodesRun]
    l1: list[CodesRun]
    l1_at_k: list[float]
    transcoders: list[CodesRun]
    loss: float
    loss_mean: float
    loss_zero: float
    sizes: CodesSizes
    seconds: float


@benchmark("codes", CodesSizes(), quick=_QUICK)
def bench_codes(
    plan: CodesSizes, *, runs_file: Path | None = None, say: Callable[[str], None] | None = None
) -> CodesResult:
    """Compare L1 and TopK autoencoders on a model's states, and put transcoders in a network's place.

    ``ratio`` is the variance that TopK misses over that which L1 misses with as many latents active, each at its best
    learning rate, the mean over all k.

    Source: Gao et al. 2025, section 3; Dunefsky et al. 2024, section 4.
    """
    begun_s = time.perf_counter()
    runs = KeptRuns(runs_file, repr(plan), say)
    with one_thread():
        ids_BT = _sampled(plan)
        states_MD, inputs_MD, outputs_MD = _activations(plan, ids_BT)
        n_shown = plan.shown * (plan.length - 1)
        held_out_BT = ids_BT[plan.shown :]
        fit = partial(_fit, plan, held_out_BT)
        top_k, l1, transcoders = [], [], []
        for rate in plan.rates:
            for k in plan.ks:
                top_k.append(runs.do(f"k {k}, rate {rate}", partial(fit, states_MD, states_MD, rate, k=k)))
                name = f"transcoder, k {k}, rate {rate}"
                transcoders.append(runs.do(name, partial(fit, inputs_MD, outputs_MD, rate, k=k)))
            for price in plan.prices:
                name = f"price {price}, rate {rate}"
                l1.append(runs.do(name, partial(fit, states_MD, states_MD, rate, price=price)))
        mean_D = outputs_MD[:n_shown].mean(dim=0)
        loss = _loss(plan, held_out_BT)
        loss_mean = _loss(plan, held_out_BT, lambda x: mean_D.expand_as(x))
        loss_zero = _loss(plan, held_out_BT, torch.zeros_like)
    runs.done()
    l1_at_k = [max(_at(k, [run for run in l1 if run["rate"] == rate]) for rate in plan.rates) for k in plan.ks]
    best = [max(run["explained"] for run in top_k if run["k"] == k) for k in plan.ks]
    return CodesResult(
        ratio=float(np.mean([(1 - t) / (1 - o) for t, o in zip(best, l1_at_k, strict=True)])),
        ratio_of="variance missed by TopK / by L1 with as many latents active, mean over k",
        width=states_MD.shape[1],
        shown=n_shown,
        held_out=len(states_MD) - n_shown,
        top_k=top_k,
        l1=l1,
        l1_at_k=[round(value, 4) for value in l1_at_k],
        transcoders=transcoders,
        loss=loss,
        loss_mean=loss_mean,
        loss_zero=loss_zero,
        sizes=plan,
        seconds=round(time.perf_counter() - begun_s, 1),
    )


def _at(k: int, runs: list[dict[str, Any]]) -> float:
    """The explained variance with k latents active, along the logarithm of their number."""
    active, explained = zip(*sorted((max(run["active"], 1e-9), run["explained"]) for run in runs), strict=True)
    return float(np.interp(np.log(k), np.log(active), explained))


@torch.no_grad()
def _sampled(plan: CodesSizes) -> Tensor:
    """Texts that the model writes by itself, (B, T)."""
    shipped = writer()
    start_BT = torch.tensor([shipped.encode("The")[:1]]).repeat(plan.rows, 1)
    return generate(
        shipped.model,
        start_BT,
        max_new_tokens=plan.length - 1,
        temperature=1.0,
        generator=torch.Generator().manual_seed(0),
        state=shipped.model.start(),
    ).ids


def _network(plan: CodesSizes) -> nn.Module:
    network = writer().model.decoder.layers[plan.layer].feed_forward
    assert isinstance(network, nn.Module)
    return network


@torch.no_grad()
def _activations(plan: CodesSizes, ids_BT: Tensor) -> list[Tensor]:
    """States behind a layer, inputs and outputs of its feed-forward network, each (M, D), without first positions."""
    trace = Trace()
    seen: list[Tensor] = []
    hook = _network(plan).register_forward_hook(lambda _, inputs, output: seen.extend((inputs[0], output)))
    writer().model(ids_BT, trace=trace)
    hook.remove()
    return [x[:, 1:].flatten(0, 1) for x in (trace.states[plan.layer + 1], *seen)]


def _fit(
    plan: CodesSizes,
    held_out_BT: Tensor,
    inputs_MD: Tensor,
    targets_MD: Tensor,
    rate: float,
    k: int | None = None,
    price: float | None = None,
) -> CodesRun:
    """Train a net on inputs and targets whose mean squared distance from their mean is brought to 1."""
    n_shown = plan.shown * (plan.length - 1)
    scales = [(x - x.mean(dim=0)).square().sum(dim=1).mean().sqrt() for x in (inputs_MD, targets_MD)]
    shown, held_out = zip(
        *((x[:n_shown], x[n_shown:]) for x in (inputs_MD / scales[0], targets_MD / scales[1])), strict=True
    )
    net = train_autoencoder(
        shown[0],
        plan.latents,
        sparsity=price or 0.0,
        k=k,
        targets=None if targets_MD is inputs_MD else shown[1],
        steps=plan.steps,
        batch=plan.batch,
        rate=rate,
    )
    report = net.report(*held_out)
    loss = None
    if targets_MD is not inputs_MD:
        loss = _loss(plan, held_out_BT, lambda x: net(x / scales[0]) * scales[1])
    return CodesRun(k, price, rate, round(report["explained"], 4), round(report["active"], 3), report["dead"], loss)


@torch.no_grad()
def _loss(plan: CodesSizes, ids_BT: Tensor, replacement: Callable[[Tensor], Tensor] | None = None) -> float:
    """The model's loss in nats a token, where asked with something else in the network's place, from position 2 on."""

    def replaced(_: Any, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        if replacement is None:
            return output
        return torch.cat((output[:, :1], replacement(inputs[0])[:, 1:]), dim=1)

    hook = _network(plan).register_forward_hook(replaced)
    logits_BTV = writer().model(ids_BT[:, :-1])
    hook.remove()
    return round(F.cross_entropy(logits_BTV[:, 1:].flatten(0, 1), ids_BT[:, 2:].flatten()).item(), 4)
