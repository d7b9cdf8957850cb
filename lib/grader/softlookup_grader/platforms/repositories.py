"""Whose a folder or a repository is, where a table says it by name, address or user."""

from collections.abc import Sequence

from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table, key_of
from softlookup_grader.platforms.cloning import ADDRESS_COLUMNS, STUDENT_COLUMNS
from softlookup_grader.platforms.lms_sheet import by_key
from softlookup_grader.platforms.worksheet import Person

REPOSITORY_COLUMNS = ("repository", "repository_name", "student_repository_name", "folder", *ADDRESS_COLUMNS)
USER_COLUMNS = ("github_username", "gitlab_username", "username", "user")


def named_in(roster: Table, people: Sequence[Person], ids: str | None = None) -> dict[str, tuple[str, ...]]:
    """Students by the names that their folders or repositories have in a table, as key_of() writes them.

    Of a name that stands for several students, such as that of two forks, each is in the answer; an address in it, as
    address_key() writes it, tells these apart.

    The roster has a column with the name or address of a repository, or the name of its user, and one for the student,
    whose title is ``ids`` if it is not a usual one.
    """
    known = by_key(people)
    repository = roster.take("repository", *REPOSITORY_COLUMNS, *USER_COLUMNS)
    keys = [roster.mean(roster.column(ids), "student")] if ids else roster.take_ids(STUDENT_COLUMNS, known)
    if repository is None or not keys:
        raise CourseError(
            f"the roster needs a column for the repository ({', '.join((*REPOSITORY_COLUMNS, *USER_COLUMNS))}) and one "
            f"for the student ({', '.join(STUDENT_COLUMNS)}), and has {roster.titles()}"
        )
    by_name: dict[str, tuple[str, ...]] = {}
    for row in roster.rows:
        # Of an address the last part is the name of the folder into which git clones.
        name = key_of(row[repository].strip().rstrip("/").rpartition("/")[2].removesuffix(".git"))
        students = {known[key].student for at in keys if (key := key_of(row[at])) in known}
        if name and len(students) == 1:
            for key in {name, address_key(row[repository])}:
                by_name[key] = tuple(sorted({*by_name.get(key, ()), *students}))
    if not by_name:
        raise CourseError(f"the roster names nobody of the class list; it was {roster.understood()}")
    return by_name


def address_key(address: str) -> str:
    """What the forms of a repository's address have in common.

    >>> address_key("https://me:secret@g.org/Ada/hw.git"), address_key("git@g.org:ada/hw")
    ('g.org/ada/hw', 'g.org/ada/hw')
    """
    location = address.strip().rstrip("/").removesuffix(".git").rpartition("//")[2].rpartition("@")[2]
    return key_of(location.replace(":", "/"))
