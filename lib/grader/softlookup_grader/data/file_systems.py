"""Which file system a path lies on, and whether SQLite's locks hold there."""

import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
_FAR = frozenset(
    "nfs nfs4 cifs smb3 smbfs sshfs lustre gpfs beegfs 9p virtiofs ceph cephfs glusterfs afs orangefs pvfs2 panfs "
    "wekafs juicefs s3fs rclone davfs".split()
)
"""File systems whose disk is another machine's, whatever shows them here.

SQLite's makers advise against such: https://www.sqlite.org/faq.html#q5, https://www.sqlite.org/howtocorrupt.html#_filesystems_with_broken_or_missing_lock_implementations.
"""


def file_system_of(path: Path, mounts: Path = MOUNTS) -> str:
    """Look up the kind of file system that a path lies on, as the kernel names it: "ext4" or "nfs4"."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    location, longest, file_system = path.resolve(), -1, ""
    for line in lines:
        before, _, after = line.partition(" - ")
        if len(before.split(" ")) < 5 or not after:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), before.split(" ")[4]))
        # Of two mounts on one place the later one is seen.
        if location.is_relative_to(point) and len(point.parts) >= longest:
            longest, file_system = len(point.parts), after.split(" ")[0]
    return file_system


def is_far(file_system: str) -> bool:
    """Whether a kind of file system is a network's, where SQLite's locks are not to be trusted."""
    return file_system.removeprefix("fuse.") in _FAR
