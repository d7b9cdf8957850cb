"""Reading a text at once or in pieces, and writing several texts side by side: ``softlookup bench prefill``.

Both show the same thing: a step reads all weights, whether it has one token to put through them or hundreds.
"""

import statistics
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from benchmarks.harness import benchmark
from benchmarks.race import clocked, race
from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM

_FIRST_WORD = 4  # the ids below are special


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    vocab_size: int = 6000
    d_model: int = 256
    d_hidden: int = 1024
    n_heads: int = 4
    n_layers: int = 4
    prompt: int = 256
    pieces: tuple[int, ...] = (1, 4, 16, 64, 256)
    rounds: int = 5
    cached: int = 64
    batches: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    step_rounds: int = 15


_QUICK = _Plan(
    vocab_size=50,
    d_model=16,
    d_hidden=24,
    n_heads=2,
    n_layers=1,
    prompt=8,
    pieces=(1, 4, 8),
    rounds=1,
    cached=4,
    batches=(1, 2),
    step_rounds=1,
)


@dataclass(frozen=True)
class PrefillReading:
    """A prompt that is read in pieces.

    Attributes:
        prompt: Its tokens.
        pieces: Tokens at once.
        ms_per_token: For each size of piece.
        ratio: The first of these over the last.
        by_the_clock: The same ratio, by the clock.
    """

    prompt: int
    pieces: tuple[int, ...]
    ms_per_token: list[float]
    ratio: float
    by_the_clock: dict[str, float]


@dataclass(frozen=True)
class Writing:
    """A step with several texts side by side.

    Attributes:
        kept: Tokens in the cache.
        texts: How many there are.
        ms_per_step: For each number of texts.
        ms_per_token: The same, for each text's token.
        ratio: The first of these over the last.
    """

    kept: int
    texts: tuple[int, ...]
    ms_per_step: list[float]
    ms_per_token: list[float]
    ratio: float


@benchmark("prefill", _Plan(), quick=_QUICK)
def bench_prefill(plan: _Plan, *, device: str = "cpu") -> dict[str, Any]:
    """Read a prompt in pieces of several sizes, and take one step with several texts side by side.

    ``ratio`` is (one token at a time / all at once), for reading the prompt. ``reading`` is a ``PrefillReading`` and
    ``writing`` a ``Writing``: medians of what the thread itself ran, since steps are short and a busy machine
    interrupts them. ``largest_difference`` is how far the last logits lie apart, over all sizes of pieces.
    """
    torch.manual_seed(0)
    config = Config(
        vocab_size=plan.vocab_size,
        d_model=plan.d_model,
        n_heads=plan.n_heads,
        n_layers=plan.n_layers,
        d_hidden=plan.d_hidden,
        max_length=plan.prompt + plan.cached + plan.step_rounds + 2,
        positions="rotary",
        pre_norm=True,
        tied=False,
    )
    with torch.no_grad():
        model = DecoderLM(config).to(device).eval()
        reading, difference = _reading(plan, model, device)
        writing = _writing(plan, model, device)
    return {
        "ratio": reading.ratio,
        "ratio_of": f"reading {plan.prompt} tokens one at a time / all at once",
        "reading": reading,
        "writing": writing,
        "largest_difference": difference,
        "parameters": sum(p.numel() for p in model.parameters()),
        "peer": "none: our own reading, in other pieces",
    }


def _reading(plan: _Plan, model: DecoderLM, device: str) -> tuple[PrefillReading, float]:
    ids = torch.randint(_FIRST_WORD, plan.vocab_size, (1, plan.prompt)).to(device)

    def read(size: int) -> Tensor:
        state = model.start()
        logits = ids.new_zeros(())
        for begin in range(0, plan.prompt, size):
            logits, state = model.step(ids[:, begin : begin + size], state)
        return logits

    raced = race({str(size): lambda size=size: read(size) for size in plan.pieces}, plan.rounds)  # type: ignore[misc]
    whole = raced.results[str(plan.pieces[-1])]
    difference = max(float((logits - whole).abs().max()) for logits in raced.results.values())
    per_token_ms = [1e3 * statistics.median(raced.cpu_seconds[str(size)]) / plan.prompt for size in plan.pieces]
    clock = raced.ratio(str(plan.pieces[0]), str(plan.pieces[-1]))
    return PrefillReading(plan.prompt, plan.pieces, per_token_ms, per_token_ms[0] / per_token_ms[-1], clock), difference


def _writing(plan: _Plan, model: DecoderLM, device: str) -> Writing:
    step_ms = []
    for batch in plan.batches:
        ids = torch.randint(_FIRST_WORD, plan.vocab_size, (batch, plan.cached)).to(device)
        _, state = model.step(ids, model.start())
        _, state = model.step(ids[:, :1], state)  # a cache just filled has no room, and is copied once
        taken = [clocked(lambda: model.step(ids[:, :1], state)[0])[2] for _ in range(plan.step_rounds)]  # noqa: B023
        step_ms.append(1e3 * statistics.median(taken))
    token_ms = [ms / batch for ms, batch in zip(step_ms, plan.batches, strict=True)]
    return Writing(plan.cached, plan.batches, step_ms, token_ms, token_ms[0] / token_ms[-1])
