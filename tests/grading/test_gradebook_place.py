"""Course.gradebook_place: what the grader says of where the grades are."""

import pytest

from softlookup_grader.course.folder import new_course
from softlookup_judge.authoring import find_root


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("sqlite:///gradebook.db", "course/gradebook.db"),
        ("sqlite:////srv/grades/all.db", "/srv/grades/all.db"),
        ("postgresql://grader:secret@db.example:5432/grades", "postgresql://grader:***@db.example:5432/grades"),
    ],
)
def test_the_place_of_the_gradebook_is_shown_without_a_password(tmp_path, monkeypatch, address, shown):
    monkeypatch.chdir(tmp_path)
    course = new_course(tmp_path / "course", find_root() / "nbgrader_config.py")
    course.directory.db_url = address
    assert course.gradebook_place() == shown
