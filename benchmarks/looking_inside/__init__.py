"""What can be seen inside trained models: ``softlookup bench inside``.

Induction heads, sinks and the logit lens in SmolLM2 and in the shipped writer, activation patching in the shipped
translator and in SmolLM2, what the head that it points to attends to and causes, probes with control tasks,
superposition in toy models, and a sparse autoencoder on one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import benchmark
from benchmarks.kept_runs import KeptRuns
from benchmarks.looking_inside import causes, features, reading
from benchmarks.looking_inside.sizes import QUICK, InsideSizes


@dataclass(frozen=True)
class InsideResult:
    """One entry for each experiment, as its function gives it; those on SmolLM2 are None without it."""

    ratio: float | None
    ratio_of: str
    induction: dict[str, Any]
    sinks: dict[str, Any]
    lens: dict[str, Any]
    attribution: dict[str, Any] | None
    capital: dict[str, Any] | None
    country_head: dict[str, Any] | None
    gender: list[dict[str, Any]]
    probes: dict[str, Any]
    superposition: dict[str, Any]
    autoencoder: dict[str, Any]
    families: dict[str, Any]
    sizes: InsideSizes
    seconds: float


@benchmark("inside", InsideSizes(), quick=QUICK)
def bench_inside(
    plan: InsideSizes, *, runs_file: Path | None = None, say: Callable[[str], None] | None = None
) -> InsideResult:
    """Look into trained models; a quick run is without SmolLM2.

    The record has one entry for each experiment; ``ratio`` is SmolLM2's loss on the second copy of random tokens
    without its strongest induction heads over that without as many random heads. Where SmolLM2 is not installed, its
    experiments are None, and so is the ratio.
    """
    begun_s = time.perf_counter()
    runs = KeptRuns(runs_file, repr(plan), say)
    smollm2 = plan.published and reading.installed()
    of_both: dict[str, Callable[[InsideSizes, str], Any]] = {
        "induction": reading.induction,
        "sinks": reading.sinks,
        "lens": reading.lens,
    }
    record: dict[str, Any] = {}
    for name, measure in of_both.items():
        record[name] = {
            of: runs.do(f"{name} of {of}", partial(measure, plan, of)) if of == "writer" or smollm2 else None
            for of in ("smollm2", "writer")
        }
    of_smollm2: dict[str, Callable[[InsideSizes], Any]] = {
        "attribution": reading.attribution,
        "capital": causes.capital,
        "country_head": causes.country_head,
    }
    for name, measure_smollm2 in of_smollm2.items():
        record[name] = runs.do(name, partial(measure_smollm2, plan)) if smollm2 else None
    of_ours: dict[str, Callable[[InsideSizes], Any]] = {
        "gender": causes.gender,
        "probes": reading.probes,
        "superposition": features.superposition,
        "autoencoder": features.autoencoder,
        "families": features.families,
    }
    for name, measure_ours in of_ours.items():
        record[name] = runs.do(name, partial(measure_ours, plan))
    runs.done()
    seen = record["induction"]["smollm2"]
    without = seen and seen["loss_without"]["zero"]
    return InsideResult(
        ratio=without and without["strongest"] * len(without["random"]) / sum(without["random"]),
        ratio_of=f"loss of SmolLM2 on repeated random tokens without its {plan.silenced} strongest induction "
        f"heads / without {plan.silenced} random ones, mean of {plan.draws} draws",
        **record,
        sizes=plan,
        seconds=round(time.perf_counter() - begun_s, 1),
    )
