"""How long a verdict takes: ``softlookup bench checks``."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import benchmark
from softlookup_inside.asking.calm import calm_torch
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data import published
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.home import check
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.judging.questions import HOME_SEED, draw


def quantile(values: list[float], share: float) -> float:
    """The value that a share of all lie at or under."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _nothing_known(*args: Any) -> Any:
    """An answer that no known mistake explains, so that all of them and all their pairs are tried."""
    return next((a * 0 + 0.123 for a in args if hasattr(a, "shape")), 0.123)


def _bare(task: Task) -> Callable[[], None]:
    """The least that a check could do: call the answer, compare with the reference by torch's own function."""
    import torch

    variant = variant_of(task)
    cases = [c for c in draw(variant, HOME_SEED) if not c.gradients]
    rights = [expected_results(variant, c) for c in cases]
    student = LocalStudent(variant, published.answer(variant))

    def run() -> None:
        for case, right in zip(cases, rights, strict=True):
            answer = student.ask(case, len(task.returns))
            close = max(1e-3, case.tolerance or 0.0)  # what is rounded by hand says so
            for got, want in zip(answer.arrays or (), right, strict=True):
                torch.testing.assert_close(
                    torch.as_tensor(got.astype(np.float64)),
                    torch.as_tensor(want.astype(np.float64)),
                    rtol=close,
                    atol=close,
                )

    return run


@dataclass(frozen=True)
class TaskVerdictTimes:
    """A task's verdicts: the median on its right answer, the 95th percentile and the most over all answers."""

    task: str
    right_ms: float
    p95_ms: float
    max_ms: float


@dataclass(frozen=True)
class VerdictTimes:
    """All verdicts: how many there were, quantiles of their times, and the course's limit."""

    ratio: float
    ratio_of: str
    verdicts: int
    p50_ms: float
    p95_ms: float
    max_ms: float
    limit_ms: float
    tasks: list[TaskVerdictTimes]
    peer: str


@benchmark("checks")
def bench_checks(rounds: int = 5) -> VerdictTimes:
    """Time every task's verdict: on a right answer, on each known mistake, on one that nothing known explains.

    Each is run ``rounds`` times. ``ratio`` is the median of (whole verdict on a right answer) / (call the answer on the
    same inputs and compare with ``torch.testing.assert_close``), task by task; times are in milliseconds; the machine
    and the peer's version are there, too.
    """
    import torch

    every: list[float] = []
    rows: list[TaskVerdictTimes] = []
    ratios: list[float] = []
    with calm_torch():
        for task in STANDARD.tasks():
            slugs = [m.slug for m in task.mistakes if m.symptom is None]
            variant = variant_of(task)
            answers = [published.answer(variant), *(published.answer(variant, (s,)) for s in slugs), _nothing_known]
            check(task.id, answers[0])
            bare = _bare(task)
            right: list[float] = []
            times: list[float] = []
            for _ in range(rounds):
                pair = _timed(partial(check, task.id, answers[0])), _timed(bare)
                right.append(pair[0])
                ratios.append(pair[0] / pair[1])
                times += [_timed(partial(check, task.id, answer)) for answer in answers]
            every += times
            right_ms = 1e3 * statistics.median(right)
            rows.append(TaskVerdictTimes(task.id, right_ms, 1e3 * quantile(times, 0.95), 1e3 * max(times)))
    return VerdictTimes(
        ratio=statistics.median(ratios),
        ratio_of="verdict on a right answer / calling it and torch.testing.assert_close on the same inputs",
        verdicts=len(every),
        p50_ms=1e3 * quantile(every, 0.50),
        p95_ms=1e3 * quantile(every, 0.95),
        max_ms=1e3 * max(every),
        limit_ms=100.0,
        tasks=rows,
        peer=f"torch {torch.__version__}",
    )
