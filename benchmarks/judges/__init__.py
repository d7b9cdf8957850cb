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
    found: dict[str, Any], given: dict[tuple[str, str], SubmittedAnswer], differs: dict[tuple[str, str], frozenset[str]]
) -> dict[str, Any]:
    """Count what one judge did; each of its rows learns whether the judge asks for what it violates."""
    asked, ours = asked_by(found["judge"]), found["judge"] == OURS
    for row in found["rows"]:
        key = row["function"], row["name"]
        one = given[key]
        row["right"], row["asked"] = one.right, not one.right and asked[one.function].asks(one.name, differs[key])
        stated = bool(one.words and re.search(one.words, row["message"]))
        row["states"] = not row["accepted"] and (
            set(row["named"]) <= set(one.known) and bool(row["named"]) if ours else stated
        )
        row["misnames"] = ours and bool(row["named"]) and not row["states"]
    wrong = [row for row in found["rows"] if row["asked"]]
    right = [row for row in found["rows"] if row["right"]]
    unlisted = [row for row in wrong if not given[row["function"], row["name"]].known]
    return {
        "judge": found["judge"],
        "version": found["version"],
        "licence": found["licence"],
        "functions": len({row["function"] for row in found["rows"]}),
        **_share(wrong),
        "unlisted": _share(unlisted),
        "right": len(right),
        "rejected": sum(not row["accepted"] for row in right),
        "named": sum(row["states"] for row in wrong),
        "named_falsely": sum(row["misnames"] for row in wrong) if ours else None,
        "median_ms": round(statistics.median(row["ms"] for row in found["rows"]), 2),
    }


def _both(mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """What two judges did with the wrong answers that both are asked about."""
    here = {(row["function"], row["name"]): row for row in mine["rows"] if row["asked"]}
    there = {(row["function"], row["name"]): row for row in theirs["rows"] if row["asked"]}
    keys = sorted(set(here) & set(there))
    return {
        "peer": theirs["judge"],
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
    given = {(one.function, one.name): one for function in chosen for one in answers(function)}
    differs = {key: wrong_on(one.function, one.source) for key, one in given.items() if not one.right}
    found, missing = [], {}
    for judge in plan.judges:
        said = _asked(judge, peers, plan.functions)
        if say is not None:
            say(f"{judge}: {said.get('missing') or str(len(said['rows'])) + ' verdicts'}")
        if "missing" in said:
            missing[judge] = said["missing"]
        else:
            found.append(said)
    judges = [_tally(one, given, differs) for one in found]
    ours = next(one for one in found if one["judge"] == OURS)
    both = [_both(ours, one) for one in found if one is not ours]
    best = max(both, key=lambda one: 1 - one["accepted_by_peer"] / one["wrong"], default=None)
    askers = {function: [one for one in JUDGES if function in asked_by(one)] for function in chosen}
    wrong = [one for one in given.values() if not one.right]
    rows: list[dict[str, Any]] = []
    for one in wrong:
        key = one.function, one.name
        verdicts = {f["judge"]: _said(row) for f in found for row in f["rows"] if (row["function"], row["name"]) == key}
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
        "right": len(given) - len(wrong),
        "answers": rows,
        "seconds": round(time.perf_counter() - begun_s, 1),
    }
