"""What newer parts of language models gain: ``softlookup bench changed``.

Two experiments on SmolLM2 (a window with and without its first tokens, a cache of few bits), and six on models that
are trained on the spot or made of random numbers. Each compares a part with what stood in its place.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.changed import published, small
from benchmarks.changed.sizes import QUICK, ChangedSizes
from benchmarks.harness import benchmark
from benchmarks.kept_runs import KeptRuns


@dataclass(frozen=True)
class ChangedResult:
    """One entry for each experiment, as its function gives it; the first two are None without SmolLM2."""

    ratio: float | None
    ratio_of: str
    window: dict[str, Any] | None
    cache_bits: dict[str, Any] | None
    expert_load: dict[str, Any]
    largest_logit: dict[str, Any]
    stretched: dict[str, Any]
    draft: dict[str, Any]
    recall: dict[str, Any]
    muon: dict[str, Any]
    sizes: ChangedSizes
    seconds: float


@benchmark("changed", ChangedSizes(), quick=QUICK)
def bench_changed(
    plan: ChangedSizes, *, root: Path, runs_file: Path | None = None, say: Callable[[str], None] | None = None
) -> ChangedResult:
    """Compare each part with what stood in its place.

    ``root`` is the checkout, whose pages are the text that SmolLM2 reads. The record has one entry for each experiment;
    ``ratio`` is the perplexity of SmolLM2 through a window over that with the same budget and the first tokens kept.
    Where SmolLM2 is not installed, its two are None, and so is the ratio.
    """
    begun_s = time.perf_counter()
    runs = KeptRuns(runs_file, repr(plan), say)
    of_smollm2: dict[str, Callable[[ChangedSizes, Path], Any]] = {
        "window": published.window,
        "cache_bits": published.cache_bits,
    }
    of_small: dict[str, Callable[[ChangedSizes], Any]] = {
        "expert_load": small.expert_load_with_and_without_bias,
        "largest_logit": small.largest_logit,
        "stretched": small.stretched,
        "draft": small.draft,
        "recall": small.recall,
        "muon": small.muon_against_adamw,
    }
    record: dict[str, Any] = {}
    for name, measure in of_smollm2.items():
        record[name] = runs.do(name, partial(measure, plan, root)) if published.installed() else None
    for name, measure_small in of_small.items():
        record[name] = runs.do(name, partial(measure_small, plan))
    runs.done()
    seen = record["window"]
    return ChangedResult(
        ratio=seen and seen["perplexity"]["window"] / seen["perplexity"]["window_and_sinks"],
        ratio_of=f"perplexity of SmolLM2 through the newest {plan.window} tokens / the first {plan.sinks} and the "
        f"newest {plan.window - plan.sinks}",
        **record,
        sizes=plan,
        seconds=round(time.perf_counter() - begun_s, 1),
    )
