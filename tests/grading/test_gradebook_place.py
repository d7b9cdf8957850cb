"""Course.gradebook_place: what the grader says of where the grades are."""

import pytest

from softlookup.grading.course.folder import Course


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("sqlite:///gradebook.db", "course/gradebook.db"),
        ("sqlite:////srv/grades/all.db", "/srv/grades/all.db"),
        ("postgresql://grader:secret@db.example:5432/grades", "postgresql://grader:***@db.example:5432/grades"),
    ],
)
def test_the_place_of_the_gradebook_is_shown_without_a_password(own_copy: Course, monkeypatch, address, shown):
    monkeypatch.chdir(own_copy.root.parent)
    own_copy.directory.db_url = address
    assert own_copy.gradebook_place() == shown
