"""The tests and benchmarks that need a GPU, on a bare machine: torch, numpy, jaxtyping (and pytest) are enough.

    python -m benchmarks.gpu                       what there is, and what it needs
    python -m benchmarks.gpu OUT                   all parts that fit into ten minutes, the most important ones first
    python -m benchmarks.gpu OUT gpt2 tests        some of them
    python -m benchmarks.gpu OUT --quick gpt2      in sizes of seconds, and on a CPU where there is no GPU

It is called in the checkout. Each part is a process with a limit of its own; what fails is said at the end, and the
others go on. OUT/records.json has the record of each benchmark that came to its end, under its name; OUT/log.txt all
that was printed. Where a limit came before the end, OUT/PART.runs.json has the ways of training that were measured, and
another call with the same OUT goes on after them.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOTAL_S = 570.0
"""What all parts together may take: a machine that is lent for ten minutes has to give its files back, too."""


@dataclass(frozen=True)
class GpuPart:
    """Something that is run.

    Attributes:
        needs: What it needs beside torch, numpy and jaxtyping.
        limit_s: After how many seconds it is stopped.
    """

    needs: str
    limit_s: float


_FOR_TESTS = "pytest, hypothesis and beartype"
PARTS = {
    "first-tests": GpuPart(_FOR_TESTS, 120),
    "tests": GpuPart(_FOR_TESTS, 150),
    "gpt2": GpuPart("19 GB, and triton", 180),
    "launches": GpuPart("16 GB, and triton", 120),
    "roofline": GpuPart("", 60),
    "training": GpuPart("triton", 120),
    "batching": GpuPart("", 60),
    "decoding": GpuPart("", 60),
    "prefill": GpuPart("", 60),
    "layers": GpuPart("", 60),
}
"""What can be run, the most important first."""

TESTS = ("-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "-p", "no:benchmark")
FIRST = ("training/test_plain_loss.py", "tiles")
"""The tests of what no run on a GPU has shown yet, one process after the other."""

RunCommand = Callable[[list[str], float, Path], int]


def main(arguments: list[str]) -> int:
    """Run the parts: the arguments are the folder, then the parts; none means all of them.

    With --quick benchmarks have sizes of seconds. The exit status is how many parts failed or found no time; 2 for
    arguments that name no part.
    """
    quick = "--quick" in arguments
    paths = [argument for argument in arguments if argument != "--quick"]
    names = paths[1:]
    if not set(names) <= set(PARTS):
        print(f"there is no part {', '.join({*names} - {*PARTS})}; wanted some of {', '.join(PARTS)}")
        return 2
    if not paths:
        print(__doc__)
        for name, part in PARTS.items():
            print(f"  {name:12} at most {part.limit_s:3.0f} s{part.needs and '; needs ' + part.needs}")
        listing = [sys.executable, *TESTS, "--collect-only", *_files_of_tests()]
        return subprocess.run(listing, cwd=ROOT, env=_environment(), check=False).returncode
    out = Path(paths[0])
    out.mkdir(parents=True, exist_ok=True)
    return run_parts(out, names or [*PARTS], quick, _run)


def run_parts(out: Path, names: list[str], quick: bool, run: RunCommand, total_s: float = TOTAL_S) -> int:
    """Run parts one after the other, each within its limit, and all within theirs; give how many failed or had no time.

    ``out`` is the folder of the records and the log. ``run`` runs a command, with its limit in seconds and the file of
    the log, and gives its exit status.
    """
    failed, begun_s = [], time.perf_counter()
    for name in names:
        left_s = total_s - (time.perf_counter() - begun_s)
        if left_s < 10:
            failed.append(f"{name} (no time left)")
            continue
        begun_part_s = time.perf_counter()
        status = run(_command(name, out, quick), min(PARTS[name].limit_s, left_s), out / "log.txt")
        took_s = time.perf_counter() - begun_part_s
        print(f"== {name}: {'done' if status == 0 else 'FAILED'} in {took_s:.0f} s", flush=True)
        failed += [name] if status else []
    if failed:
        print("failed:", ", ".join(failed))
    return len(failed)


def record(part: str, file: Path, quick: bool) -> None:
    """Run one benchmark and add its record to a file of records.

    If ``quick``, it runs in seconds, on a CPU where there is no GPU.
    """
    import torch

    import benchmarks

    device = "cpu" if quick and not torch.cuda.is_available() else "cuda"
    options = {
        "device": lambda: device,
        "quick": lambda: quick,
        "folder": lambda: None,
        "runs_file": lambda: file.with_name(f"{part}.runs.json"),
        "say": lambda: partial(print, flush=True),
    }
    measured = benchmarks.run(part, options)
    records = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(records | {part: measured}, indent=1) + "\n", encoding="utf-8")


def _command(name: str, out: Path, quick: bool) -> list[str]:
    if name == "first-tests":
        return [sys.executable, *TESTS, *(f"tests/{path}" for path in FIRST)]
    if name == "tests":
        side_by_side = ["-n", "4"] if find_spec("xdist") else []
        others = [file for file in _files_of_tests() if not file.startswith(tuple(f"tests/{path}" for path in FIRST))]
        return [sys.executable, *TESTS, *side_by_side, *others]
    options = ["--quick"] if quick else []
    return [sys.executable, "-m", "benchmarks.gpu", "--record", name, str(out / "records.json"), *options]


def _run(command: list[str], limit_s: float, log: Path) -> int:
    """Run a command, show what it prints, and keep it in the log, whatever ends it."""
    start = log.stat().st_size if log.exists() else 0
    with log.open("ab") as lines:
        try:
            status = subprocess.run(
                command, cwd=ROOT, env=_environment(), timeout=limit_s, check=False, stdout=lines, stderr=lines
            ).returncode
        except subprocess.TimeoutExpired:
            status = -1
    print(log.read_bytes()[start:].decode(errors="replace")[-3000:], flush=True)
    return status


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [*sorted(ROOT.glob("lib/*")), ROOT]))}


def _files_of_tests() -> list[str]:
    """The files that a test marked gpu may stand in: others need packages that a bare machine has not."""
    rooms = ("model", "roofline", "tiles", "training")
    files = [file for room in rooms for file in sorted((ROOT / "tests" / room).glob("test_*.py"))]
    return [str(file.relative_to(ROOT)) for file in files if re.search(r"mark\.gpu|\bdevice\b", file.read_text())]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2], Path(sys.argv[3]), "--quick" in sys.argv)
    else:
        sys.exit(main(sys.argv[1:]))
