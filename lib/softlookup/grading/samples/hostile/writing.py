"""Writing hostile hand-ins into a folder: files, links and pipes, none of them opened or followed."""

import os
from pathlib import Path

from softlookup.grading.samples.hostile.handin import HostileHandIn


def write_hand_in(one: HostileHandIn, folder: Path, pipes: bool = True) -> None:
    """Write what a student hands in.

    Args:
        one: The hand-in.
        folder: The student's folder of this assignment; made if it is not there.
        pipes: Whether to make its named pipes, too.

    Raises:
        ValueError: If a file would lie outside the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in one.files.items():
        path = folder / name
        if ".." in path.parts or Path(name).is_absolute():
            raise ValueError(f"{one.student} hands in {name!r}, which is outside its folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name, target in one.links.items():
        os.symlink(target, folder / name)
    for name in one.pipes if pipes else ():
        os.mkfifo(folder / name)
