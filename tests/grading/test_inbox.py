"""Reading what was handed in: no link is followed, nothing blocks, and each kind of bad file has its own sentence."""

import datetime
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import nbformat
import pytest

from softlookup_grader import Course
from softlookup_grader.course import inbox
from softlookup_grader.course.inbox import handed_in_at, read_slips, read_submission
from softlookup_grader.course.notebooks import BadNotebook, NoNotebook, error_of, read_notebook, task_id, verdict_of
from softlookup_judge.data.result import MIME

NAME = "04_one_head"
FILE = f"{NAME}.ipynb"
SECRET = b"what the instructor alone may read"


@pytest.fixture
def course(tmp_path):
    root = tmp_path / "course"
    (root / "submitted" / "ada" / NAME).mkdir(parents=True)
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    (tmp_path / "elsewhere" / NAME).mkdir(parents=True)
    (tmp_path / "elsewhere" / NAME / FILE).write_bytes(SECRET)
    (tmp_path / "elsewhere" / NAME / "timestamp.txt").write_text("2026-01-01 10:00:00 UTC")
    return Course.at(root)


def place(course: Course) -> Path:
    return course.folder("submitted", "ada", NAME)


def linked_student(course: Course) -> None:
    place(course).rmdir()
    place(course).parent.rmdir()
    place(course).parent.symlink_to(course.root.parent / "elsewhere")


def linked_assignment(course: Course) -> None:
    place(course).rmdir()
    place(course).symlink_to(course.root.parent / "elsewhere" / NAME)


def in_place_of_files(make: Callable[[Path, Path], None], course: Course) -> None:
    for name in (FILE, "timestamp.txt", "submission_secret.txt"):
        make(place(course) / name, course.root.parent / "elsewhere" / NAME / name)


linked_file = partial(in_place_of_files, Path.symlink_to)
pipes = partial(in_place_of_files, lambda path, _: os.mkfifo(path))
folders = partial(in_place_of_files, lambda path, _: path.mkdir())


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (linked_student, "the folder ada is a link"),
        (linked_assignment, f"the folder {NAME} is a link"),
        (linked_file, "is a link, not a file"),
        (pipes, "is not a file"),
        (folders, "is not a file"),
    ],
)
def test_what_is_no_plain_file_is_refused_and_never_read(course, harm, says):
    harm(course)
    came = read_submission(course, NAME, "ada")
    assert (came.content, came.status) == (None, "refused") and says in came.reason
    when, remark = handed_in_at(course, NAME, "ada")
    assert when is None and "is not a time that can be read" in remark
    assert read_slips(course, NAME, "ada") == {}


@pytest.mark.parametrize("swapped", ["ada", NAME, FILE])
def test_what_is_put_there_after_the_look_is_not_read(course, monkeypatch, swapped):
    """Once the folder above it is open, what lies there is replaced by a link that leads elsewhere."""
    (place(course) / FILE).write_bytes(b"honest")
    elsewhere = course.root.parent / "elsewhere"
    path, target = {
        "ada": (place(course).parent, elsewhere),
        NAME: (place(course), elsewhere / NAME),
        FILE: (place(course) / FILE, elsewhere / NAME / FILE),
    }[swapped]
    real, done = os.open, []

    def opened(name: object, *args: object, **named: object) -> int:
        fd = real(name, *args, **named)  # type: ignore[arg-type]
        if Path(str(name)).name == path.parent.name and not done:
            done.append(path.rename(course.root.parent / "backup"))
            path.symlink_to(target)
        return fd

    monkeypatch.setattr(inbox.os, "open", opened)
    came = read_submission(course, NAME, "ada")
    assert done and came.content is None and "is a link" in came.reason


def test_a_time_is_taken_from_the_file_that_was_looked_at(course, monkeypatch):
    """nbgrader's own reader would open the name again, and wait for ever if it were a pipe by then."""
    stamp = place(course) / "timestamp.txt"
    stamp.write_text("2026-03-01 10:00:00 Europe/Paris")
    real = inbox._read_regular

    def read(folder: int, name: str, most: int) -> bytes:
        content = real(folder, name, most)
        stamp.unlink()
        stamp.symlink_to("/nowhere")
        return content

    monkeypatch.setattr(inbox, "_read_regular", read)
    assert handed_in_at(course, NAME, "ada") == (datetime.datetime(2026, 3, 1, 9), "")


@pytest.mark.parametrize(
    ("text", "zone", "utc"),
    [
        ("2026-07-01 10:00:00.000000 UTC", "UTC", 10),
        ("2026-07-01 10:00:00.000000 BST", "Europe/London", 9),
        ("2026-07-01 10:00:00", "UTC", 10),
        ("2026-07-01 10:00:00 UTC+1", "UTC", 9),
    ],
)
def test_a_time_of_the_exchange_is_read_in_its_zone(course, text, zone, utc):
    (place(course) / "timestamp.txt").write_text(text)
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f"c = get_config()\nc.Exchange.timezone = {zone!r}\n")
    assert handed_in_at(Course(course.root), NAME, "ada") == (datetime.datetime(2026, 7, 1, utc), "")


NO_TIMES = ("tomorrow-ish", "2026-13-45", "0001-01-01 00:00:00+14:00", "9" * 199, "1" * 300)


@pytest.mark.parametrize("text", ["", " \n", *NO_TIMES])
def test_an_empty_time_says_nothing_and_one_that_is_none_is_named(course, text):
    (place(course) / "timestamp.txt").write_text(text)
    when, remark = handed_in_at(course, NAME, "ada")
    assert when is None and ("is not a time that can be read" in remark if text in NO_TIMES else remark == "")


def test_a_file_that_claims_to_be_huge_costs_no_memory(course):
    with open(place(course) / FILE, "wb") as file:
        file.truncate(1 << 40)
    came = read_submission(course, NAME, "ada")
    assert came.status == "refused" and "1,099,511,627,776 bytes" in came.reason


def test_submitted_may_be_a_link_of_the_instructors(course):
    """Where submissions lie on another disk, the folder itself is a link, and that is the instructor's choice."""
    (place(course) / FILE).write_bytes(b"honest")
    (course.root / "submitted").rename(course.root.parent / "disk")
    (course.root / "submitted").symlink_to(course.root.parent / "disk")
    assert read_submission(course, NAME, "ada").content == b"honest"


def test_no_file_is_missing_and_another_file_is_refused_by_its_name(course):
    assert read_submission(course, NAME, "bo").status == "missing"
    (place(course) / "timestamp.txt").write_text("2026-01-01 10:00:00 UTC")
    (place(course) / ".DS_Store").write_text("")
    assert read_submission(course, NAME, "ada").status == "missing", "nothing of this was handed in"
    for name in ("one_head.html", "One Head.ipynb", "a.py", "b.py"):
        (place(course) / name).write_text("{}")
    came = read_submission(course, NAME, "ada")
    assert came.status == "refused"
    assert came.reason == f"there is no file {FILE}, only 'One Head.ipynb', 'a.py', 'b.py' and 1 more"


def test_no_descriptor_stays_open(course):
    linked_file(course)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        read_submission(course, NAME, "ada")
        read_submission(course, NAME, "nobody")
        read_slips(course, NAME, "ada")
    assert len(os.listdir("/proc/self/fd")) == before


GOOD = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("a = 1\nb = 2")]))


def bad(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(BadNotebook) as caught:
        read_notebook(path)
    assert "\n" not in str(caught.value) and str(caught.value).startswith("x.ipynb")
    return str(caught.value)


def test_a_good_notebook_is_read_with_its_lines_joined_and_an_old_one_brought_up_to_date(tmp_path):
    (tmp_path / "x.ipynb").write_text(GOOD)
    assert read_notebook(tmp_path / "x.ipynb").cells[0].source == "a = 1\nb = 2"
    old = nbformat.v3.new_notebook(worksheets=[nbformat.v3.new_worksheet(cells=[nbformat.v3.new_code_cell("a = 1")])])
    (tmp_path / "x.ipynb").write_text(json.dumps(old))
    assert read_notebook(tmp_path / "x.ipynb").nbformat == 4


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"def f(): pass", "not JSON, or its JSON breaks off (line 1, column 1)"),
        (GOOD[:-40].encode(), "not JSON, or its JSON breaks off"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"[" * 100_000, "not JSON, or its JSON breaks off"),
        (b"[1, 2]", "it has no cells"),
        (b'{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "not a sound notebook"),
        (b'{"cells": [], "nbformat": "four", "nbformat_minor": 5, "metadata": {}}', "not a sound notebook"),
        (b'{"cells": [{}], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "not a sound notebook"),
    ],
)
def test_a_bad_file_has_its_own_sentence(tmp_path, content, says):
    assert says in bad(tmp_path, content)


def test_a_missing_file_names_what_lies_there_instead(tmp_path):
    (tmp_path / "04 (1).ipynb").write_text(GOOD)
    with pytest.raises(NoNotebook, match=r"there is no file x.ipynb \(there is '04 \(1\).ipynb'\)"):
        read_notebook(tmp_path / "x.ipynb")


def test_links_and_folders_are_not_followed(tmp_path):
    (tmp_path / "y.ipynb").write_text(GOOD)
    (tmp_path / "x.ipynb").symlink_to(tmp_path / "y.ipynb")
    with pytest.raises(BadNotebook, match="is a link"):
        read_notebook(tmp_path / "x.ipynb")
    with pytest.raises(BadNotebook, match="is not a file"):
        read_notebook(tmp_path)


def cell_with(data: object) -> nbformat.NotebookNode:
    output = nbformat.v4.new_output("execute_result", data={MIME: data, "text/plain": "2.0"})
    return nbformat.v4.new_code_cell("check()", outputs=[output])


def test_a_verdict_an_error_and_a_task_are_read_from_a_cell():
    record = {"task": "04.scale", "verdict": "wrong", "diagnosis": ["no-sqrt"], "points": 0, "max": 2}
    verdict = verdict_of(cell_with(record))
    assert verdict is not None and verdict["diagnosis"] == ["no-sqrt"] and verdict["message"] == ""
    output = nbformat.v4.new_output("error", ename="\x1b[31mValueError", evalue="no\nnot this", traceback=[])
    assert error_of(nbformat.v4.new_code_cell("x", outputs=[output])) == "ValueError: no"
    assert task_id("04-softmax-backward-check") == "04.softmax-backward"


@pytest.mark.parametrize(
    "data", [None, 3, [], {"task": 3, "verdict": "pass"}, {"task": "04.scale", "verdict": "perfect"}]
)
def test_what_is_no_verdict_is_not_taken_for_one(data):
    assert verdict_of(cell_with(data)) is None
