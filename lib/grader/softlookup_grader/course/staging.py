"""Files and folders that take the place of others together, all or none: one rename of their folder decides.

Whoever dies before it has changed nothing; what was decided is finished by the next who opens the course.
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
    """What is being put together in a course's folder."""

    root: Path  # the course's folder
    # pairs: where it lies now, below the stage, and where it belongs; None for what is to be removed
    swaps: list[tuple[str | None, Path]] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Where everything is put together."""
        return self.root / BEGUN

    def add(self, content: bytes, target: Path) -> None:
        """Stage a file that only its owner can read; ``target`` is where it belongs."""
        staged_path = self.folder / "files" / str(len(self.swaps))
        staged_path.parent.mkdir(exist_ok=True)
        staged_path.write_bytes(content)
        staged_path.chmod(0o600)
        self.take(staged_path, target)

    def take(self, staged_path: Path, target: Path) -> None:
        """Stage what lies below the stage already: a file, or a folder, which replaces all of the one that is there."""
        self.swaps.append((staged_path.relative_to(self.folder).as_posix(), target))

    def remove(self, target: Path) -> None:
        """Stage that a file is to go."""
        self.swaps.append((None, target))

    def decide(self) -> None:
        """Let it count from now on."""
        plan = [[staged_path, os.path.relpath(target, self.root)] for staged_path, target in self.swaps]
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
    """Put what was decided into its places. Done twice, or again after it was broken off, it comes to the same."""
    folder = root / DECIDED
    for staged_path, name in json.loads((folder / _PLAN).read_text(encoding="utf-8")):
        target = Path(os.path.normpath(root / name))
        with disk_trouble(target):
            _swap(None if staged_path is None else folder / staged_path, target)
    with disk_trouble(folder):
        _clear(root / BEGUN)
        folder.rename(root / BEGUN)  # whatever is killed from here on is done
    shutil.rmtree(root / BEGUN, ignore_errors=True)


def _swap(staged_path: Path | None, target: Path) -> None:
    if staged_path is None:
        target.unlink(missing_ok=True)
        return
    old = target.with_name(f".{target.name}.old")
    if staged_path.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        staged_path = _near(staged_path, target)
        if staged_path.is_dir() and os.path.lexists(target):
            _clear(old)
            target.rename(old)
        staged_path.replace(target)
    _clear(old)


def _near(staged_path: Path, target: Path) -> Path:
    """The same on the target's disk, where a rename reaches it."""
    if staged_path.stat().st_dev == target.parent.stat().st_dev:
        return staged_path
    near = target.with_name(f".{target.name}.new")
    _clear(near)
    return Path(shutil.copytree(staged_path, near) if staged_path.is_dir() else shutil.copy2(staged_path, near))


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
