"""Reading what was handed in: no link is followed, nothing blocks, and what is looked at is what is read."""

import datetime
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from softlookup_grader import Course
from softlookup_grader.course import inbox
from softlookup_grader.course.inbox import handed_in_at, read_slips, read_submission

NAME = "04_one_head"
FILE = f"{NAME}.ipynb"
SECRET = b"what the instructor alone may read"


@pytest.fixture
def course(tmp_path: Path) -> Course:
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


def linked_file(course: Course) -> None:
    for name in (FILE, "timestamp.txt", "submission_secret.txt"):
        (place(course) / name).symlink_to(course.root.parent / "elsewhere" / NAME / name)


def pipes(course: Course) -> None:
    for name in (FILE, "timestamp.txt", "submission_secret.txt"):
        os.mkfifo(place(course) / name)


def folders(course: Course) -> None:
    for name in (FILE, "timestamp.txt", "submission_secret.txt"):
        (place(course) / name).mkdir()


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
def test_what_is_no_plain_file_is_refused_and_never_read(
    course: Course, harm: Callable[[Course], None], says: str
) -> None:
    harm(course)
    came = read_submission(course, NAME, "ada")
    assert (came.content, came.status) == (None, "refused") and says in came.reason
    when, remark = handed_in_at(course, NAME, "ada")
    assert when is None and "is not a time that can be read" in remark
    assert read_slips(course, NAME, "ada") == {}


@pytest.mark.parametrize("swapped", ["student", "assignment", "file"])
def test_what_is_put_there_after_the_look_is_not_read(
    course: Course, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    """Each time something is opened, everything below it is replaced by links that lead elsewhere."""
    (place(course) / FILE).write_bytes(b"honest")
    stop = {"student": "submitted", "assignment": "ada", "file": NAME}[swapped]
    elsewhere = course.root.parent / "elsewhere"
    real, done = os.open, []

    def opened(path: object, *args: object, **named: object) -> int:
        fd = real(path, *args, **named)  # type: ignore[arg-type]
        if Path(str(path)).name == stop and not done:
            done.append(stop)
            backup = course.root.parent / "kept"
            if swapped == "student":
                place(course).parent.rename(backup)
                place(course).parent.symlink_to(elsewhere)
            elif swapped == "assignment":
                place(course).rename(backup)
                place(course).symlink_to(elsewhere / NAME)
            else:
                (place(course) / FILE).rename(backup)
                (place(course) / FILE).symlink_to(elsewhere / NAME / FILE)
        return fd

    monkeypatch.setattr(inbox.os, "open", opened)
    came = read_submission(course, NAME, "ada")
    assert done and came.content is None and "is a link" in came.reason


def test_a_time_is_taken_from_the_file_that_was_looked_at(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_time_of_the_exchange_is_read_in_its_zone(course: Course, text: str, zone: str, utc: int) -> None:
    (place(course) / "timestamp.txt").write_text(text)
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f"c = get_config()\nc.Exchange.timezone = {zone!r}\n")
    assert handed_in_at(Course(course.root), NAME, "ada") == (datetime.datetime(2026, 7, 1, utc), "")


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_time_says_nothing(course: Course, text: str) -> None:
    (place(course) / "timestamp.txt").write_text(text)
    assert handed_in_at(course, NAME, "ada") == (None, "")


@pytest.mark.parametrize("text", ["tomorrow-ish", "2026-13-45", "0001-01-01 00:00:00+14:00", "9" * 199, "1" * 300])
def test_a_time_that_is_none_is_told(course: Course, text: str) -> None:
    (place(course) / "timestamp.txt").write_text(text)
    when, remark = handed_in_at(course, NAME, "ada")
    assert when is None and "is not a time that can be read" in remark


def test_a_file_that_claims_to_be_huge_costs_no_memory(course: Course) -> None:
    with open(place(course) / FILE, "wb") as file:
        file.truncate(1 << 40)
    came = read_submission(course, NAME, "ada")
    assert came.status == "refused" and "1,099,511,627,776 bytes" in came.reason


def test_submitted_may_be_a_link_of_the_instructors(course: Course) -> None:
    """Where submissions lie on another disk, the folder itself is a link, and that is the instructor's choice."""
    (place(course) / FILE).write_bytes(b"honest")
    (course.root / "submitted").rename(course.root.parent / "disk")
    (course.root / "submitted").symlink_to(course.root.parent / "disk")
    assert read_submission(course, NAME, "ada").content == b"honest"


def test_no_file_is_missing_and_another_file_is_refused_by_its_name(course: Course) -> None:
    assert read_submission(course, NAME, "bo").status == "missing"
    (place(course) / "timestamp.txt").write_text("2026-01-01 10:00:00 UTC")
    (place(course) / ".DS_Store").write_text("")
    assert read_submission(course, NAME, "ada").status == "missing", "nothing of this was handed in"
    for name in ("one_head.html", "One Head.ipynb", "a.py", "b.py"):
        (place(course) / name).write_text("{}")
    came = read_submission(course, NAME, "ada")
    assert came.status == "refused"
    assert came.reason == f"there is no file {FILE}, only 'One Head.ipynb', 'a.py', 'b.py' and 1 more"


def test_no_descriptor_stays_open(course: Course) -> None:
    linked_file(course)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        read_submission(course, NAME, "ada")
        read_submission(course, NAME, "nobody")
        read_slips(course, NAME, "ada")
    assert len(os.listdir("/proc/self/fd")) == before
