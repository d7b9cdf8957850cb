"""A class list from a table: a form's, a spreadsheet's, or what a learning platform gives of its participants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from softlookup.grading.course.folder import Course
from softlookup.grading.course.student_ids import id_trouble, shown
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.tables import Table, are_addresses

TITLES = {
    meaning: tuple(titles.split(", "))
    for meaning, titles in {
        "id": "id, student_id, student, username, user name, login, SIS Login ID, ID number, identifier, "
        "matriculation number, Matrikelnummer, ID-Nummer, numéro étudiant, número de identificación, matricola",
        "last_name": "last_name, surname, family name, Nachname, nom, nom de famille, apellidos, apellido(s), cognome, "
        "sobrenome, apelido, achternaam, efternamn, nazwisko, příjmení, фамилия, прізвище, 姓",
        "first_name": "first_name, given name, forename, Vorname, prénom, nombre, nome, voornaam, förnamn, imię, "
        "jméno, имя, ім'я, 名",
        "lms_user_id": "lms_user_id, lms id, Canvas user id, Moodle user id",
        "email": "email, email address, e-mail",
    }.items()
}
"""What nbgrader's gradebook keeps of a student, and usual titles of its column, the surest first."""


@dataclass(frozen=True)
class Roster:
    """A class list that was read.

    Attributes:
        students: What is known of each student, by id.
        notes: One sentence for each row that was left out, and why.
        understood: How the table was read, one sentence.
    """

    students: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]
    understood: str


def read_roster(table: Table, ids: str | None = None) -> Roster:
    """Read a class list; nothing is written.

    Args:
        table: A column of ids; names, e-mail address and lms_user_id where they are there.
        ids: The title of the column of ids, if it is not a usual one.

    Raises:
        CourseError: If there is no such column, or no id in it can be used.
    """
    columns: dict[str, int] = {}
    if ids:
        columns["id"] = table.mean(table.column(ids), "id")
    for meaning, titles in TITLES.items():
        like = are_addresses if meaning == "email" else None
        if meaning not in columns and (at := table.take(meaning.replace("_", " "), *titles, like=like)) is not None:
            columns[meaning] = at
    if "id" not in columns:
        raise CourseError(
            f"the class list has no column that is known to hold ids, such as {', '.join(TITLES['id'][:4])} (it has: "
            f"{table.titles()}): name the column with --id"
        )
    students: dict[str, dict[str, str]] = {}
    spelt, notes = set[str](), []
    for number, row in enumerate(table.rows, 2):
        known = {meaning: cell for meaning, at in columns.items() if (cell := row[at].strip())}
        name = known.pop("id", "")
        why = id_trouble(name) if name else "it has no id"
        if not why and name.casefold() in spelt:
            why = f"the id {shown(name)} stands in an earlier row"
        if why:
            notes.append(f"row {number} was left out: {why}")
        else:
            spelt.add(name.casefold())
            students[name] = known
    if not students:
        raise CourseError(f"nobody in the class list has an id. It was {table.understood()}. {'; '.join(notes[:3])}")
    return Roster(students, tuple(notes), table.understood())


def enter(course: Course, students: Mapping[str, Mapping[str, str]]) -> Sequence[str]:
    """Enter students into the gradebook; what is known of somebody and stands in no cell stays.

    Args:
        course: The course's folder.
        students: What is known of each student, by id.

    Returns:
        Ids of those who are new.
    """
    with course.one_writer(), course.gradebook() as book:
        before = {student.id for student in book.students}
        for student, known in students.items():
            book.update_or_create_student(student, **known)
    return [student for student in students if student not in before]
