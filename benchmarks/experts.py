"""Which experts tokens are sent to, with a bias that balances the load and without: ``softlookup bench experts``.

A small decoder with routed experts learns to continue generated English sentences, whose words are its tokens. Written
down is what its last layer does with a short text that it has not seen, and how evenly unseen tokens are spread.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from benchmarks.harness import benchmark, one_thread
from benchmarks.train_small import train_small
from softlookup.model.parts.config import Config
from softlookup.model.parts.experts import Experts, Router, expert_load
from softlookup.model.whole.language import DecoderLM
from softlookup.text.grammar import sample


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    width: int = 16
    n_heads: int = 4
    n_layers: int = 2
    hidden: int = 24
    n_experts: int = 8
    per_token: int = 2
    bias_rate: float = 1e-2
    length: int = 32
    batch: int = 32
    steps: int = 800
    rate: float = 3e-3
    sentences: int = 8000
    test_rows: int = 256
    shown: int = 28
    often: int = 40
    seed: int = 2


_QUICK = _Plan(width=8, n_heads=2, n_layers=1, hidden=4, steps=3, batch=2, sentences=60, test_rows=4, often=1)


@dataclass(frozen=True)
class Routed:
    """The last layer of one model.

    Attributes:
        loss: Of a token of unseen text, in nats.
        w: The router's matrix, (D, E).
        bias: Its balancing bias, (E,).
        load: The fraction of unseen tokens that each expert was chosen for, (E,); they sum to k.
        favourites: For each expert the words that it is chosen for most often, each with the fraction of its
            occurrences.
        chosen: The experts of each token of the text, (T, k).
        x: What router and experts get for these tokens, (T, D); a row is a string.
        before: The residual stream that their outputs are added to, (T, D), likewise.
        outputs: What the chosen experts give, (T k, D), likewise.
    """

    loss: float
    w: list[list[float]]
    bias: list[float]
    load: list[float]
    favourites: list[list[tuple[str, float]]]
    chosen: list[list[int]]
    x: list[str]
    before: list[str]
    outputs: list[str]


@dataclass(frozen=True)
class ExpertsResult:
    """Both models on the same text, and the sizes."""

    ratio: float
    ratio_of: str
    text: list[str]
    routers: dict[str, Routed]
    unseen_tokens: int
    words: int
    plan: _Plan
    seconds: float


@benchmark("experts", _Plan(), quick=_QUICK)
def bench_experts(plan: _Plan) -> ExpertsResult:
    """Train the same model without a balancing bias and with one, from the same weights on the same batches.

    ``ratio`` is the load of the busiest expert over the mean, without the bias, divided by the same with it.
    """
    begun_s = time.perf_counter()
    learned, unseen = (_words(plan.sentences, seed) for seed in (1, 2))
    known = {word: i for i, word in enumerate(sorted({*learned, *unseen}))}
    streams = [torch.tensor([known[word] for word in words]) for words in (learned, unseen)]
    ends = [i + 1 for i, word in enumerate(unseen[: plan.shown]) if word == "."]
    text = unseen[: ends[-1]]
    with one_thread():
        routers = {
            name: _routed(plan, rate, known, streams, text)
            for name, rate in (("without", 0.0), ("with_bias", plan.bias_rate))
        }
    busiest = {name: max(router.load) * plan.n_experts / plan.per_token for name, router in routers.items()}
    return ExpertsResult(
        ratio=busiest["without"] / busiest["with_bias"],
        ratio_of="load of the busiest expert over the mean load, without a balancing bias / with it",
        text=text,
        routers=routers,
        unseen_tokens=plan.test_rows * plan.length,
        words=len(known),
        plan=plan,
        seconds=round(time.perf_counter() - begun_s, 1),
    )


def _words(sentences: int, seed: int) -> list[str]:
    """The words and full stops of generated sentences."""
    return [word for pair in sample(sentences, seed) for word in re.findall(r"\w+|\.", pair.english)]


def _draw(stream: Tensor, rows: int, length: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    begins = torch.randint(len(stream) - length, (rows, 1), generator=chance)
    taken = stream[begins + torch.arange(length + 1)]
    return taken[:, :-1], taken[:, 1:]


def _routed(
    plan: _Plan, bias_rate: float, known: dict[str, int], streams: Sequence[Tensor], text: Sequence[str]
) -> Routed:
    """Train one model, and look at its last layer."""
    torch.manual_seed(plan.seed)
    model = DecoderLM(
        Config(
            len(known), d_model=plan.width, n_heads=plan.n_heads, n_layers=plan.n_layers, d_hidden=plan.hidden,
            max_length=plan.length, positions="rotary", pre_norm=True, norm="rms", dropout=0.0, activation="swiglu",
            hidden_bias=False, n_experts=plan.n_experts, experts_per_token=plan.per_token, expert_gate="sigmoid",
        )
    )  # fmt: skip
    layers = [part for part in model.modules() if isinstance(part, Experts)]
    routers = [layer.router for layer in layers]
    latest: dict[int, Tensor] = {}

    def note(index: int, router: Router, inputs: Any, outputs: tuple[Tensor, Tensor]) -> None:
        latest[index] = outputs[1]

    for i, router in enumerate(routers):
        router.register_forward_hook(partial(note, i))
    optimiser = torch.optim.AdamW(model.parameters(), lr=plan.rate, weight_decay=0.01)
    warm = max(1, plan.steps // 10)
    rates = LambdaLR(optimiser, lambda step: min((step + 1) / warm, 1.0) * (1 - step / plan.steps))
    chance = torch.Generator().manual_seed(plan.seed)

    def loss() -> Tensor:
        ids, following = _draw(streams[0], plan.batch, plan.length, chance)
        return F.cross_entropy(model(ids).flatten(0, 1), following.flatten())

    def balance() -> None:
        for i, router in enumerate(routers):
            load = expert_load(latest[i], plan.n_experts).float()
            router.bias += bias_rate * (load.mean() - load).sign()

    train_small(model, loss, plan.steps, rates, after=balance if bias_rate else None)
    model.eval()
    with torch.no_grad():
        ids, following = _draw(streams[1], plan.test_rows, plan.length, torch.Generator().manual_seed(9))
        unseen_loss = F.cross_entropy(model(ids).flatten(0, 1), following.flatten()).item()
        chosen = latest[len(layers) - 1]
        seen = _of_text(model, layers[-1], torch.tensor([[known[word] for word in text]]))
    load = expert_load(chosen, plan.n_experts) / ids.numel()
    return Routed(
        loss=round(unseen_loss, 4),
        w=_rounded(routers[-1].w),
        bias=_rounded(routers[-1].bias),
        load=_rounded(load),
        favourites=_favourites(plan, ids, chosen, list(known)),
        **seen,
    )


def _of_text(model: DecoderLM, layer: Experts, ids: Tensor) -> dict[str, Any]:
    """What the last layer's experts get, are chosen for and give."""
    caught: dict[str, Tensor] = {}

    def note(part: Experts, inputs: tuple[Tensor], output: Tensor) -> None:
        caught["x"], caught["y"] = inputs[0][0], output[0]

    def note_end(part: Any, inputs: Any, output: Any) -> None:
        caught["after"] = (output[0] if isinstance(output, tuple) else output)[0]

    hooks = [layer.register_forward_hook(note), list(model.decoder.each())[-1].register_forward_hook(note_end)]
    model(ids)
    for hook in hooks:
        hook.remove()
    x = caught["x"]
    weights, chosen = layer.router(x)
    each = [[layer._expert(row, e) for e in experts] for row, experts in zip(x, chosen.tolist(), strict=True)]
    outputs = torch.stack([torch.stack(vectors) for vectors in each])
    torch.testing.assert_close((weights[..., None] * outputs).sum(1), caught["y"], rtol=1e-4, atol=1e-5)
    return {
        "chosen": chosen.tolist(),
        "x": _rows(x),
        "before": _rows(caught["after"] - caught["y"]),
        "outputs": _rows(outputs.flatten(0, 1)),
    }


def _favourites(plan: _Plan, ids: Tensor, chosen: Tensor, words: Sequence[str]) -> list[list[tuple[str, float]]]:
    """The three words that come to an expert most often, of words that are frequent; the more frequent first."""
    counts = Counter(ids.flatten().tolist())
    frequent = [word for word, count in counts.items() if count >= plan.often]
    favourites = []
    for expert in range(plan.n_experts):
        here = Counter(ids[(chosen == expert).any(-1)].tolist())
        ranked = sorted(frequent, key=lambda word: (-math.floor(100 * here[word] / counts[word]), -counts[word]))
        favourites.append([(words[word], round(here[word] / counts[word], 3)) for word in ranked[:3]])
    return favourites


def _rounded(tensor: Tensor) -> Any:
    """Nested lists of numbers with four decimals: a page reads the record."""

    def cut(value: Any) -> Any:
        return [cut(entry) for entry in value] if isinstance(value, list) else round(value, 4)

    return cut(tensor.tolist())


def _rows(matrix: Tensor) -> list[str]:
    """The rows of a matrix, each as a line of numbers with three decimals."""
    return [" ".join(f"{value:.3f}" for value in row) for row in matrix.tolist()]
