"""What a class can do around the sandbox: its files, its memory where nothing counts it, what it leaves behind."""

import csv
import io
import logging
import os
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest

from softlookup.grading.course.notebooks import MAX_BYTES, MAX_ITEMS, BadNotebook, notebook_json
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.tables import Table
from softlookup.grading.judging.rebuild import MAX_SOURCE
from softlookup.grading.platforms import collecting
from softlookup.grading.platforms.collecting import CarefulExtractor
from softlookup.grading.reports.similarity import MAX_CHARACTERS, alike, code_tokens
from softlookup.grading.sandbox.inside import filter as calls
from softlookup.grading.sandbox.outside import stages
from softlookup.grading.sandbox.outside.bubble import staged
from softlookup.grading.sandbox.outside.memory import holds_more

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.mark.parametrize("end", [b"", b"\\"])
def test_notebooks_quotes_that_nobody_closes_are_counted_at_once(end: bytes) -> None:
    raw = b'{"nbformat":4,"cells":[' + b"," * (MAX_ITEMS + 1) + b'"' + b'\\"' * 50_000 + end
    begun = time.process_time()
    with pytest.raises(BadNotebook, match="items"):
        notebook_json(raw, "a.ipynb")
    assert time.process_time() - begun < 2.0


def test_notebooks_items_within_text_do_not_count() -> None:
    text = "," * (MAX_ITEMS + 1) + '\\"'
    assert notebook_json(f'{{"nbformat":4,"cells":["{text}"]}}'.encode(), "a.ipynb")["nbformat"] == 4


def _unpacked(tmp_path: Path, entries: dict[str, bytes], **limits: int) -> tuple[list[str], list[str]]:
    """Names of what was unpacked of a zip, and what was said."""
    archive = tmp_path / "archive"
    archive.mkdir()
    with zipfile.ZipFile(archive / "all.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    handler = _LogLines()
    log = logging.Logger("unpacking")
    log.addHandler(handler)
    CarefulExtractor(log=log, **limits).extract(str(archive), str(tmp_path / "extracted"))
    return sorted(path.name for path in (tmp_path / "extracted").rglob("*.ipynb")), handler.lines


class _LogLines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def test_collecting_large_notebooks_leave_room_for_small_ones(tmp_path: Path) -> None:
    entries = {f"aaa_1_{n}_a.ipynb": b"\0" * 1_000 for n in range(5)} | {"ben_2_9_b.ipynb": b"{}" + b" " * 598}
    names, messages = _unpacked(tmp_path, entries, most_bytes=2_500)
    assert names == ["aaa_1_0_a.ipynb", "ben_2_9_b.ipynb"]
    assert sum("more than 2,500 bytes" in message for message in messages) == 4


def test_collecting_other_files_do_not_use_up_the_entries(tmp_path: Path) -> None:
    entries = {f"aaa_1_{n}_a.txt": b"" for n in range(9)} | {"ben_2_9_b.ipynb": b"{}"}
    names, _ = _unpacked(tmp_path, entries, most_entries=3)
    assert names == ["ben_2_9_b.ipynb"]


def test_collecting_a_notebook_that_is_too_large_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    usual = collecting._read

    def read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
        opened.append(entry.filename)
        return usual(archive, entry)

    monkeypatch.setattr(collecting, "_read", read)
    names, messages = _unpacked(tmp_path, {"aaa_1_1_a.ipynb": b"\0" * (MAX_BYTES + 1), "ben_2_9_b.ipynb": b"{}"})
    assert names == opened == ["ben_2_9_b.ipynb"]
    assert any(f"more than {MAX_BYTES:,} bytes" in message for message in messages)


def test_lms_sheet_a_long_answer_of_one_student_costs_nobody_the_file() -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["Identifier", "Online text"], ["Participant 1", "x" * 200_000], ["Participant 2", ""]])
    before = csv.field_size_limit()
    sheet = Table(out.getvalue())
    assert len(sheet.rows) == 2
    assert csv.field_size_limit() == before


def test_likeness_nothing_that_is_graded_hides_behind_the_end() -> None:
    assert MAX_CHARACTERS >= MAX_SOURCE
    code = "\n".join(f"v{n} = {n} * w + u[{n % 7}]" for n in range(80))
    hidden = '"""' + "p" * (MAX_SOURCE - len(code) - 10) + '"""\n' + code
    others = {f"student-{n}": {"a": code_tokens(f"x = {n}\n")} for n in range(20)}
    pairs = alike({**others, "ann": {"a": code_tokens(code)}, "bob": {"a": code_tokens(hidden)}})
    assert [(pair.first, pair.second) for pair in pairs] == [("ann", "bob")]


# The first thread ends at once; the other one takes memory and says so.
_HEADLESS = """
import ctypes, threading, time

def hold():
    time.sleep(0.2)
    held = bytearray(60_000_000)
    held[::4096] = b"1" * len(held[::4096])
    print("held", flush=True)
    time.sleep(60)

threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall(NUMBER, 0)
"""


@LINUX
def test_memory_a_process_without_its_first_thread_is_counted() -> None:
    number = {"x86_64": 60, "aarch64": 93}[platform.machine()]
    with subprocess.Popen(
        [sys.executable, "-c", _HEADLESS.replace("NUMBER", str(number))], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            assert Path(f"/proc/{process.pid}/statm").read_text().split()[1] == "0"
            assert holds_more(process.pid, 50)
            assert not holds_more(process.pid, 500)
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["io_setup", "inotify_init", "inotify_init1"])
def test_filter_takes_what_the_whole_machine_shares(name: str) -> None:
    assert name in calls.FORBIDDEN


@LINUX
def test_stages_of_killed_graders_are_removed_and_those_in_use_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    in_use = staged()
    killed, young = tmp_path / f"{stages.PREFIX}killed", tmp_path / f"{stages.PREFIX}young"
    elsewhere, link = tmp_path / "elsewhere", tmp_path / f"{stages.PREFIX}link"
    for folder in (killed, young, elsewhere):
        folder.mkdir()
        (folder / "file").touch()
    link.symlink_to(elsewhere)
    for folder in (in_use, killed, elsewhere):
        os.utime(folder, (0, 0))
    other = staged()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        p.name for p in (in_use, other, young, elsewhere, link)
    )
    assert (elsewhere / "file").exists()


def test_stages_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(CourseError, match="TMPDIR"):
        staged()
