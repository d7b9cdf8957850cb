"""One judge in a process of its own: ``python -m benchmarks.judges.running JUDGE FOLDER FILE [FUNCTION ...]``."""

import json
import os
import sys
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

JUDGES = {"Soft Lookup": "course", "TorchCode": "torchcode", "TorchLeet": "torchleet", "CS336": "cs336"}
"""Judge -> the module beside this one that gives it the answers."""


def run(judge: str, peers: Path | None, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """Give a judge all of the answers that it has a task for.

    Its version, and a row for each answer; where the judge is not there, what to do.
    """
    import torch

    from benchmarks.judges.answers import answers, made
    from benchmarks.judges.verdict import Missing

    torch.set_num_threads(1)
    try:
        opened = import_module(f"benchmarks.judges.{JUDGES[judge]}").opened(peers)
    except Missing as missing:
        return {"judge": judge, "missing": str(missing)}
    rows = []
    for function, exercise in opened.exercises.items():
        if only and function not in only:
            continue
        submitted = list(answers(function))
        opened.verdict(exercise.task, exercise.made(made(submitted[0].source)))  # the first verdict also loads things
        for answer in submitted:
            torch.manual_seed(0)
            verdict = opened.verdict(exercise.task, exercise.made(made(answer.source)))
            row = {
                "function": function,
                "name": answer.name,
                "accepted": verdict.accepted,
                "named": list(verdict.named),
            }
            rows.append({**row, "message": verdict.message[:400], "ms": round(1e3 * verdict.seconds, 3)})
    return {"judge": judge, "version": opened.version, "licence": opened.licence, "rows": rows}


def main() -> None:
    """Run one judge with nothing of its own on the disk, and write what it said."""
    judge, folder, file, *only = sys.argv[1:]
    peers, out = Path(folder).resolve() if folder else None, Path(file).resolve()
    with tempfile.TemporaryDirectory() as home, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["HOME"] = home  # judges keep a student's progress there
        os.chdir(home)
        report = run(judge, peers, tuple(only))
        os.chdir("/")
    out.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
