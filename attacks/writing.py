"""Writing hostile hand-ins into a folder: files, links and pipes, none of them opened or followed."""

import os
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from attacks import hostile_ones
from attacks.handin import HostileHandIn
from softlookup_grader.course.folder import Course
from softlookup_judge.checking.catalogue import Catalogue


def hand_in_all(
    source: NotebookNode, release: NotebookNode, name: str, course: Course, catalogue: Catalogue
) -> Iterator[tuple[str, str]]:
    """Hand in all attacks that come as files, for one assignment of a course: each student and what that one does."""
    for hand_in in hostile_ones(source, release, name, catalogue):
        if not hand_in.archive:
            write_hand_in(hand_in, course.folder("submitted", hand_in.student, name))
            yield hand_in.student, hand_in.does


def write_hand_in(hand_in: HostileHandIn, folder: Path, pipes: bool = True) -> None:
    """Write what a student hands in into a folder, made if it is not there, and if ``pipes`` its named pipes, too.

    ValueError if a file would lie outside the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in hand_in.files.items():
        path = folder / name
        if ".." in path.parts or Path(name).is_absolute():
            raise ValueError(f"{hand_in.student} hands in {name!r}, which is outside its folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name, target in hand_in.links.items():
        os.symlink(target, folder / name)
    for name in hand_in.pipes if pipes else ():
        os.mkfifo(folder / name)
