"""Times of submissions from a table: where they are written, what is left out, and that lateness follows."""

from pathlib import Path

import pytest
from arriving import enter_class
from small_class import NAME

from softlookup_grader import Course, CourseError
from softlookup_grader.course.arrived import UNREADABLE, Arrival, Arrivals
from softlookup_grader.course.collected import keep
from softlookup_grader.course.inbox import handed_in_at
from softlookup_grader.data.dates import zone_named
from softlookup_grader.data.tables import Table
from softlookup_grader.platforms import times as module
from softlookup_grader.platforms.times import Times, read_times


@pytest.fixture
def course(paper: Course) -> Course:
    enter_class(paper, "ada", "chen", ben="7102")
    for student in ("ada", "ben"):
        paper.folder("submitted", student, NAME).mkdir(parents=True)
    return paper


def write_times(course: Course, assignment: str, text: str, zone: str = "") -> Times:
    times = read_times(course, assignment, Table(text), zone_named(zone) if zone else course.zone)
    module.write_times(course, assignment, times.came)
    return times


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
            "Identifier,Email address,Last modified (submission)\n"
            'Participant 82,ada@example.org,"Tuesday, 1 December 2026, 6:00 PM"\n',
            *("Europe/London", "2026-12-01 18:00:00"),
        ),
    ],
)
def test_a_time_is_written_where_nbgrader_looks(course: Course, text: str, zone: str, ada: str) -> None:
    done = write_times(course, NAME, text, zone)
    assert set(done.came) == {"ada"} and done.notes == () and came(course, "ada") == ada


def test_each_row_that_is_left_out_is_named(course: Course) -> None:
    day = "2026-12-01 18:00"
    rows = ("ada,soon", f"ben,{day}", f"chen,{day}", f"zoe,{day}", "ada,-", "ada,", "ada,3/4/2026")
    done = write_times(course, NAME, "\n".join(("id,time", *rows)))
    assert set(done.came) == {"ben"}
    assert [note.partition(" was left out: ")[0] for note in done.notes] == ["row 2", "row 4", "row 5", "row 8"]
    reasons = ("unambiguous", "chen has handed in nothing", "zoe", "as 3 April 2026 or as 4 March 2026")
    assert all(reason in note for reason, note in zip(reasons, done.notes, strict=True))


def test_of_several_rows_of_a_student_the_latest_time_counts(course: Course) -> None:
    hours = (("ada", 18), ("ben", 9), ("ada", 20), ("ada", 19))
    rows = [f"{student},2026-12-01 {hour}:00" for student, hour in hours]
    done = write_times(course, NAME, "\n".join(("id,time", *rows, "ada,soon")))
    assert came(course, "ada") == "2026-12-01 20:00:00" and came(course, "ben") == "2026-12-01 09:00:00"
    assert done.notes[-1] == "ada stands in 3 rows: the latest time counts" and len(done.notes) == 2


@pytest.mark.parametrize("text", ["", "id,when\nada,2026\n", "name,time\nzoe,2026-12-01\n"])
def test_a_table_without_its_columns_is_refused(course: Course, text: str) -> None:
    with pytest.raises(CourseError, match="it is empty|needs a column"):
        write_times(course, NAME, text)


@pytest.mark.parametrize("title", ["datetime", "Date", "Submitted at", "Date & Time", "Timestamp", "Zuletzt geändert"])
def test_a_column_of_times_is_known_by_usual_titles_or_by_what_is_in_it(course: Course, title: str) -> None:
    done = write_times(course, NAME, f"Kennung;{title}\nada;2026-12-01 18:00\nben;Dienstag, 1. Dezember 2026, 19:00\n")
    assert set(done.came) == {"ada", "ben"} and came(course, "ben") == "2026-12-01 19:00:00"
    assert f"'Kennung' is the student; '{title}' is the time" in done.understood
    assert "Tuesday 2026-12-01 18:00 UTC is the first, Tuesday 2026-12-01 19:00 UTC the last" in done.understood


def test_a_table_of_which_no_row_can_be_used_is_refused(course: Course) -> None:
    with pytest.raises(CourseError, match=r"no row of the table can be used.*row 2 was left out: it names zoe"):
        write_times(course, NAME, "id,time\nzoe,2026-12-01 18:00\n")


def test_who_handed_in_what_cannot_be_graded_has_not_handed_in_nothing(course: Course) -> None:
    keep(course, NAME, Arrivals({"chen": Arrival(UNREADABLE, "x", "a.html is a web page")}))
    done = write_times(course, NAME, "Kennung,time\nada,2026-12-01 18:00\nchen,2026-12-01 18:00\n")
    assert set(done.came) == {"ada"} and "Kennung' is the student" in done.understood
    assert done.notes == ("row 3 was left out: chen has handed in what cannot be graded: a.html is a web page",)


def test_times_are_shown_in_the_courses_zone(course: Course) -> None:
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write('c.NbGraderAPI.timezone = "Europe/Berlin"\n')
    done = write_times(Course.at(course.root), NAME, "id,time\nada,2026-12-01 18:00\n")
    assert came(course, "ada") == "2026-12-01 17:00:00"
    assert "18:00 Europe/Berlin (UTC+01:00) is the first" in done.understood


@pytest.mark.parametrize("further_up", [False, True])
def test_a_time_is_not_written_through_a_link(course: Course, tmp_path: Path, further_up: bool) -> None:
    (tmp_path / NAME).mkdir()
    folder = course.folder("submitted", "ada", NAME)
    folder.rmdir()
    if further_up:
        folder.parent.rmdir()
        folder.parent.symlink_to(tmp_path)
    else:
        folder.symlink_to(tmp_path / NAME)
    with pytest.raises(CourseError, match="handed in nothing"):
        write_times(course, NAME, "id,time\nada,2026-12-01 18:00\n")
    assert not (tmp_path / NAME / "timestamp.txt").exists()


def test_a_link_in_the_place_of_the_time_is_replaced_and_not_followed(course: Course, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    slip = course.folder("submitted", "ada", NAME) / "timestamp.txt"
    slip.symlink_to(tmp_path / "precious")
    assert write_times(course, NAME, "id,time\nada,2026-12-01 18:00\n").came
    assert (tmp_path / "precious").read_text() == "mine" and not slip.is_symlink()
