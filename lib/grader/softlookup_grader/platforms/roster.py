"""A class list from a table: a form's, a spreadsheet's, or what a learning platform gives of its participants."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from softlookup_grader.course.folder import Course
from softlookup_grader.course.student_ids import id_trouble, quoted_id
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.tables import Table, are_addresses, key_of

TITLES = {
    meaning: tuple(titles.split(", "))
    for meaning, titles in {
        "id": "id, student_id, student, username, user name, login, SIS Login ID, SIS ID, SIS user ID, ID number, "
        "identifier, login id, uid, user id, account, campus id, matriculation number, Matrikelnummer, Matrikel-Nr., "
        "Matr.-Nr., Matrikel, ID-Nummer, Benutzername, Benutzerkennung, Kennung, Nutzername, Nutzerkennung, "
        "Anmeldename, numéro étudiant, numéro d'étudiant, identifiant, nom d'utilisateur, número de identificación, "
        "número de estudiante, nombre de usuario, usuario, matricola, numero di matricola, nome utente, "
        "número de matrícula, número de estudante, nome de usuário, nome de utilizador, "
        "studentnummer, gebruikersnaam, användarnamn, numer albumu, nazwa użytkownika, osobní číslo, "
        "uživatelské jméno, логин, имя пользователя, "
        "номер студенческого билета, логін, ім'я користувача, номер студентського квитка, 学号, 学籍番号, 用户名",
        "last_name": "last_name, surname, family name, Nachname, nom, nom de famille, apellidos, apellido(s), cognome, "
        "sobrenome, apelido, achternaam, efternamn, nazwisko, příjmení, фамилия, прізвище, 姓",
        "first_name": "first_name, given name, forename, Vorname, prénom, nombre, nome, voornaam, förnamn, imię, "
        "jméno, имя, ім'я, 名",
        "lms_user_id": "lms_user_id, lms id, Canvas user id, Moodle user id",
        "email": "email, email address, e-mail",
    }.items()
}
"""What nbgrader's gradebook keeps of a student, and usual titles of its column, the surest first."""


_ROUNDED = re.compile(r"\d+(?:[.,]\d+)?[eE]\+\d+")  # a long number as a spreadsheet shows it: its last digits are gone
_CURE = "format the column as text in the spreadsheet, and export the list again"


@dataclass(frozen=True)
class Roster:
    """A class list that was read."""

    students: Mapping[str, Mapping[str, str]]  # what is known of each student, by id
    notes: tuple[str, ...]  # one sentence for each row that was left out, and why, and for what else looks wrong
    understood: str  # how the table was read, one sentence


def read_roster(table: Table, ids: str | None = None, before: Collection[str] = ()) -> Roster:
    """Read a class list: ids; names, e-mail address and lms_user_id where they are there. Nothing is written."""
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
    spelt, notes = set[str](), list[str]()
    entered = {key_of(name): name for name in before}
    holders: dict[str, str] = {}
    for row_number, row in enumerate(table.rows, 2):
        known = {meaning: cell for meaning, at in columns.items() if (cell := row[at].strip())}
        name = known.pop("id", "")
        why = id_trouble(name) if name else "it has no id"
        if not why and key_of(name) in spelt:
            why = f"the id {quoted_id(name)} stands in an earlier row"
        if not why and name not in before and (same := entered.get(key_of(name))):
            both = f"{quoted_id(name)} is the gradebook's {quoted_id(same)}"
            why = f"{both} in another spelling: write the id as it stands there"
        if not why and _ROUNDED.fullmatch(name):
            why = f"{quoted_id(name)} is a number that a spreadsheet rounded: {_CURE}"
        if why:
            notes.append(f"row {row_number} was left out: {why}")
            continue
        if _ROUNDED.fullmatch(known.get("lms_user_id", "")):
            lost = quoted_id(known.pop("lms_user_id"))
            notes.append(
                f"row {row_number}: the lms_user_id {lost} was left out, since a spreadsheet rounded it: {_CURE}"
            )
        for meaning, says in (("lms_user_id", "lms_user_id"), ("email", "e-mail address")):
            if meaning in known and (holder := holders.setdefault(key_of(known[meaning]), name)) != name:
                both = f"{quoted_id(holder)} and {quoted_id(name)}"
                notes.append(f"row {row_number}: {both} have the same {says}, which finds neither: correct the list")
        spelt.add(key_of(name))
        students[name] = known
    if not students:
        raise CourseError(f"nobody in the class list has an id. It was {table.understood()}. {'; '.join(notes[:3])}")
    return Roster(students, (*notes, *lost_zeros(students, before)), table.understood())


def lost_zeros(ids: Collection[str], before: Collection[str] = ()) -> Iterator[str]:
    """Say which ids of a class list look as if a spreadsheet had taken zeros off their front."""
    numbers: dict[str, list[str]] = {}
    for name in sorted({*ids, *before}):
        if name.isdecimal():
            numbers.setdefault(name.lstrip("0"), []).append(name)
    for alike in numbers.values():
        if len(alike) > 1 and any(name in ids for name in alike):
            yield (
                f"{' and '.join(alike)} differ in zeros at the front alone: if that is one student, {_CURE}, and take "
                "the wrong one out with 'softlookup forget'"
            )
    lengths = Counter(len(name) for name in ids if name.isdecimal())
    usual, count = max(lengths.items(), key=lambda pair: pair[1], default=(0, 0))
    short = sorted(name for name in ids if name.isdecimal() and len(name) < usual)
    whole = not any(name.startswith("0") for name in ids) and max(lengths, default=0) == usual
    if short and whole and count > 2 and 2 * count > lengths.total():
        names = ", ".join(short[:5]) + (f" and {len(short) - 5} more" if len(short) > 5 else "")
        has = "has" if len(short) == 1 else "have"
        yield (
            f"{len(short)} of {lengths.total()} ids {has} fewer digits than the {usual} "
            f"of the others ({names}): if zeros are missing at the front, {_CURE}"
        )


def enter(course: Course, students: Mapping[str, Mapping[str, str]]) -> Sequence[str]:
    """Enter students into the gradebook, by id, and give the ids of those who are new."""
    with course.one_writer(), course.gradebook() as book:
        before = {student.id for student in book.students}
        for student, known in students.items():
            book.update_or_create_student(student, **known)
    return [student for student in students if student not in before]
