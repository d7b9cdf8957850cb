"""Times of submissions from a table: where they are written, what is left out, and that lateness follows."""

from pathlib import Path

import pytest
from paper_class import in_class, paper_course
from small_class import NAME

from softlookup.grading import Course, CourseError
from softlookup.grading.course.inbox import handed_in_at
from softlookup.grading.platforms.times import write_times


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    made = paper_course(tmp_path_factory, source)
    for student, more in (("ada", {"email": "ada@example.org"}), ("ben", {"lms_user_id": "7102"}), ("chen", {})):
        in_class(made, student)
        with made.gradebook() as book:
            book.update_or_create_student(student, **more)
        if student != "chen":
            made.folder("submitted", student, NAME).mkdir(parents=True)
    return made


def came(course: Course, student: str) -> str:
    return str(handed_in_at(course, NAME, student)[0])


@pytest.mark.parametrize(
    ("text", "zone", "ada"),
    [
        ("id,time\nada,2026-12-01 18:00\n", "", "2026-12-01 18:00:00"),
        ("id,time\nada,2026-12-01 18:00\n", "Europe/Paris", "2026-12-01 17:00:00"),
        ("id,time\nada,2026-12-01 18:00+02:00\n", "Europe/Paris", "2026-12-01 16:00:00"),
        ("id,time\nada,2026-12-01 18:00 Asia/Tokyo\n", "Europe/Paris", "2026-12-01 09:00:00"),
        ("Email,submitted_at\nADA@example.org,2026-12-01T18:00:00Z\n", "Europe/Paris", "2026-12-01 18:00:00"),
        (
            "Identifier,Full name,Email address,Last modified (submission)\n"
            'Participant 82,Ada,ada@example.org,"Tuesday, 1 December 2026, 6:00 PM"\n',
            "Europe/London",
            "2026-12-01 18:00:00",
        ),
    ],
)
def test_a_time_is_written_where_nbgrader_looks(course: Course, text: str, zone: str, ada: str) -> None:
    done = write_times(course, NAME, text, zone)
    assert done.written == ("ada",) and done.notes == () and came(course, "ada") == ada


def test_each_row_that_is_left_out_is_named(course: Course) -> None:
    day = "2026-12-01 18:00"
    rows = ("ada,soon", f"ben,{day}", f"chen,{day}", f"zoe,{day}", "ada,-", "ada,", "ben,none")
    done = write_times(course, NAME, "\n".join(("id,time", *rows)))
    assert done.written == ("ben",)
    assert [note.partition(" was left out: ")[0] for note in done.notes] == ["row 2", "row 4", "row 5", "row 8"]
    for said, note in zip(("unambiguous", "chen has handed in nothing", "zoe", "missing"), done.notes, strict=True):
        assert said in note


@pytest.mark.parametrize("text", ["", "id,when\nada,2026\n", "name,time\nada,2026-12-01\n"])
def test_a_table_without_its_columns_is_refused(course: Course, text: str) -> None:
    with pytest.raises(CourseError, match="wanted the columns|needs a column"):
        write_times(course, NAME, text)


def test_an_unknown_zone_is_refused(course: Course) -> None:
    with pytest.raises(CourseError, match="no time zone 'Mars'"):
        write_times(course, NAME, "id,time\nada,2026-12-01 18:00\n", "Mars")


def test_a_time_is_not_written_through_a_link(course: Course, tmp_path: Path) -> None:
    folder = course.folder("submitted", "ada", NAME)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert "handed in nothing" in write_times(course, NAME, "id,time\nada,2026-12-01 18:00\n").notes[0]
    assert not (tmp_path / "timestamp.txt").exists()


def test_a_link_in_the_place_of_the_time_is_replaced_and_not_followed(course: Course, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    slip = course.folder("submitted", "ada", NAME) / "timestamp.txt"
    slip.symlink_to(tmp_path / "precious")
    assert write_times(course, NAME, "id,time\nada,2026-12-01 18:00\n").written == ("ada",)
    assert (tmp_path / "precious").read_text() == "mine" and not slip.is_symlink()


def test_a_time_is_not_written_behind_a_link_further_up(course: Course, tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    folder = course.folder("submitted", "ada", NAME)
    folder.rmdir()
    folder.parent.rmdir()
    folder.parent.symlink_to(tmp_path)
    assert "handed in nothing" in write_times(course, NAME, "id,time\nada,2026-12-01 18:00\n").notes[0]
    assert not (tmp_path / NAME / "timestamp.txt").exists()
