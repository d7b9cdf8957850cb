"""Judges of transformer exercises compared on the same wrong and right answers: ``softlookup bench judges``."""

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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


def _share(rows: list[dict[str, Any]]) -> dict[str, int]:
    return {"wrong": len(rows), "accepted": sum(row["accepted"] for row in rows)}


def _tally(
    report: dict[str, Any],
    submitted: dict[tuple[str, str], SubmittedAnswer],
    differs: dict[tuple[str, str], frozenset[str]],
) -> dict[str, Any]:
    """Count what one judge did; each of its rows learns whether the judge asks for what it violates."""
    exercises, is_course = asked_by(report["judge"]), report["judge"] == OURS
    for row in report["rows"]:
        key = row["function"], row["name"]
        answer = submitted[key]
        row["right"], row["asked"] = (
            answer.right,
            not answer.right and exercises[answer.function].asks(answer.name, differs[key]),
        )
        stated = bool(answer.words and re.search(answer.words, row["message"]))
        row["states"] = not row["accepted"] and (
            set(row["named"]) <= set(answer.known) and bool(row["named"]) if is_course else stated
        )
        row["misnames"] = is_course and bool(row["named"]) and not row["states"]
    wrong = [row for row in report["rows"] if row["asked"]]
    right = [row for row in report["rows"] if row["right"]]
    unlisted = [row for row in wrong if not submitted[row["function"], row["name"]].known]
    return {
        "judge": report["judge"],
        "version": report["version"],
        "licence": report["licence"],
        "functions": len({row["function"] for row in report["rows"]}),
        **_share(wrong),
        "unlisted": _share(unlisted),
        "right": len(right),
        "rejected": sum(not row["accepted"] for row in right),
        "named": sum(row["states"] for row in wrong),
        "named_falsely": sum(row["misnames"] for row in wrong) if is_course else None,
        "median_ms": round(statistics.median(row["ms"] for row in report["rows"]), 2),
    }


def _both(course: dict[str, Any], peer: dict[str, Any]) -> dict[str, Any]:
    """What two judges did with the wrong answers that both are asked about."""
    here = {(row["function"], row["name"]): row for row in course["rows"] if row["asked"]}
    there = {(row["function"], row["name"]): row for row in peer["rows"] if row["asked"]}
    keys = sorted(set(here) & set(there))
    return {
        "peer": peer["judge"],
        "functions": len({function for function, _ in keys}),
        "wrong": len(keys),
        "accepted_by_peer": sum(there[key]["accepted"] for key in keys),
        "accepted_here": sum(here[key]["accepted"] for key in keys),
        "accepted_here_alone": sum(here[key]["accepted"] and not there[key]["accepted"] for key in keys),
        "ms_peer": round(statistics.median(there[key]["ms"] for key in keys), 2),
        "ms_here": round(statistics.median(here[key]["ms"] for key in keys), 2),
    }


def _said(row: dict[str, Any]) -> str:
    return ("accepted" if row["accepted"] else "rejected") if row["asked"] else "not asked"


@benchmark("judges", JudgeSizes(), quick=QUICK)
def bench_judges(
    plan: JudgeSizes, *, peers: Path | None = None, say: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Give each judge the same wrong and right answers, in the signatures that it wants.

    Args:
        plan: Which judges and functions; ``quick=True`` in its place takes the course's judge and three functions.
        peers: A folder with the peers: packages put there by ``pip install --target``, and clones.
        say: Takes a line about each judge.

    Returns:
        A record: a row for each judge, what each peer and the course made of the wrong answers that both are asked
        about, every wrong answer with its verdicts, and which judges were missing. ``ratio`` is the share of wrong
        answers rejected by the course over that of the best peer, on the answers of both; None without a peer.
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
    judges = [_tally(report, submitted, differs) for report in reports]
    ours = next(one for one in reports if one["judge"] == OURS)
    both = [_both(ours, one) for one in reports if one is not ours]
    best = max(both, key=lambda one: 1 - one["accepted_by_peer"] / one["wrong"], default=None)
    askers = {function: [one for one in JUDGES if function in asked_by(one)] for function in chosen}
    wrong = [one for one in submitted.values() if not one.right]
    rows: list[dict[str, Any]] = []
    for one in wrong:
        key = one.function, one.name
        verdicts = {
            f["judge"]: _said(row) for f in reports for row in f["rows"] if (row["function"], row["name"]) == key
        }
        facts = {"known": list(one.known), "differs_on": sorted(differs[key]), "verdicts": verdicts}
        rows.append({"function": one.function, "name": one.name, **facts})
    return {
        "ratio": best and (1 - best["accepted_here"] / best["wrong"]) / (1 - best["accepted_by_peer"] / best["wrong"]),
        "ratio_of": "share of wrong answers rejected by the course / by the best peer, on the answers that both are "
        "asked about",
        "best_peer": best and best["peer"],
        "judges": judges,
        "both": both,
        "missing": missing,
        "functions": len(chosen),
        "shared_functions": sum(len(one) > 1 for one in askers.values()),
        "wrong": len(wrong),
        "wrong_unlisted": sum(not one.known for one in wrong),
        "right": len(submitted) - len(wrong),
        "answers": rows,
        "seconds": round(time.perf_counter() - begun_s, 1),
    }
