"""Files and folders that take the place of others together: all of them, or none.

What is new is put together in a hidden folder beside them. One rename of that folder decides that it counts. Whoever
dies before it has changed nothing; what was decided is finished by the next who opens the course.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from softlookup_grader.data.disk import disk_trouble
from softlookup_grader.data.locks import lock

BEGUN, DECIDED, LOCK = ".releasing", ".released", ".releasing.lock"
_PLAN = "plan.json"


@dataclass
class Stage:
    """What is being put together in a course's folder.

    Attributes:
        root: The course's folder.
        swaps: Pairs: where it lies now, below the stage, and where it belongs; None for what is to be removed.
    """

    root: Path
    swaps: list[tuple[str | None, Path]] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Where everything is put together."""
        return self.root / BEGUN

    def add(self, content: bytes, target: Path) -> None:
        """Stage a file that only its owner can read; ``target`` is where it belongs."""
        place = self.folder / "files" / str(len(self.swaps))
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o600)
        self.take(place, target)

    def take(self, place: Path, target: Path) -> None:
        """Stage what lies below the stage already: a file, or a folder, which replaces all of the one that is there."""
        self.swaps.append((place.relative_to(self.folder).as_posix(), target))

    def remove(self, target: Path) -> None:
        """Stage that a file is to go."""
        self.swaps.append((None, target))

    def decide(self) -> None:
        """Let it count from now on."""
        plan = [[place, os.path.relpath(target, self.root)] for place, target in self.swaps]
        (self.folder / _PLAN).write_text(json.dumps(plan), encoding="utf-8")
        self.folder.rename(self.root / DECIDED)

    def undo(self) -> None:
        """Let nothing of it count: all is as it was."""
        # What cannot be removed now is removed by the next stage.
        with contextlib.suppress(OSError):
            (self.root / DECIDED).rename(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def staged(root: Path) -> Iterator[Stage]:
    """Begin a stage, alone in this course; what a killed one left undecided is gone."""
    with only_one(root):
        stage = Stage(root)
        with disk_trouble(stage.folder):
            if stage.folder.exists():
                shutil.rmtree(stage.folder)
            stage.folder.mkdir(mode=0o700)
        try:
            yield stage
        finally:
            if not is_decided(root):
                stage.undo()


def is_decided(root: Path) -> bool:
    """Whether a stage was decided and is not finished."""
    return (root / DECIDED).is_dir()


@contextlib.contextmanager
def only_one(root: Path) -> Iterator[None]:
    """Wait until nobody else stages or finishes anything in this course, in this process or another."""
    with disk_trouble(root / LOCK):
        handle = open(root / LOCK, "w")  # what fails below is not this file's trouble
    with handle:
        lock(handle.fileno())
        yield


def finish(root: Path) -> None:
    """Put what was decided into its places. Done twice, or again after it was broken off, it comes to the same.

    If the disk refuses it, it is a CourseError; then nothing is lost, and the next call goes on.
    """
    folder = root / DECIDED
    for place, name in json.loads((folder / _PLAN).read_text(encoding="utf-8")):
        target = Path(os.path.normpath(root / name))
        with disk_trouble(target):
            _swap(None if place is None else folder / place, target)
    with disk_trouble(folder):
        _clear(root / BEGUN)
        folder.rename(root / BEGUN)  # whatever is killed from here on is done
    shutil.rmtree(root / BEGUN, ignore_errors=True)


def _swap(place: Path | None, target: Path) -> None:
    if place is None:
        target.unlink(missing_ok=True)
        return
    old = target.with_name(f".{target.name}.old")
    if place.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        place = _near(place, target)
        if place.is_dir() and os.path.lexists(target):
            _clear(old)
            target.rename(old)
        place.replace(target)
    _clear(old)


def _near(place: Path, target: Path) -> Path:
    """The same on the target's disk, where a rename reaches it."""
    if place.stat().st_dev == target.parent.stat().st_dev:
        return place
    near = target.with_name(f".{target.name}.new")
    _clear(near)
    return Path(shutil.copytree(place, near) if place.is_dir() else shutil.copy2(place, near))


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
