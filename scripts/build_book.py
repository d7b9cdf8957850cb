"""Build the book into _build/html: warnings are errors, a cell that fails stops it, nothing is fetched.

python scripts/build_book.py                    only what changed
python scripts/build_book.py --fresh            everything, every cell run anew
python scripts/build_book.py --course FOLDER    the book of a course's folder, into FOLDER/_build/html
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = ["-n", "-W", "--keep-going"]
PACKED = ("python", "live")
"""What is packed beside the build, by scripts/pack_NAME.py into _build/NAME, and stands in _static/NAME of the book."""


def begin(source: Path, settings: list[str], environment: dict[str, str]) -> int:
    """Start Jupyter Book, and beside it what packs Python and models; give the status with which they ended."""
    # Packed meanwhile: most pages take longer to run.
    packers = [ROOT / "scripts" / f"pack_{name}.py" for name in PACKED]
    packing = [subprocess.Popen([sys.executable, str(packer)], env=environment) for packer in packers]
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "."]
    status = subprocess.run([*command, *settings, *OPTIONS], cwd=source, env=environment).returncode
    return max(abs(process.wait()) for process in packing) or status


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the book into _build/html.")
    parser.add_argument("--fresh", action="store_true", help="forget earlier pages and outputs, run every cell anew")
    parser.add_argument("--course", type=Path, metavar="FOLDER", help="build the book of this course's folder")
    arguments = parser.parse_args(argv)
    source, settings = ROOT, []
    if arguments.course:
        from softlookup_course.part import prepare
        from softlookup_grader.data.errors import CourseError

        try:
            settings = ["--config", str(prepare(ROOT, arguments.course))]
        except CourseError as error:
            print(error, file=sys.stderr)
            return 2
        source = arguments.course.resolve()
    html = source / "_build" / "html"
    if not (ROOT / "book" / "_vendor" / "node_modules" / ".installed").exists():
        done = subprocess.run([sys.executable, str(ROOT / "scripts" / "vendor.py")])
        if done.returncode:
            return done.returncode
    if arguments.fresh:
        for folder in (html, source / "_build" / ".doctrees", source / "_build" / ".jupyter_cache"):
            shutil.rmtree(folder, ignore_errors=True)
    # Cells run with the same Python as this script, whatever kernels and settings the reader's account has.
    environment = os.environ | {
        "PYTHONHASHSEED": "0",
        "MPLBACKEND": "agg",
        "SOFTLOOKUP_HTML_ONLY": "1",
        "MPLCONFIGDIR": str(ROOT / "_build" / "matplotlib"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "OMP_WAIT_POLICY": "PASSIVE",  # pages run side by side, and threads that spin would take each other's time
    }
    # The list of fonts is made before any page needs it: a page that waits for it says so, which is a warning.
    subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], env=environment, stderr=subprocess.DEVNULL)
    began = time.perf_counter()
    status = begin(source, settings, environment)
    for name in PACKED if not status else ():
        packed, place = ROOT / "_build" / name, html / "_static" / name
        shutil.copytree(packed, place, ignore=shutil.ignore_patterns("*.key"), dirs_exist_ok=True)
    if arguments.course and not status:
        from softlookup_course.part import keep_to_notebook

        keep_to_notebook(source, html / "_static" / "python" / "facts.js")
    seconds = time.perf_counter() - began
    if not status:
        (html / ".nojekyll").touch()  # else GitHub Pages leaves out all folders that begin with an underscore
    if status:
        print(f"\nThe book did not build ({seconds:.0f} s): see the warnings above.", file=sys.stderr)
        return status
    first = arguments.course / "_build" / "html" if arguments.course else html.relative_to(ROOT)
    print(f"\nBuilt in {seconds:.0f} s. Open {first / 'index.html'} in a browser.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
