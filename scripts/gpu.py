"""The tests and benchmarks that need a GPU, on a bare machine: torch, numpy, jaxtyping (and pytest) are enough.

    python scripts/gpu.py OUT            all parts, a JSON file for each in the folder OUT
    python scripts/gpu.py OUT gpt2 tests some of them

Each part is a process of its own. What fails is said at the end, and the others go on.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("tests", "gpt2", "launches", "training", "roofline", "batching", "decoding", "prefill", "layers")
LIMIT_S = 240


def main(arguments: list[str]) -> int:
    """Run the parts.

    Args:
        arguments: The folder, then the parts; none means all of them.

    Returns:
        The exit status: how many parts failed.
    """
    if not arguments or not set(arguments[1:]) <= set(PARTS):
        print(__doc__, "parts:", *PARTS)
        return 2
    out, parts = Path(arguments[0]), arguments[1:] or PARTS
    out.mkdir(parents=True, exist_ok=True)
    paths = os.pathsep.join([str(ROOT / "lib"), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": paths}
    failed = []
    for part in parts:
        if part == "tests":
            command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", *_files_of_tests()]
        else:
            command = [sys.executable, __file__, "--one", part, str(out / f"{part}.json")]
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


def one(part: str, file: Path) -> None:
    """Run one benchmark on the GPU and write its record.

    Args:
        part: Its name.
        file: Where the record goes.
    """
    import benchmarks

    options = {"device": lambda: "cuda", "quick": lambda: False, "folder": lambda: None}
    record = benchmarks.run(part, options)
    file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _files_of_tests() -> list[str]:
    """The files that a test marked gpu may stand in: others need packages that a bare machine has not."""
    rooms = ("model", "roofline", "training")
    files = [file for room in rooms for file in sorted((ROOT / "tests" / room).glob("test_*.py"))]
    return [str(file.relative_to(ROOT)) for file in files if re.search(r"mark\.gpu|\bdevice\b", file.read_text())]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
