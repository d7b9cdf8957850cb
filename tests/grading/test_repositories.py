"""A folder of repositories is a way to collect: whose each is, and what is left out."""

import os
import subprocess
from pathlib import Path

import pytest
from paper_class import hand_in, paper_course
from small_class import NAME

from softlookup.grading import Course, CourseError
from softlookup.grading.course.notebooks import MAX_BYTES
from softlookup.grading.data.tables import Table
from softlookup.grading.platforms.repositories import collect_repositories

FILE = f"{NAME}.ipynb"
ROSTER = Table("identifier,github_username\nada@example.org,Countess\nben,bb-1\nnobody,zed\n")


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
        collect_repositories(course, NAME, tmp_path, roster=Table("a,b\n1,2\n"))


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


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_copies_of_a_template_on_any_server_are_cloned_and_collected(course: Course, tmp_path: Path) -> None:
    """What is left without a platform: a template, a private copy for each student, and a table of their addresses."""
    server, clones = tmp_path / "server", tmp_path / "clones"
    template = repository(server, "template", f"work/{FILE}", content=b"blank")
    git(template, "init", "-q")
    git(template, "add", ".")
    git(template, "commit", "-qm", "Template")
    clones.mkdir()
    for student, name in (("ada", "countess"), ("ben", "ben"), (None, "zed")):
        git(server, "clone", "-q", "--bare", "template", f"{name}/transformers-{name}.git")
        git(server, "clone", "-q", f"{name}/transformers-{name}.git", f"{name}/here")
        (server / name / "here" / "work" / FILE).write_bytes(f"{student}'s".encode())
        git(server / name / "here", "commit", "-qam", "Answers")
        git(server / name / "here", "push", "-q")
        git(clones, "clone", "-q", str(server / name / f"transformers-{name}.git"))
    addresses = "E-mail;Gruppe;Address\n" + "".join(
        f"{mail};{at};git@host:{at}/transformers-{at}.git\n"
        for mail, at in (("ada@example.org", "countess"), ("ben@example.org", "ben"), ("zed@example.org", "zed"))
    )
    done = collect_repositories(course, NAME, clones, roster=Table(addresses))
    assert set(done.students) == collected(course) == {"ada", "ben"}
    assert course.notebook("submitted", "ada", NAME).read_bytes() == b"ada's"
    assert [note.partition(" was left out")[0] for note in done.notes] == ["transformers-zed"]


def test_roster_that_names_nobody_of_the_class_is_refused(course: Course, tmp_path: Path) -> None:
    repository(tmp_path, "a1-zed")
    with pytest.raises(
        CourseError, match="names nobody of the class list; it was read 1 row .*'github_username' is the rep"
    ):
        collect_repositories(course, NAME, tmp_path, roster=Table("identifier,github_username\nnobody,zed\n"))
