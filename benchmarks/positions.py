"""What becomes of a small decoder beyond the length that it was trained on: ``softlookup bench positions``.

One decoder for each way of saying where a token stands, all else equal, trained on short sequences of two kinds:
letters of which one has to be fetched from a given number of places back, and the characters of English sentences.
Then each reads sequences four times as long. With a causal mask the prediction at a position does not know how the
sequence goes on, so one reading gives the quality at every length.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.harness import benchmark
from benchmarks.train_small import train_small
from softlookup.model.parts.config import Config, Positions
from softlookup.model.whole.language import DecoderLM
from softlookup.text.grammar import sample

METHODS: tuple[Positions, ...] = ("none", "sinusoidal", "learned", "t5", "alibi", "rotary", "rotary_halves")
"""What is compared, in this order."""
KINDS = ("back", "text")
"""What is read: letters, one to be fetched; characters of sentences."""
FIRST_ID = 4
"""Ids below are special; letters begin here."""


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    width: int = 32
    n_heads: int = 4
    n_layers: int = 2
    batch: int = 24
    length: int = 24
    times: int = 4
    letters: int = 12
    back: int = 4
    steps: int = 500
    seeds: int = 3
    test_rows: int = 200
    bins: int = 16
    rate: float = 6e-3


_QUICK = _Plan(width=8, n_heads=2, n_layers=1, batch=2, length=8, steps=3, seeds=2, test_rows=2, bins=4)

Draw = Callable[[int, int, torch.Generator], tuple[Tensor, Tensor]]
"""Rows and length -> ids and the right answers, -100 where nothing is asked."""


@dataclass(frozen=True)
class MethodCurves:
    """One method by seed: a number for each bin of positions, and means over parts of the sequence."""

    curve: list[list[float]]
    trained: list[float]
    twice: list[float]
    four_times: list[float]


@dataclass(frozen=True)
class PositionsResult:
    """Shares of right answers (``back``) and nats a character (``text``) by method, and the sizes."""

    ratio: float
    ratio_of: str
    back: dict[str, MethodCurves]
    text: dict[str, MethodCurves]
    length: int
    times: int
    back_by: int
    letters: int
    width: int
    heads: int
    layers: int
    batch: int
    steps: int
    seeds: int
    test_rows: int
    threads: int
    seconds: float


@benchmark("positions", _Plan(), quick=_QUICK)
def bench_positions(plan: _Plan) -> PositionsResult:
    """Train a decoder for each method, seed and kind of sequence, and read on beyond the trained length.

    ``back`` holds shares of right answers, ``text`` the mean cross-entropy of a character in nats; in both, for each
    method, ``curve`` has one number for each bin of positions and each seed (bins are equally wide, and the first
    quarter of them lies within the trained length), and ``trained``, ``twice`` and ``four_times`` the mean over the
    second half of the trained length, over what lies between it and its double, and over the second half of the whole,
    one for each seed. ``ratio`` is the loss at four times the trained length, best method to sinusoids, on text.
    """
    begun_s = time.perf_counter()
    curves_of: dict[str, dict[str, MethodCurves]] = {kind: {} for kind in KINDS}
    for kind in KINDS:
        draw, vocabulary = (_letters(plan), FIRST_ID + plan.letters) if kind == "back" else characters()
        for method in METHODS:
            curves = [_curve(plan, method, kind, draw, vocabulary, seed) for seed in range(plan.seeds)]
            curves_of[kind][method] = _summary(curves)
    far = {method: sum(curves_of["text"][method].four_times) / plan.seeds for method in METHODS}
    best = min(far, key=lambda method: far[method])
    return PositionsResult(
        ratio=far[best] / far["sinusoidal"],
        ratio_of=f"loss of a character at {plan.times} times the trained length, {best} / sinusoidal",
        **curves_of,
        length=plan.length,
        times=plan.times,
        back_by=plan.back,
        letters=plan.letters,
        width=plan.width,
        heads=plan.n_heads,
        layers=plan.n_layers,
        batch=plan.batch,
        steps=plan.steps,
        seeds=plan.seeds,
        test_rows=plan.test_rows,
        threads=torch.get_num_threads(),
        seconds=round(time.perf_counter() - begun_s, 1),
    )


def _letters(plan: _Plan) -> Draw:
    def draw(rows: int, length: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
        ids = torch.randint(FIRST_ID, FIRST_ID + plan.letters, (rows, length), generator=chance)
        answers = torch.full_like(ids, -100)
        answers[:, plan.back :] = ids[:, : -plan.back]
        return ids, answers

    return draw


def characters() -> tuple[Draw, int]:
    """Stretches of a long text of generated sentences, cut at any place; the test text has other sentences."""
    texts = [" ".join(pair.english for pair in sample(3000, seed)) for seed in (1, 2)]
    known = {character: FIRST_ID + i for i, character in enumerate(sorted(set("".join(texts))))}
    streams = [torch.tensor([known[character] for character in text]) for text in texts]

    def draw(rows: int, length: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
        stream = streams[chance.initial_seed() % 2]  # even seeds learn, odd ones test
        begins = torch.randint(0, len(stream) - length - 1, (rows, 1), generator=chance)
        taken = stream[begins + torch.arange(length + 1)]
        return taken[:, :-1], taken[:, 1:]

    return draw, FIRST_ID + len(known)


def _curve(plan: _Plan, method: Positions, kind: str, draw: Draw, vocabulary: int, seed: int) -> Tensor:
    """Train one decoder and measure it at every position of long sequences: right or not, or the loss."""
    torch.manual_seed(seed)
    whole = plan.times * plan.length
    config = Config(
        vocabulary,
        d_model=plan.width,
        n_heads=plan.n_heads,
        n_layers=plan.n_layers,
        d_hidden=4 * plan.width,
        max_length=whole,
        positions=method,
        pre_norm=True,
        dropout=0.0,
    )
    model = DecoderLM(config)
    optimiser = torch.optim.AdamW(model.parameters(), lr=plan.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=plan.steps)
    chance = torch.Generator().manual_seed(2 * seed)

    def loss() -> Tensor:
        ids, answers = draw(plan.batch, plan.length, chance)
        return F.cross_entropy(model(ids).flatten(0, 1), answers.flatten(), ignore_index=-100)

    train_small(model, loss, plan.steps, schedule)
    model.eval()
    ids, answers = draw(plan.test_rows, whole, torch.Generator().manual_seed(10_001))
    with torch.no_grad():
        logits = model(ids)
    counted = answers != -100
    if kind == "back":
        scores = (logits.argmax(dim=-1) == answers).double()
    else:
        scores = F.cross_entropy(logits.flatten(0, 1), answers.flatten(), reduction="none").view_as(ids).double()
    total, count = (
        (x * counted).view(plan.test_rows, plan.bins, -1).sum(dim=(0, 2)) for x in (scores, counted.double())
    )
    return total / count


def _summary(curves: list[Tensor]) -> MethodCurves:
    quarter = len(curves[0]) // 4
    parts = {
        "trained": slice(quarter // 2, quarter),
        "twice": slice(quarter, 2 * quarter),
        "four_times": slice(2 * quarter, 4 * quarter),
    }
    table = {name: [round(curve[part].mean().item(), 5) for curve in curves] for name, part in parts.items()}
    return MethodCurves([[round(value, 5) for value in curve.tolist()] for curve in curves], **table)
