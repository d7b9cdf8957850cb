"""Commands that fail at a step of one's choice, on a full disk or killed; and what a course holds, compared."""

import errno
import hashlib
import json
import os
import re
import shutil
import sqlite3
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FULL, KILLED = "full disk", "killed"
DONE, REFUSED, TRACEBACK, DEAD = 0, 2, 70, 9
"""How the process of a command ended."""

_TAKES_ROOM = ("open", "os.mkdir", "os.link", "os.symlink", "commit")
_CHANGES = (*_TAKES_ROOM, "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.chmod")
_HEX = re.compile(r"[0-9a-f]{32}")
_LEFT_OUT = re.compile(r"logs|\.releasing|\.grading|.*\.lock|.*-journal|\..*\.\d+")
"""What may differ: logs, locks, what was begun and does not count, and the grader's ledger with its times."""


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    status: int  # One of DONE, REFUSED, TRACEBACK and DEAD
    steps: int  # how many steps changed something on the disk, or would have
    output: str  # what it printed


def run_failing(course: Path, command: Callable[[], Any], step: int = 0, how: str = "") -> Ending:
    """Run a command in a process of its own, which fails at a step."""
    report = course.with_name("report.json")
    report.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        # Nothing of the parent's may run here, no matter what happens.
        status = TRACEBACK
        try:
            count = _fail_at(course, step, how)
            result = command()
            count["off"] = True
            status = DONE if result.exit_code == 0 else REFUSED
            text = result.output
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                import traceback

                status = TRACEBACK
                text += "".join(traceback.format_exception(result.exception))
            report.write_text(json.dumps([count["steps"], text]))
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    steps, output = json.loads(report.read_text()) if report.is_file() else (0, "")
    return Ending(status, steps, output)


def _fail_at(course: Path, step: int, how: str) -> dict[str, Any]:
    """Count steps below a folder from now on, and fail at one; this holds until the process ends."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine
    from sqlalchemy.exc import OperationalError

    count: dict[str, Any] = {"steps": 0, "off": False}
    inside = os.path.realpath(course)

    def touches(path: Any) -> bool:
        try:
            return os.path.realpath(os.fsdecode(path)).startswith(inside)
        except TypeError:  # a descriptor
            return False

    def note(name: str, full: Callable[[], BaseException]) -> None:
        count["steps"] += 1
        if step and how == KILLED and count["steps"] == step:
            os._exit(DEAD)
        if step and how == FULL and count["steps"] >= step and name in _TAKES_ROOM:
            raise full()

    def audit(name: str, args: tuple[Any, ...]) -> None:
        if count["off"] or name not in _CHANGES:
            return
        if name == "open":
            path, mode, flags = args
            if not (flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or set(str(mode or "")) & set("wax+")):
                return
        # What is removed by its folder's descriptor is named without it.
        by_descriptor = name in ("os.remove", "os.rmdir") and args[-1] != -1
        if by_descriptor or any(touches(arg) for arg in args[:2]):
            note(name, lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(args[0])))

    sys.addaudithook(audit)

    def commits(_: Any) -> None:
        note("commit", lambda: OperationalError("COMMIT", {}, sqlite3.OperationalError("database or disk is full")))

    event.listen(Engine, "commit", commits)
    return count


def restore(copy: Path, course: Path) -> None:
    """Make a course what it was."""
    shutil.rmtree(course, ignore_errors=True)
    if copy.is_dir():
        shutil.copytree(copy, course, symlinks=True)


def snapshot_of(course: Path) -> dict[str, str]:
    """What a course holds, by path: contents and permissions, and of the gradebook its rows."""
    content = {}
    for path in sorted(course.rglob("*")):
        name = path.relative_to(course)
        if any(_LEFT_OUT.fullmatch(part) for part in name.parts):
            continue
        mode = oct(path.lstat().st_mode & 0o777)
        if path.name == "gradebook.db":
            content[str(name)] = "\n".join(_rows(path))
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed:
                content[str(name)] = f"{mode} { {inside: packed.read(inside) for inside in packed.namelist()} }"
        elif path.is_file():
            content[str(name)] = f"{mode} {_settled(path.read_bytes())}"
        elif any(path.iterdir()) or not name.parts[0].startswith("."):
            content[str(name)] = mode
    return content


def _settled(raw: bytes) -> str:
    """A file's content without what differs from run to run: how long something took, and when it was."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return hashlib.sha256(raw).hexdigest()
    text = re.sub(r'"(seconds|first)": [^,\n}]+', r'"\1": …', text)
    return re.sub(r"\b\d+(\.\d+)? s\b", "… s", text)


def _rows(path: Path) -> list[str]:
    """The gradebook's rows, in which a drawn id is what its row says."""
    with sqlite3.connect(path) as book:
        book.row_factory = sqlite3.Row
        tables = [name for (name,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [(table, dict(row)) for table in tables for row in book.execute(f'SELECT * FROM "{table}"')]
    book.close()
    labels: dict[str, str] = {}

    def named(value: Any) -> Any:
        return labels.get(value, "") if isinstance(value, str) and _HEX.fullmatch(value) else value

    def shown(table: str, row: dict[str, Any], with_id: bool) -> str:
        items = ((key, value) for key, value in sorted(row.items()) if with_id or key != "id")
        return f"{table} {[(key, named(value)) for key, value in items]}"

    for _ in range(6):
        # A row of a derived table has the id of its base row.
        about: dict[str, list[str]] = {}
        for table, row in rows:
            if _HEX.fullmatch(str(row.get("id"))):
                about.setdefault(row["id"], []).append(shown(table, row, with_id=False))
        labels = {key: hashlib.sha256("".join(sorted(says)).encode()).hexdigest()[:12] for key, says in about.items()}
    return sorted(shown(table, row, with_id=True) for table, row in rows)


def differences(first: dict[str, str], second: dict[str, str]) -> list[str]:
    """Where two courses differ, a line each."""
    lines = []
    for name in sorted(first.keys() | second.keys()):
        if first.get(name) == second.get(name):
            continue
        before, after = (str(each.get(name)).split("\n") for each in (first, second))
        missing, more = Counter(before) - Counter(after), Counter(after) - Counter(before)
        lines.append(f"{name}: {list(missing)[:3]} against {list(more)[:3]}"[:600])
    return lines


def chosen(steps: int, part: int, parts: int) -> Iterator[int]:
    """Every so many-th step, beginning with another one in each part."""
    yield from range(1 + part, steps + 1, parts)
