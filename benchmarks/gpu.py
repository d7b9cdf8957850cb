"""The tests and benchmarks that need a GPU, on a bare machine: torch, numpy, jaxtyping (and pytest) are enough.

    python -m benchmarks.gpu                       what there is, and what it needs
    python -m benchmarks.gpu OUT                   all parts, a JSON file for each in the folder OUT
    python -m benchmarks.gpu OUT gpt2 tests        some of them

It is called in the checkout. Each part is a process of its own; what fails is said at the end, and the others go on.
"""

import json
import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = {
    "tests": "pytest, hypothesis and beartype",
    "gpt2": "19 GB, and triton",
    "translator": "triton",
    "precision": "19 GB, and triton",
    "launches": "16 GB, and triton",
    "training": "triton",
    "roofline": "",
    "batching": "",
    "decoding": "",
    "prefill": "",
    "layers": "",
}
"""What can be run, and what it needs beside torch, numpy and jaxtyping."""

LIMIT_S = 240
TESTS = ("-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "-p", "no:benchmark")


def main(arguments: list[str]) -> int:
    """Run the parts.

    Args:
        arguments: The folder, then the parts; none means all of them.

    Returns:
        The exit status: how many parts failed.
    """
    paths = os.pathsep.join([str(ROOT / "lib"), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": paths}
    if not set(arguments[1:]) <= set(PARTS):
        print(f"there is no part {', '.join({*arguments[1:]} - {*PARTS})}; wanted some of {', '.join(PARTS)}")
        return 2
    if not arguments:
        print(__doc__)
        for part, needs in PARTS.items():
            print(f"  {part:10} {needs and 'needs ' + needs}")
        listing = [*TESTS, "--collect-only", *_files_of_tests()]
        return subprocess.run([sys.executable, *listing], cwd=ROOT, env=environment, check=False).returncode
    out, parts = Path(arguments[0]), arguments[1:] or [*PARTS]
    out.mkdir(parents=True, exist_ok=True)
    failed = []
    for part in parts:
        if part == "tests":
            side_by_side = ["-n", "4"] if find_spec("xdist") else []
            command = [sys.executable, *TESTS, *side_by_side, *_files_of_tests()]
        else:
            command = [sys.executable, "-m", "benchmarks.gpu", "--record", part, str(out / f"{part}.json")]
        begun_s = time.perf_counter()
        try:
            status = subprocess.run(command, cwd=ROOT, env=environment, timeout=LIMIT_S, check=False).returncode
        except subprocess.TimeoutExpired:
            status = -1
        print(f"== {part}: {'done' if status == 0 else 'FAILED'} in {time.perf_counter() - begun_s:.0f} s", flush=True)
        failed += [part] if status else []
    if failed:
        print("failed:", *failed)
    return len(failed)


def record(part: str, file: Path) -> None:
    """Run one benchmark on the GPU and write its record.

    Args:
        part: Its name.
        file: Where the record goes.
    """
    import benchmarks

    options = {"device": lambda: "cuda", "quick": lambda: False, "folder": lambda: None}
    measured = benchmarks.run(part, options)
    file.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def _files_of_tests() -> list[str]:
    """The files that a test marked gpu may stand in: others need packages that a bare machine has not."""
    rooms = ("model", "roofline", "tiles", "training")
    files = [file for room in rooms for file in sorted((ROOT / "tests" / room).glob("test_*.py"))]
    return [str(file.relative_to(ROOT)) for file in files if re.search(r"mark\.gpu|\bdevice\b", file.read_text())]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
