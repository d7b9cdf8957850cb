"""Judges of transformer exercises compared on the same wrong and right answers: ``softlookup bench judges``."""

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, benchmark
from benchmarks.judges.answers import SubmittedAnswer, answers, functions
from benchmarks.judges.probes import wrong_on
from benchmarks.judges.running import JUDGES
from benchmarks.judges.verdict import Asked

OURS = "Soft Lookup"


@dataclass(frozen=True)
class JudgeSizes:
    """Which judges are asked for which functions; empty means all of them."""

    judges: tuple[str, ...] = tuple(JUDGES)
    functions: tuple[str, ...] = ()


QUICK = JudgeSizes((OURS,), ("softmax", "clip", "top_k"))


def asked_by(judge: str) -> dict[str, Asked]:
    """How a judge asks for each function."""
    return dict(import_module(f"benchmarks.judges.{JUDGES[judge]}").ASKED)


def _asked(judge: str, peers: Path | None, only: tuple[str, ...]) -> dict[str, Any]:
    """Run one judge in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "said.json"
        place = str(peers.resolve()) if peers else ""
        command = [sys.executable, "-m", "benchmarks.judges.running", judge, place, str(file), *only]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if not file.is_file():
            raise ValueError(f"{judge} stopped before its last answer: {done.stderr.strip()[-600:]}")
        return dict(json.loads(file.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class JudgedAnswer:
    """One answer before one judge: what it said, after how many milliseconds, and whether that counts."""

    answer: SubmittedAnswer
    is_asked: bool
    accepted: bool
    states: bool
    misnames: bool
    ms: float

    @property
    def key(self) -> tuple[str, str]:
        """Function and name of the answer."""
        return self.answer.function, self.answer.name


@dataclass(frozen=True)
class WrongAnswers:
    """How many wrong answers there were, and how many of them were accepted."""

    wrong: int
    accepted: int


@dataclass(frozen=True)
class JudgeTally:
    """What one judge did: in ``named`` messages state the mistake, in ``named_falsely`` they name another."""

    judge: str
    version: str
    licence: str
    functions: int
    wrong: int
    accepted: int
    unlisted: WrongAnswers
    right: int
    rejected: int
    named: int
    named_falsely: int | None
    median_ms: float


@dataclass(frozen=True)
class PeerComparison:
    """The course and a peer on the wrong answers that both are asked about, with their median times."""

    peer: str
    functions: int
    wrong: int
    accepted_by_peer: int
    accepted_here: int
    accepted_here_alone: int
    ms_peer: float
    ms_here: float

    @property
    def rejected_by_peer(self) -> float:
        """The share of the wrong answers that the peer rejects."""
        return 1 - self.accepted_by_peer / self.wrong


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer: its names in the course, the inputs on which it differs, and each judge's verdict."""

    function: str
    name: str
    known: tuple[str, ...]
    differs_on: list[str]
    verdicts: dict[str, str]


@dataclass(frozen=True)
class JudgesResult:
    """All judges, each peer beside the course, and every wrong answer."""

    ratio: float | None
    ratio_of: str
    best_peer: str | None
    judges: list[JudgeTally]
    both: list[PeerComparison]
    missing: dict[str, str]
    functions: int
    shared_functions: int
    wrong: int
    wrong_unlisted: int
    right: int
    answers: list[WrongAnswer]
    seconds: float


def _judged(
    report: dict[str, Any],
    submitted: dict[tuple[str, str], SubmittedAnswer],
    differs: dict[tuple[str, str], frozenset[str]],
) -> Iterator[JudgedAnswer]:
    """Say of each answer whether the judge asks for what it violates, and whether the message states that."""
    exercises, is_course = asked_by(report["judge"]), report["judge"] == OURS
    for row in report["rows"]:
        key = row["function"], row["name"]
        answer, named = submitted[key], set(row["named"])
        is_asked = not answer.right and exercises[answer.function].asks(answer.name, differs[key])
        stated = bool(answer.words and re.search(answer.words, row["message"]))
        states = not row["accepted"] and (bool(named) and named <= set(answer.known) if is_course else stated)
        yield JudgedAnswer(
            answer, is_asked, row["accepted"], states, is_course and bool(named) and not states, row["ms"]
        )


def _tally(report: dict[str, Any], rows: list[JudgedAnswer]) -> JudgeTally:
    """Count what one judge did."""
    wrong = [row for row in rows if row.is_asked]
    right = [row for row in rows if row.answer.right]
    unlisted = [row for row in wrong if not row.answer.known]
    return JudgeTally(
        judge=report["judge"],
        version=report["version"],
        licence=report["licence"],
        functions=len({row.answer.function for row in rows}),
        wrong=len(wrong),
        accepted=sum(row.accepted for row in wrong),
        unlisted=WrongAnswers(len(unlisted), sum(row.accepted for row in unlisted)),
        right=len(right),
        rejected=sum(not row.accepted for row in right),
        named=sum(row.states for row in wrong),
        named_falsely=sum(row.misnames for row in wrong) if report["judge"] == OURS else None,
        median_ms=round(statistics.median(row.ms for row in rows), 2),
    )


def _compared(course: list[JudgedAnswer], peer: list[JudgedAnswer], name: str) -> PeerComparison:
    """What two judges did with the wrong answers that both are asked about."""
    here, there = ({row.key: row for row in rows if row.is_asked} for rows in (course, peer))
    keys = sorted(set(here) & set(there))
    return PeerComparison(
        peer=name,
        functions=len({function for function, _ in keys}),
        wrong=len(keys),
        accepted_by_peer=sum(there[key].accepted for key in keys),
        accepted_here=sum(here[key].accepted for key in keys),
        accepted_here_alone=sum(here[key].accepted and not there[key].accepted for key in keys),
        ms_peer=round(statistics.median(there[key].ms for key in keys), 2),
        ms_here=round(statistics.median(here[key].ms for key in keys), 2),
    )


def _verdict(row: JudgedAnswer) -> str:
    return ("accepted" if row.accepted else "rejected") if row.is_asked else "not asked"


@benchmark("judges", JudgeSizes(), quick=QUICK)
def bench_judges(
    plan: JudgeSizes, *, peers: Path | None = None, say: Callable[[str], None] | None = None
) -> JudgesResult:
    """Give each judge the same wrong and right answers, in the signatures that it wants.

    ``plan`` is which judges and functions; ``quick=True`` in its place takes the course's judge and three functions.
    ``peers`` is a folder with packages put there by ``pip install --target``, and clones.

    The record has a row for each judge, what each peer and the course made of the wrong answers that both are asked
    about, every wrong answer with its verdicts, and which judges were missing. ``ratio`` is the share of wrong answers
    rejected by the course over that of the best peer, on the answers of both; None without a peer.
    """
    begun_s = time.perf_counter()
    chosen = plan.functions or functions()
    submitted = {(answer.function, answer.name): answer for function in chosen for answer in answers(function)}
    differs = {key: wrong_on(answer.function, answer.source) for key, answer in submitted.items() if not answer.right}
    reports, missing = [], {}
    for judge in plan.judges:
        report = _asked(judge, peers, plan.functions)
        if say is not None:
            say(f"{judge}: {report.get('missing') or str(len(report['rows'])) + ' verdicts'}")
        if "missing" in report:
            missing[judge] = report["missing"]
        else:
            reports.append(report)
    rows = {report["judge"]: list(_judged(report, submitted, differs)) for report in reports}
    both = [_compared(rows[OURS], peer_rows, peer) for peer, peer_rows in rows.items() if peer != OURS]
    best = max(both, key=lambda comparison: comparison.rejected_by_peer, default=None)
    wrong = {key: answer for key, answer in submitted.items() if not answer.right}
    verdicts: dict[tuple[str, str], dict[str, str]] = {key: {} for key in wrong}
    for judge, judged in rows.items():
        for row in judged:
            if row.key in wrong:
                verdicts[row.key][judge] = _verdict(row)
    return JudgesResult(
        ratio=(1 - best.accepted_here / best.wrong) / best.rejected_by_peer if best else None,
        ratio_of="share of wrong answers rejected by the course / by the best peer, on the answers that both are "
        "asked about",
        best_peer=best.peer if best else None,
        judges=[_tally(report, rows[report["judge"]]) for report in reports],
        both=both,
        missing=missing,
        functions=len(chosen),
        shared_functions=sum(sum(function in asked_by(judge) for judge in JUDGES) > 1 for function in chosen),
        wrong=len(wrong),
        wrong_unlisted=sum(not answer.known for answer in wrong.values()),
        right=len(submitted) - len(wrong),
        answers=[WrongAnswer(*key, answer.known, sorted(differs[key]), verdicts[key]) for key, answer in wrong.items()],
        seconds=round(time.perf_counter() - begun_s, 1),
    )
