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
from softlookup.model.config import Config
from softlookup.model.language import DecoderLM

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
    kept: int = 64
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
    kept=4,
    batches=(1, 2),
    step_rounds=1,
)


@benchmark("prefill", _Plan(), quick=_QUICK)
def bench_prefill(plan: _Plan, *, device: str = "cpu") -> dict[str, Any]:
    """Read a prompt in pieces of several sizes, and take one step with several texts side by side.

    Args:
        device: Where to run.
        plan: The sizes; ``quick=True`` in their place takes those of a run of seconds.

    Returns:
        A record. ``ratio`` is (one token at a time / all at once), for reading the prompt. ``reading`` has the
        milliseconds for each token of the prompt, for each size of piece, and ``writing`` the milliseconds of a step
        and for each token, for each number of texts: medians of what the thread itself ran, since steps are short and
        a busy machine interrupts them. ``largest_difference`` is how far the
        last logits lie apart, over all sizes of pieces.
    """
    torch.manual_seed(0)
    config = Config(
        vocab_size=plan.vocab_size,
        d_model=plan.d_model,
        n_heads=plan.n_heads,
        n_layers=plan.n_layers,
        d_hidden=plan.d_hidden,
        max_length=plan.prompt + plan.kept + plan.step_rounds + 2,
        positions="rotary",
        pre_norm=True,
        tied=False,
    )
    with torch.no_grad():
        model = DecoderLM(config).to(device).eval()
        reading, difference = _reading(plan, model, device)
        writing = _writing(plan, model, device)
    return {
        "ratio": reading["ratio"],
        "ratio_of": f"reading {plan.prompt} tokens one at a time / all at once",
        "reading": reading,
        "writing": writing,
        "largest_difference": difference,
        "parameters": sum(p.numel() for p in model.parameters()),
        "peer": "none: our own reading, in other pieces",
    }


def _reading(plan: _Plan, model: DecoderLM, device: str) -> tuple[dict[str, Any], float]:
    ids = torch.randint(_FIRST_WORD, plan.vocab_size, (1, plan.prompt)).to(device)

    def read(size: int) -> Tensor:
        state = model.start()
        logits = ids.new_zeros(())
        for begin in range(0, plan.prompt, size):
            logits, state = model.step(ids[:, begin : begin + size], state)
        return logits

    raced = race({str(size): lambda size=size: read(size) for size in plan.pieces}, plan.rounds)  # type: ignore[misc]
    whole = raced.results[str(plan.pieces[-1])]
    difference = max(float((one - whole).abs().max()) for one in raced.results.values())
    per_token_ms = [1e3 * statistics.median(raced.cpu_seconds[str(size)]) / plan.prompt for size in plan.pieces]
    return {
        "prompt": plan.prompt,
        "pieces": list(plan.pieces),
        "ms_per_token": per_token_ms,
        "ratio": per_token_ms[0] / per_token_ms[-1],
        "by_the_clock": raced.ratio(str(plan.pieces[0]), str(plan.pieces[-1])),
    }, difference


def _writing(plan: _Plan, model: DecoderLM, device: str) -> dict[str, Any]:
    step_ms = []
    for batch in plan.batches:
        ids = torch.randint(_FIRST_WORD, plan.vocab_size, (batch, plan.kept)).to(device)
        _, state = model.step(ids, model.start())
        _, state = model.step(ids[:, :1], state)  # a cache just filled has no room, and is copied once
        taken = [clocked(lambda: model.step(ids[:, :1], state)[0])[2] for _ in range(plan.step_rounds)]  # noqa: B023
        step_ms.append(1e3 * statistics.median(taken))
    return {
        "kept": plan.kept,
        "texts": list(plan.batches),
        "ms_per_step": step_ms,
        "ms_per_token": [ms / batch for ms, batch in zip(step_ms, plan.batches, strict=True)],
        "ratio": step_ms[0] * plan.batches[-1] / step_ms[-1],
    }
