"""What a class can do around the sandbox: its files, its memory where nothing counts it, what it leaves behind."""

import csv
import io
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from softlookup_grader.course.notebooks import MAX_ITEMS, BadNotebook, notebook_json
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table
from softlookup_grader.judging.rebuild import MAX_SOURCE
from softlookup_grader.reports.similarity import MAX_CHARACTERS, alike, code_tokens
from softlookup_grader.sandbox import stages
from softlookup_grader.sandbox.bubble import staged
from softlookup_grader.sandbox.memory import holds_more
from softlookup_inside.sandbox import filter as calls

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
