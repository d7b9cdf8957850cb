"""The ledger: what has been graded, line by line, so that a grader killed at any moment goes on where it was.

JSON lines, only appended: the run with its seed, each graded submission, and that it stands in the gradebook. A torn
end is cut off.
"""

import contextlib
import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from softlookup_grader.data.disk import disk_trouble
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.locks import lock
from softlookup_grader.data.work import Graded, digest_of

FILE = "ledger.jsonl"
SEED_BITS = 128  # bits of a seed that is drawn: more than anybody can try who has seen some of its questions


@dataclass(frozen=True)
class Run:
    """What all submissions of one run share."""

    seed: int  # draws the inputs of all questions
    release: str  # SHA-256 of the notebook that students got
    sandbox: str = "bubblewrap"  # "bubblewrap" or "none"
    again: bool = False  # whether it was asked to grade everybody anew
    begun: str = ""  # when it began, in UTC

    @classmethod
    def new(cls, seed: int | None, release: str, sandbox: str, again: bool) -> "Run":
        """Begin a run now; without a seed one is drawn that nobody can find by trying, as a small one is."""
        run_seed = secrets.randbits(SEED_BITS) if seed is None else seed
        return cls(run_seed, release, sandbox, again, datetime.now(UTC).isoformat(timespec="seconds"))


@dataclass
class Entry:
    """What the ledger knows of one student; the rest is read from the file when it is asked for."""

    digest: str  # the submission that was graded last
    offset: int  # where its line begins in the file
    entered: bool = False  # whether it stands in the gradebook
    page: str = ""  # what the feedback page was made from; empty if there is none


@dataclass
class _Content:
    """What a ledger's file holds."""

    run: Run | None = None
    finished: bool = False
    entries: dict[str, Entry] = field(default_factory=dict)
    end: int = 0


class Ledger:
    """The ledger of one assignment, open for the one grader that works on it."""

    def __init__(
        self, folder: Path, release: str, seed: int | None = None, sandbox: str = "bubblewrap", again: bool = False
    ) -> None:
        """Open the ledger in a folder; go on with its run, or begin a new one and keep the old file beside it."""
        self.path = folder / FILE
        self.set_aside: Path | None = None
        self._fd = -1
        with disk_trouble(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder / "lock")
        try:
            with disk_trouble(self.path):
                content = _read(self.path)
                old, digest = content.run, digest_of(release.encode("utf-8", "replace"))
                goes_on = (
                    old is not None
                    and (old.release, old.sandbox) == (digest, sandbox)
                    and seed in (None, old.seed)
                    and (not again or (old.again and not content.finished))
                )
                if not goes_on:
                    self._put_aside()
                    # The seed of an earlier run stays that of the assignment, unless the release is another one.
                    run_seed = old.seed if seed is None and old is not None and old.release == digest else seed
                    content = _Content(Run.new(run_seed, digest, sandbox, again))
                assert content.run is not None
                self.run, self._end, self._entries = content.run, content.end, content.entries
                self.finished = content.finished
                self._fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                os.ftruncate(self._fd, self._end)
            if not goes_on:
                self._append({"run": asdict(self.run)})
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let the next grader have it."""
        for fd in (self._fd, self._lock):
            if fd >= 0:
                os.close(fd)
        self._fd = self._lock = -1

    def of(self, student: str) -> Entry | None:
        """What is known of a student; None if nothing was graded in this run."""
        return self._entries.get(student)

    def students(self) -> list[str]:
        """Everybody who has a line in this run."""
        return list(self._entries)

    def graded(self, student: str) -> Graded:
        """Read what grading a student came to, without the notebook."""
        line = b""
        offset = self._entries[student].offset
        while not line.endswith(b"\n"):
            part = os.pread(self._fd, 65536, offset + len(line))
            if not part:
                raise CourseError(f"the ledger {self.path} was cut short while it was in use")
            line += part.split(b"\n", 1)[0] + (b"\n" if b"\n" in part else b"")
        return Graded.from_json(json.loads(line))

    def add(self, graded: Graded) -> None:
        """Write down what grading came to; it is on the disk when this returns."""
        offset = self._append(graded.as_json())
        self._entries[graded.student] = Entry(graded.digest, offset)
        self.finished = False

    def mark_entered(self, student: str) -> None:
        """Write down that a student's last line stands in the gradebook."""
        entry = self._entries[student]
        # Not synced: if this line is lost, the submission is entered once more, which changes nothing.
        self._append({"entered": student, "digest": entry.digest}, sync=False)
        entry.entered = True

    def mark_page(self, student: str, made_from: str) -> None:
        """Write down that a student's feedback page was made, and from what."""
        self._append({"page": student, "from": made_from}, sync=False)
        self._entries[student].page = made_from

    def mark_finished(self) -> None:
        """Write down that the run came to its end."""
        if not self.finished:
            self._append({"finished": datetime.now(UTC).isoformat(timespec="seconds")})
            self.finished = True

    def _append(self, content: dict[str, Any], sync: bool = True) -> int:
        """Write one line. Returns where it begins; on failure nothing of it stays in the file."""
        line = json.dumps(content, separators=(",", ":")).encode() + b"\n"
        begins = self._end
        with disk_trouble(self.path):
            try:
                remaining = memoryview(line)
                while remaining:
                    remaining = remaining[os.write(self._fd, remaining) :]
                if sync:
                    os.fsync(self._fd)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, begins)
                raise
        self._end = begins + len(line)
        return begins

    def _put_aside(self) -> None:
        """Keep the file that is there beside the new one, under the next free number."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return
        index = 1
        while (aside := self.path.with_name(f"ledger-{index}.jsonl")).exists():
            index += 1
        os.rename(self.path, aside)
        self.set_aside = aside


def _read(path: Path) -> _Content:
    """Read a ledger's file up to its last whole line; without a run in its first line it counts as none."""
    content = _Content()
    if not path.is_file():
        return content
    with open(path, "rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            begins, content.end = content.end, content.end + len(line)
            # A line that is no JSON (a power cut can leave zeros) says nothing: what it stood for is done again.
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
                _take(content, json.loads(line), begins)
            if content.run is None:
                return _Content()
    return content


def last_line(folder: Path, student: str) -> tuple[Graded, Run] | None:
    """A student's last line in the ledgers of an assignment, the youngest ledger first, and its run."""
    older = sorted(folder.glob("ledger-*.jsonl"), key=_number, reverse=True)
    for path in (folder / FILE, *older):
        content = _read(path)
        if content.run is not None and (entry := content.entries.get(student)):
            with open(path, "rb") as file:
                file.seek(entry.offset)
                return Graded.from_json(json.loads(file.readline())), content.run
    return None


def _number(path: Path) -> int:
    digits = path.stem.removeprefix("ledger-")
    return int(digits) if digits.isdigit() else -1


def _take(content: _Content, line: dict[str, Any], begins: int) -> None:
    if "run" in line:
        content.run = Run(**line["run"])
    elif "status" in line:
        graded = Graded.from_json(line)
        content.entries[graded.student] = Entry(graded.digest, begins)
        content.finished = False
    elif "entered" in line:
        entry = content.entries[line["entered"]]
        entry.entered = entry.entered or entry.digest == line["digest"]
    elif "page" in line:
        content.entries[line["page"]].page = line["from"]
    elif "finished" in line:
        content.finished = True


def _locked(path: Path) -> int:
    """Hold the right to grade; the system takes it back when this process ends, however it ends."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        lock(fd, wait=False)
    except BlockingIOError:
        who = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
        os.close(fd)
        raise CourseError(
            f"another 'softlookup grade' (process {who or 'unknown'}) is working on this assignment: wait until it ends"
        ) from None
    os.ftruncate(fd, 0)
    os.pwrite(fd, str(os.getpid()).encode(), 0)
    return fd
