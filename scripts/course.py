"""Makes the whole course with one command: set up, exercises, book, and a graded sample class.

Runs on the system's Python with nothing installed. What the steps print goes to _build/logs; the terminal
shows one line that says how far the work is (or, where there is no terminal, a line for each step).
"""

import contextlib
import functools
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "_build" / "logs"
COURSE = Path("course")
MISTAKEN = 4
"""Students of the sample class who hand in known mistakes; `softlookup sample` alone has one for each."""
EARLY = 4
"""How many assignments are graded beside the book; in the first of them a submission runs until it is stopped."""
BIN = ROOT / ".venv" / "bin"
BOOK = "The book can be opened: _build/html/index.html. A sample class is graded meanwhile."
STAMP = ROOT / COURSE / "logs" / "made-from"


@dataclass(frozen=True)
class Step:
    """One step of the work.

    Attributes:
        name: A word or two; its log has that name.
        command: What to run, in the root of the course.
        current: Whether there is nothing to do.
        then: What can be looked at once it is done; a sentence.
        beside: The name of a step beside which this one runs, once its log holds a text; and that text.
    """

    name: str
    command: list[str]
    current: Callable[[], bool] = lambda: False
    then: str = ""
    beside: tuple[str, str] = ("", "")


class Line:
    """Shows how far the work is: one line that is written over on a terminal, plain lines elsewhere."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.begun = time.monotonic()
        self.live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self.begun)
        return f"{seconds // 60}:{seconds % 60:02d}"

    def at(self, number: int, name: str, now: str) -> None:
        """Say what is being done; only a terminal is told."""
        if not self.live:
            return
        counted = re.search(r"(\d+) of (\d+)", now)  # some steps tell how far they are
        share = int(counted[1]) / max(int(counted[2]), 1) if counted else 0
        filled = int(20 * (number - 1 + min(share, 0.99)) / self.steps)
        bar = "#" * filled + ">" + "." * (19 - filled)
        text = f"{self._elapsed()} [{bar}] {number}/{self.steps} {name}: {now}"
        width = shutil.get_terminal_size().columns - 1
        self._over(text[:width])

    def begin(self, number: int, name: str) -> None:
        """Say that a step begins."""
        if not self.live:
            print(f"{number}/{self.steps} {name} ...", flush=True)

    def end(self, number: int, name: str, how: str) -> None:
        """Say that a step is over."""
        text = f"{self._elapsed()} {number}/{self.steps} {name}: {how}"
        if self.live:
            self._over(text)
            print(flush=True)
        else:
            print(text, flush=True)

    def _over(self, text: str) -> None:
        sys.stdout.write("\r\x1b[K" + text)
        sys.stdout.flush()


def last_words(log: Path, lines: int = 1) -> str:
    """The last lines of a log, without what only a terminal understands."""
    with open(log, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 400 * lines))
        text = file.read().decode("utf-8", "replace").replace("\r", "\n")
    nonblank = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join("".join(c for c in line if c.isprintable()) for line in nonblank[-lines:])


class Running:
    """A step that runs, in a group of its own, so that Ctrl-C can end it with everything that it started."""

    def __init__(self, step: Step, number: int) -> None:
        self.step, self.number, self.began = step, number, time.monotonic()
        self.log = LOGS / f"{number}-{step.name.replace(' ', '-')}.log"
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if step.command[0] != "sh":
            env["PATH"] = os.pathsep.join([str(BIN), env.get("PATH", "")])
        elif "PYTHON" not in env and sys.prefix == sys.base_prefix:
            env["PYTHON"] = sys.executable
        with open(self.log, "wb") as file:
            self.process = subprocess.Popen(
                step.command,
                cwd=ROOT,
                env=env,
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def says(self, text: str) -> bool:
        """Whether a text stands in the log."""
        return text in self.log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """End it: first as Ctrl-C does."""
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            os.killpg(self.process.pid, signal.SIGINT)
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)


def run(todo: list[Step], line: Line) -> list[Running]:
    """Run steps in their order, some beside others, and show how it goes.

    It gives those that failed. After the first of them no other begins; what runs beside it is brought to its end.
    """
    waiting = [(number, step) for number, step in enumerate(todo, 1)]
    running: list[Running] = []
    failed: list[Running] = []
    try:
        while waiting or running:
            if waiting and not failed and may_begin(waiting[0][1], running):
                number, step = waiting.pop(0)
                line.begin(number, step.name)
                if step.current():
                    line.end(number, step.name, "nothing changed since it was made")
                    continue
                if step.name.startswith("grade"):
                    step = replace(step, command=[*step.command, *sandbox()])
                running.append(Running(step, number))
            for step_run in [step_run for step_run in running if step_run.process.poll() is not None]:
                running.remove(step_run)
                status = step_run.process.returncode
                took = f"done in {time.monotonic() - step_run.began:.0f} s"
                line.end(step_run.number, step_run.step.name, f"failed with exit status {status}" if status else took)
                if status:
                    failed.append(step_run)
                    waiting.clear()
                elif step_run.step.then and not graded():
                    print(f"  {step_run.step.then}", flush=True)
            if running:
                line.at(running[0].number, running[0].step.name, last_words(running[0].log))
                time.sleep(0.2)
    except BaseException:
        for step_run in running:
            step_run.stop()
        raise
    return failed


def may_begin(step: Step, running: list[Running]) -> bool:
    """Whether a step can begin: nothing else runs, or nothing but what it runs beside, which is far enough."""
    beside, text = step.beside
    return not running or (len(running) == 1 and running[0].step.name == beside and running[0].says(text))


def made_from() -> str:
    """A key of everything that the sample class and its grades depend on."""
    key = hashlib.sha256()
    files = [ROOT / "constraints.txt", ROOT / "nbgrader_config.py", Path(__file__).resolve()]
    for folder in ("solutions", "lib"):
        files += sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".toml"))
    for path in files:
        key.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return key.hexdigest()


def graded() -> bool:
    """Whether the sample class is there, graded, from what stands in this checkout now."""
    reports = [(ROOT / COURSE / "reports" / f"{name}.txt").is_file() for name in assignments()]
    return STAMP.is_file() and STAMP.read_text() == made_from() and all(reports)


def assignments() -> list[str]:
    """Names of the assignments: one for each notebook in solutions/."""
    return [path.stem for path in sorted((ROOT / "solutions").glob("*.py"))]


def steps() -> list[Step]:
    """What `make course` does, in order."""
    cli, names = str(BIN / "softlookup"), assignments()
    grade, course = [cli, "grade"], ["--course", str(COURSE)]
    # Once all cells have run, the book keeps one processor busy and the other seldom: some of the class comes there.
    beside = ("book", "reading sources") if (os.cpu_count() or 1) > 1 else ("", "")
    return [
        Step("set up", ["sh", "scripts/setup.sh", "look"]),
        Step("exercises", [cli, "exercises"]),
        Step("book", [str(BIN / "python"), "scripts/build_book.py"], then=BOOK),
        Step("sample class", [cli, "sample", str(COURSE), "--mistakes", str(MISTAKEN)], graded, beside=beside),
        Step(
            "grade first chapters",
            [*grade, *names[:EARLY], *course, "--no-feedback", "--workers", "1"],
            graded,
            beside=beside,
        ),
        Step("grade", [*grade, *names[EARLY:-1], *course, "--no-feedback"], graded),
        # Pages of feedback take longer than grading; those of one assignment show what they are like.
        Step(f"grade {names[-1]}", [*grade, names[-1], *course], graded),
    ]


@functools.cache
def sandbox() -> list[str]:
    """What to tell the grader about the sandbox: without one, this harmless class is graded all the same."""
    code = "from softlookup_grader.sandbox.bubble import trouble; print(trouble())"
    trouble = subprocess.run(
        [str(BIN / "python"), "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not trouble:
        return []
    print(f"  Note: {trouble}.\n  The sample class is harmless and is graded without a sandbox; a real class is not.")
    return ["--sandbox", "none"]


def main() -> int:
    """Run the steps, print the graded class and where to look."""
    LOGS.mkdir(parents=True, exist_ok=True)
    todo = steps()
    line = Line(len(todo))
    try:
        failed = run(todo, line)
    except KeyboardInterrupt:
        print("\nStopped. Say 'make course' again to go on.")
        return 130
    for step_run in failed:
        print(f"\nThe end of the log of {step_run.step.name!r}:\n\n{last_words(step_run.log, 30)}")
        print(f"\nThe whole log: {step_run.log.relative_to(ROOT)}", flush=True)
    if failed:
        return 1
    STAMP.write_text(made_from())
    for name in assignments():
        print("\n" + (ROOT / COURSE / "reports" / f"{name}.txt").read_text(encoding="utf-8").rstrip())
    print("\nOpen next:")
    print("  the book               _build/html/index.html")
    last = assignments()[-1]
    print("  the exercises          make lab   (your own copies, in my_work/)")
    print(f"  feedback to a student  {COURSE}/feedback/mistake-1/{last}/{last}.html")
    print(f"  the gradebook          {COURSE}/gradebook.db   (in {COURSE}/: ../.venv/bin/nbgrader export)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
