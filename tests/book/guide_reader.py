"""Reads a page of the instructor's guide as a reader does: writes files, types commands, compares what is shown.

A fenced block of ``console`` holds commands behind ``$`` and what they print; a block with a caption is a file. A block
of the class ``elsewhere`` needs what is not here and is left out, its first line says what; a command in a block of the
class ``stays`` goes on until it is interrupted.
"""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = re.compile(r"^```(?:\{code-block\} )?(\w+)\n((?::\w+:[^\n]*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL)
_AT_END = ", at the end"


@dataclass(frozen=True)
class Step:
    """One thing that a page tells its reader to do."""

    place: str
    command: str = ""
    shown: str = ""
    stays: bool = False
    file: str = ""
    text: str = ""
    append: bool = False
    elsewhere: bool = False


def steps(name: str, page: str) -> Iterator[Step]:
    """Take a page apart."""
    for block in _BLOCK.finditer(page):
        language, about, body = block.groups()
        options = dict(re.findall(r"^:(\w+): *(.*)$", about, re.MULTILINE))
        place = f"{name}, line {page.count(chr(10), 0, block.start()) + 1}"
        classes = options.get("class", "").split()
        elsewhere = "elsewhere" in classes
        if language == "console":
            for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE):
                command, _, shown = part.partition("\n")
                if command.startswith("$ "):
                    yield Step(place, command[2:], shown, "stays" in classes, elsewhere=elsewhere)
        elif "caption" in options:
            file = options["caption"]
            yield Step(
                place,
                file=file.removesuffix(_AT_END),
                text=body,
                append=file.endswith(_AT_END),
                elsewhere=elsewhere,
            )


def missing(shown: str, printed: str) -> str:
    """The first piece of what is shown that was not printed in its order; empty if all was. "…" is anything."""
    rest = " ".join(printed.split())
    for piece in filter(None, (part.strip() for part in " ".join(shown.split()).split("…"))):
        _, separator, rest = rest.partition(piece)
        if not separator:
            return piece
    return ""


@dataclass
class Reader:
    """Somebody who does what pages say, in a world where something happens before or after commands that begin so."""

    root: Path
    environment: dict[str, str]
    before: dict[str, Callable[[], None]] = field(default_factory=dict)
    after: dict[str, Callable[[], None]] = field(default_factory=dict)
    here: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder = self.root

    def follow(self, name: str, page: str) -> None:
        """Do everything that a page says."""
        for named, place in self.here.items():
            page = page.replace(named, place)
        for step in steps(name, page):
            if step.file and not step.elsewhere:
                self._write(step)
            elif step.command and not step.elsewhere:
                self._happens(self.before, step)
                self._type(step)
                self._happens(self.after, step)

    def _happens(self, world: dict[str, Callable[[], None]], step: Step) -> None:
        for begins, what in world.items():
            if step.command.startswith(begins):
                what()

    def _write(self, step: Step) -> None:
        path = self.root / step.file
        path.parent.mkdir(parents=True, exist_ok=True)
        old = path.read_text(encoding="utf-8").rstrip("\n") + "\n\n" if step.append else ""
        path.write_text(old + step.text, encoding="utf-8")

    def _type(self, step: Step) -> None:
        self.done.append(step.command)
        if step.command.startswith("cd "):
            self.folder = (self.folder / step.command[3:]).resolve(strict=True)
            return
        status, printed = (self._start if step.stays else self._run)(step)
        transcript = f"{step.place}: $ {step.command}\n{printed[-3000:]}"
        assert status == 0, f"exit status {status}: {transcript}"
        lacking = missing(step.shown, printed)
        assert not lacking, f"{lacking!r} was not printed: {transcript}"

    def _run(self, step: Step) -> tuple[int, str]:
        command = ["bash", "-euo", "pipefail", "-c", step.command]
        how = {"cwd": self.folder, "env": self.environment, "stdin": subprocess.DEVNULL}
        out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **how)
        return out.returncode, out.stdout.decode("utf-8", "replace")

    def _start(self, step: Step) -> tuple[int, str]:
        """Wait until everything is printed that is shown, then interrupt it."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {step.command}"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        late = threading.Timer(120, process.kill)
        late.start()
        printed = ""
        assert process.stdout is not None
        for line in process.stdout:
            printed += line.decode("utf-8", "replace")
            if not missing(step.shown, printed):
                break
        late.cancel()
        running = process.poll() is None
        if running:
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
        return (0 if running else 1), printed


def own_environment(root: Path, home: Path) -> dict[str, str]:
    """The environment of somebody who works in that checkout, with nothing of this account's."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".jupyter").mkdir(exist_ok=True)
    # A server that is started by a test opens no browser, takes any free port, and may be root's.
    (home / ".jupyter" / "jupyter_server_config.py").write_text(
        "c.ServerApp.open_browser = False\nc.ServerApp.allow_root = True\nc.ServerApp.port = 0\n"
    )
    inherited = {name: os.environ[name] for name in ("LANG", "TMPDIR", "OMP_NUM_THREADS") if name in os.environ}
    return {
        **inherited,
        "HOME": str(home),
        "LOGNAME": "instructor",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin", "/usr/sbin", "/sbin"]),
        "PYTHONPATH": os.pathsep.join(map(str, sorted(root.glob("lib/*")))),
    }
