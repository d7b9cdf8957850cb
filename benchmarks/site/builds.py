"""How long a build of the book takes, and where the time goes, in a copy of the checkout."""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PAGE = "book/04_one_head.md"
"""The page whose cell is changed."""

LIBRARY = "lib/course/softlookup_course/widgets/lookup_plane.js"
"""The file of the library that is changed: one page shows it."""

RAN = re.compile(r"^(book/\S+): ([\d.]+) s \((.+)\)$")
PHASES = (
    ("cells", "running the cells"),
    ("reading", "reading sources"),
    ("between", "looking for now-outdated files"),
    ("writing", "writing output"),
    ("after", "generating indices"),
)
"""What Sphinx says when a phase begins; ``start`` is what comes before the first."""

COLOUR = re.compile(r"\x1b\[[\d;]*m")


class BuildFailed(RuntimeError):
    """A build of the copy failed; the message has the end of what it said."""


@dataclass(frozen=True)
class BuildTimes:
    """Seconds of a build, of its phases, and of each page whose cells ran."""

    seconds: float
    phases: dict[str, float]
    pages: dict[str, float]


@dataclass(frozen=True)
class RebuildTimes:
    """The same after a change, with the file that was changed."""

    changed: str
    seconds: float
    phases: dict[str, float]
    pages: dict[str, float]


@dataclass(frozen=True)
class BookBuilds:
    """Four builds of a copy, one after another."""

    fresh: BuildTimes
    unchanged: BuildTimes
    one_page: RebuildTimes
    one_library_file: RebuildTimes


def copy_checkout(root: Path, target: Path) -> None:
    """Copy what git keeps or would keep; what set-up has installed is linked to."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, target / name)
    modules = target / "book" / "_vendor" / "node_modules"
    modules.symlink_to((root / modules.relative_to(target)).resolve())


def build(root: Path) -> BuildTimes:
    """Build the book of a checkout as ``make book`` does, and time it; BuildFailed if it does not build."""
    path = os.pathsep.join(map(str, sorted(root.glob("lib/*"))))
    described = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(root / "scripts" / "build_book.py")]
    began = time.perf_counter()
    marks = [("start", began)]
    pages: dict[str, float] = {}
    output: list[str] = []
    with subprocess.Popen(
        command, cwd=root, env=described, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            line = COLOUR.sub("", line).strip()
            output.append(line)
            for name, words in PHASES:
                if line.startswith(words) and marks[-1][0] != name:
                    marks.append((name, time.perf_counter()))
            if ran := RAN.match(line):
                pages[ran[1]] = float(ran[2])
    if process.returncode:
        raise BuildFailed("the copy of the book does not build: " + " / ".join(output[-12:]))
    ended = time.perf_counter()
    times = [at for _, at in marks[1:]] + [ended]
    phases: dict[str, float] = {}
    for (name, at), until in zip(marks, times, strict=True):
        phases[name] = round(phases.get(name, 0.0) + until - at, 1)
    return BuildTimes(round(ended - began, 1), phases, pages)


def change_cell(page: Path) -> None:
    """Put a comment into the first cell of a page: its numbers stay, but it has to run."""
    text = page.read_text(encoding="utf-8")
    changed, count = re.subn(
        r"(```\{code-cell\}[^\n]*\n(?::[^\n]*\n)*)", r"\1# changed to see what runs\n", text, count=1
    )
    if not count:
        raise BuildFailed(f"{page.name} has no cell to change")
    page.write_text(changed, encoding="utf-8")


def time_builds(root: Path, folder: Path) -> BookBuilds:
    """Build a copy of the book four times: fresh, unchanged, after a changed page, after a changed file of the library.

    Nothing in the checkout is changed; the folder for the copy is empty.
    """
    copy_checkout(root, folder)
    fresh, unchanged = build(folder), build(folder)
    change_cell(folder / PAGE)
    one_page = RebuildTimes(PAGE, **vars(build(folder)))
    with open(folder / LIBRARY, "a", encoding="utf-8") as file:
        file.write("\n// changed to see what runs\n")
    return BookBuilds(fresh, unchanged, one_page, RebuildTimes(LIBRARY, **vars(build(folder))))
