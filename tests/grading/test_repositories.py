"""A folder of repositories is a way to collect: whose each is, and what is left out."""

import os
from pathlib import Path

import pytest
from paper_class import hand_in, paper_course
from small_class import NAME

from softlookup.grading import Course, CourseError
from softlookup.grading.course.notebooks import MAX_BYTES
from softlookup.grading.platforms.repositories import collect_repositories

FILE = f"{NAME}.ipynb"
ROSTER = "identifier,github_username\nada@example.org,Countess\nben,bb-1\nnobody,zed\n"


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    made = paper_course(tmp_path_factory, source)
    with made.gradebook() as book:
        for student in ("ada", "ben", "lin-ada", "7103"):
            book.update_or_create_student(student, email=f"{student}@example.org")
    return made


def repository(folder: Path, name: str, *paths: str, content: bytes = b"{}") -> Path:
    for path in paths or (FILE,):
        place = folder / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder / name


def collected(course: Course) -> set[str]:
    return {student for student in course.students() if course.notebook("submitted", student, NAME).is_file()}


def test_names_of_repositories_end_in_a_students_name(course: Course, tmp_path: Path) -> None:
    repository(tmp_path, "one-head-ben", content=b"ben's")
    repository(tmp_path, "7103", f"exercises/{NAME}/{FILE}")
    repository(tmp_path, "one-head-guest")
    done = collect_repositories(course, NAME, tmp_path)
    assert set(done.students) == collected(course) == {"ben", "7103"}
    assert course.notebook("submitted", "ben", NAME).read_bytes() == b"ben's"
    assert len(done.notes) == 1 and done.notes[0].startswith("one-head-guest was left out: its name ends in no id")


def test_name_that_fits_two_needs_a_prefix(course: Course, tmp_path: Path) -> None:
    repository(tmp_path, "one-head-lin-ada")
    done = collect_repositories(course, NAME, tmp_path)
    assert done.students == () and "fits ada and lin-ada" in done.notes[0]
    assert collect_repositories(course, NAME, tmp_path, prefix="one-head-").students == ("lin-ada",)


def test_roster_says_whose_a_repository_is(course: Course, tmp_path: Path) -> None:
    for name in ("a1-countess", "a1-bb-1", "a1-zed", "a1-7103"):
        repository(tmp_path, name)
    done = collect_repositories(course, NAME, tmp_path, roster=ROSTER)
    assert set(done.students) == {"ada", "ben"} and len(done.notes) == 2
    with pytest.raises(CourseError, match="the roster needs a column"):
        collect_repositories(course, NAME, tmp_path, roster="a,b\n1,2\n")


def test_what_cannot_be_taken_is_named_and_the_others_are_taken(course: Course, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the instructor's")
    place = tmp_path / "repositories"
    linked = repository(place, "x-ada", "README.md")
    os.symlink(secret, linked / FILE)
    repository(place, "x-ben", FILE, f"copy/{FILE}")
    repository(place, "x-7103", content=b" " * (MAX_BYTES + 1))
    os.symlink(linked, place / "x-lin-ada")
    repository(place, "y-ben", f".git/{FILE}")
    notes = " ".join(collect_repositories(course, NAME, place, prefix="x-").notes)
    assert "x-ada was left out: it holds no 04_one_head.ipynb" in notes and "several files" in notes
    assert "more than" in notes and "its name does not begin with x-" in notes
    assert collected(course) == set()
    with pytest.raises(CourseError, match="holds no folders"):
        collect_repositories(course, NAME, linked)


def test_what_was_collected_is_replaced_only_if_asked(course: Course, tmp_path: Path) -> None:
    hand_in(course, "ben", {"04-mix": "def mix(w, v):\n    return w @ v"})
    before = course.notebook("submitted", "ben", NAME).read_bytes()
    repository(tmp_path, "r-ben")
    assert "--force replaces it" in collect_repositories(course, NAME, tmp_path).notes[0]
    assert course.notebook("submitted", "ben", NAME).read_bytes() == before
    assert collect_repositories(course, NAME, tmp_path, force=True).students == ("ben",)
    assert course.notebook("submitted", "ben", NAME).read_bytes() == b"{}"
