"""Plugins for nbgrader's zip_collect: what Moodle and Canvas give for download, taken in with care.

A zip file of theirs holds names that students chose in part, and contents that they chose altogether. One of them must
not decide where a file is written, whose it is, or whether the others' are collected.

Source: owners.py says how the platforms name files.
"""

import re
import stat
import unicodedata
import zipfile
import zlib
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin
from traitlets import Int

from softlookup.grading.course.notebooks import MAX_BYTES
from softlookup.grading.data.plain_text import one_line, plain
from softlookup.grading.platforms.owners import Owners
from softlookup.grading.platforms.worksheet import class_list

_COPY = r"(?:[ _-]*\(?\d{1,3}\)?)?"
_DEEP = 6
_BROKEN = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error)


class CarefulExtractor(ExtractorPlugin):
    """Unpacks notebooks and nothing else, and says which entries of which zip it refuses."""

    most_entries = Int(20_000, help="How many entries a zip may have.").tag(config=True)
    most_bytes = Int(5_000_000_000, help="How many bytes all notebooks of a zip may have.").tag(config=True)

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack each zip into a folder that has its name, and copy notebooks that lie beside them.

        Args:
            archive_path: Where the platform's files lie.
            extracted_path: Where notebooks go.
        """
        for path in sorted(Path(archive_path).rglob("*")):
            place = Path(extracted_path, path.relative_to(archive_path))
            if path.is_symlink() or not path.is_file():
                if not path.is_dir():
                    self.log.warning("%s is not a file, and was refused", plain(path.name))
            elif path.suffix.lower() == ".zip":
                try:
                    self._unpack(path, place.with_suffix(""))
                except _BROKEN as error:
                    record = plain(str(error)) or type(error).__name__
                    shown = one_line(path.name)
                    self.log.warning("the zip %s is broken, and the rest of it was refused: %s", shown, record)
            elif path.suffix == ".ipynb" and path.stat().st_size <= MAX_BYTES:
                _write(place, path.read_bytes())
            else:
                self.log.warning("%s is neither a zip nor a notebook, and was left out", plain(path.name))

    def _unpack(self, path: Path, target: Path) -> None:
        left, taken, shown = self.most_bytes, set(), one_line(path.name)
        with zipfile.ZipFile(path) as archive:
            entries = sorted((entry for entry in archive.infolist() if not entry.is_dir()), key=_turn)
            if len(entries) > self.most_entries:
                reason = f"more than {self.most_entries:,}: the rest was refused"
                self.log.warning("the zip %s has %s entries, %s", shown, f"{len(entries):,}", reason)
            for entry in entries[: self.most_entries]:
                name = plain(entry.filename, 120)
                why = _refused(entry) or ("is there twice" if _spelt(entry) in taken else "")
                if not why and entry.file_size > left:
                    why = f"would make it more than {self.most_bytes:,} bytes"
                content = b""
                if not why:
                    # One entry that is broken, or in another one's way, must not cost the others.
                    try:
                        content = _read(archive, entry)
                        _write(target / entry.filename, content)
                    except _BROKEN as error:
                        why = f"cannot be unpacked ({plain(str(error), 120) or type(error).__name__})"
                if why:
                    self.log.warning("the zip %s: %r %s, and was refused", shown, name, why)
                    continue
                left -= len(content)
                taken.add(_spelt(entry))


def _refused(entry: zipfile.ZipInfo) -> str:
    """Why an entry of a zip is not taken; empty if it is."""
    name, kind = entry.filename, stat.S_IFMT(entry.external_attr >> 16)
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in name or re.match(r"[A-Za-z]:", name):
        return "is a path that leads outside"
    if not name.isprintable() or len(parts) > _DEEP or any(len(part.encode()) > 250 for part in parts):
        return "is no path for a file here"
    if kind not in (0, stat.S_IFREG):
        return "is a link or a device, not a file"
    if entry.flag_bits & 1:
        return "is locked by a password"
    if not name.endswith(".ipynb"):
        return "is not a notebook"
    return f"has more than {MAX_BYTES:,} bytes" if entry.file_size > MAX_BYTES else ""


def _turn(entry: zipfile.ZipInfo) -> tuple[bool, int]:
    """When an entry is taken: small notebooks first, so that one student's large files leave room for the others."""
    return bool(_refused(entry)), entry.file_size


def _spelt(entry: zipfile.ZipInfo) -> str:
    # Two spellings of one path, or two that some disks take for one.
    return unicodedata.normalize("NFC", str(PurePosixPath(entry.filename)).casefold())


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    # The size that a zip names is a claim: no more than this is unpacked.
    with archive.open(entry) as file:
        return file.read(MAX_BYTES + 1)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


class ByLmsNumber(FileNameCollectorPlugin):
    """Finds whose a file is by the number that Moodle or Canvas put into its name.

    Canvas's number is the student's own: the class list's lms_user_id. Moodle's is a participant number, which the
    grading worksheet beside the archive explains. A file that fits nobody, fits two, has another name than the
    assignment, or is somebody's second is left out with a sentence; the others are collected.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._had: dict[str, str] = {}

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Say whose a file is.

        Returns:
            The student's id and the notebook's name; None if the file is left out.
        """
        assignment: str = self.parent.coursedir.assignment_id
        parts = Path(submitted_file).relative_to(self._extracted).parts
        shown = one_line("/".join(parts), 400)
        student, why = self._owners.whose(parts)
        if not why and not re.search(rf"(?:^|_){re.escape(assignment)}{_COPY}\.ipynb$", parts[-1]):
            why = f"its name is not {assignment}.ipynb"
        if not why and student in self._had:
            why = f"{one_line(student)} handed in another one: {self._had[student]}"
        if why:
            self.log.warning("%r was left out: %s", shown, why)
            return None
        self._had[student] = shown
        return {"student_id": student, "file_id": assignment}

    @property
    def _extracted(self) -> Path:
        """Where zip_collect put the files."""
        app = self.parent
        base = str(Path(app.coursedir.root, app.collect_directory_structure))
        record = {"downloaded": app.downloaded_directory, "collect_step": app.extracted_directory}
        return Path(base.format(assignment_id=app.coursedir.assignment_id, **record))

    @cached_property
    def _owners(self) -> Owners:
        """Who handed in what."""
        with Gradebook(self.parent.coursedir.db_url, self.parent.coursedir.course_id) as book:
            return Owners(class_list(book), self._extracted.parent)
