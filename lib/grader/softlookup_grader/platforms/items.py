"""Files that came in, in a folder or in a zip: each can be read once, with care, and none is written anywhere.

A name is only ever compared with names, what is read has a limit, and one file that is broken or locked costs no other.
Programs that repack a zip forget the flag for UTF-8 (APPNOTE 4.4.4), so names that are valid UTF-8 are read as such.
"""

import io
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from softlookup_command.plain_text import one_line, plain
from softlookup_grader.course.notebooks import MAX_BYTES, BadNotebook
from softlookup_grader.data.errors import CourseError

MOST_FILES = 200_000  # files of one folder or zip that are looked at


@dataclass(frozen=True)
class ReadLimits:
    """How much is read of what comes in for one person."""

    files: int = 100  # how many files
    size: int = 300_000_000  # how many bytes of them together
    file_size: int = MAX_BYTES  # how many bytes one file may have
    inside: int = 20_000  # how many entries a zip of a student's may have


_DEEP = 12
_UTF8, _LOCKED = 0x800, 0x1
_ENTRY = b"PK\x01\x02"
_BROKEN = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error)


@dataclass(frozen=True)
class ArrivedFile:
    """A file that came in."""

    parts: tuple[str, ...]  # its path as it was named there, in composed letters
    size: int  # how many bytes it says that it has
    open: Callable[[int], bytes]  # gives at most that many bytes of it
    trouble: str = ""  # why it must not be read, a clause that follows its name; empty if it may be
    base: str = ""  # what stands in front of its path, such as the address of a repository
    is_outside: bool = False  # whether its path leads out of where it came in

    @property
    def name(self) -> str:
        """Its own name, on one line."""
        return one_line(self.parts[-1], 100)

    @property
    def path(self) -> str:
        """Where it came from."""
        return "/".join([*([self.base] if self.base else []), *self.parts])

    @property
    def hidden(self) -> bool:
        """Whether a program made it beside what a person did: backups of Jupyter, git's files, macOS's doubles."""
        return any(map(_aside, self.parts[:-1])) or self.parts[-1].startswith("._") or self.parts[-1] == ".DS_Store"

    def read(self, most: int = MAX_BYTES) -> bytes:
        """Read it."""
        if self.trouble:
            raise BadNotebook(f"{self.name} {self.trouble}")
        too_large = f"{self.name} has more than {most:,} bytes: its outputs have to be cleared"
        if self.size > most:
            raise BadNotebook(too_large)
        try:
            content = self.open(most + 1)
        except _BROKEN as error:
            reason = getattr(error, "strerror", None) or plain(str(error), 120) or type(error).__name__
            raise BadNotebook(f"{self.name} cannot be unpacked or read ({one_line(reason)})") from None
        # The size that a zip names is a claim.
        if len(content) > most:
            raise BadNotebook(too_large)
        return content


def composed(name: str) -> str:
    """A name with each letter in one piece, as most programs write it."""
    return unicodedata.normalize("NFC", name)


def leads_outside(name: str) -> bool:
    """Whether a path in an archive or a repository leads out of it."""
    return name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:", name) is not None


def path_trouble(name: str) -> str:
    """Why a path in an archive or a repository is none of a file here, a clause; empty if it is."""
    parts = name.split("/")
    if leads_outside(name):
        return "is a path that leads outside, and was refused"
    if (
        not name.isprintable()
        or len(parts) > _DEEP
        or any(len(part.encode("utf-8", "replace")) > 250 for part in parts)
    ):
        return "is no path for a file here, and was refused"
    return ""


def _aside(name: str) -> bool:
    """Whether a folder is a program's own."""
    return name == "__MACOSX" or (name.startswith(".") and name != "..")


def in_folder(folder: Path) -> Iterator[ArrivedFile]:
    """The files below a folder, no link followed and no hidden folder opened."""

    def refuse(error: OSError) -> None:
        raise CourseError(f"{error.filename} cannot be read ({error.strerror}): change its permissions, or move it")

    count = 0
    for above, folders, files in os.walk(folder, onerror=refuse):
        parts = Path(above).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if len(parts) < _DEEP and not _aside(name))
        links = [name for name in folders if os.path.islink(os.path.join(above, name))]
        for name in sorted([*files, *links]):
            count += 1
            if count > MOST_FILES:
                raise CourseError(f"{folder} holds more than {MOST_FILES:,} files: name the folder of one assignment")
            yield file_item(Path(above, name), (*parts, name))


def file_item(path: Path, parts: tuple[str, ...]) -> ArrivedFile:
    """A file of the disk."""
    about = path.lstat()
    trouble = "" if stat.S_ISREG(about.st_mode) else "is not a file"
    if stat.S_ISLNK(about.st_mode):
        trouble = "is a link, not a file, and was refused"

    def read(most: int) -> bytes:
        # Opened so that nobody can put a link or a pipe there in between.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            return file.read(most)

    return ArrivedFile(tuple(map(composed, parts)), about.st_size, read, trouble)


def in_zip(archive: zipfile.ZipFile, above: tuple[str, ...] = ()) -> Iterator[ArrivedFile]:
    """The files of an open zip; ``above`` stands in front of the paths of its entries."""
    for entry in archive.infolist()[:MOST_FILES]:
        path = entry_name(entry)
        file_type = stat.S_IFMT(entry.external_attr >> 16)
        if path.endswith("/") or entry.is_dir():
            continue
        trouble = path_trouble(path)
        if not trouble and file_type not in (0, stat.S_IFREG):
            trouble = "is a link or a device, not a file, and was refused"
        if not trouble and entry.flag_bits & _LOCKED:
            trouble = "is locked by a password, and was refused"
        parts = tuple(part for part in path.split("/") if part not in ("", ".")) or (path,)
        outside = leads_outside(path)
        yield ArrivedFile((*above, *parts), entry.file_size, _reader(archive, entry), trouble, is_outside=outside)


def inner_zip(item: ArrivedFile, content: bytes, most: int = ReadLimits.inside) -> list[ArrivedFile]:
    """The files of a zip that a student handed in."""
    # Counted before Python makes an object of each.
    if content.count(_ENTRY) > most:
        raise BadNotebook(f"{item.name} is a zip of more than {most:,} files: hand in the notebook itself")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except _BROKEN as error:
        raise BadNotebook(f"{item.name} is a broken zip ({one_line(str(error))})") from None
    return list(in_zip(archive, item.parts))


def open_zip(path: Path) -> zipfile.ZipFile | str:
    """Open a zip of a platform; a clause if it is broken."""
    try:
        return zipfile.ZipFile(path)
    except _BROKEN as error:
        return f"this zip is broken ({one_line(str(error))}), and was refused: download it again"


def entry_name(entry: zipfile.ZipInfo) -> str:
    """The path of an entry, in whatever encoding it was written, with slashes.

    >>> entry_name(zipfile.ZipInfo("Zoë".encode().decode("cp437"))), entry_name(zipfile.ZipInfo("Zoë"))
    ('Zoë', 'Zoë')
    """
    name = entry.filename
    if not entry.flag_bits & _UTF8:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return composed(name.replace("\\", "/"))


def _reader(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        with archive.open(entry) as file:
            return file.read(most)

    return read
