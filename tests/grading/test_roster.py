"""A class list from a table goes into the gradebook, whatever program wrote it."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from paper_class import in_class

from softlookup_command.commands import main
from softlookup_grader import Course, CourseError
from softlookup_grader.data.tables import Table
from softlookup_grader.platforms.roster import enter, read_roster

ADA = {"last_name": "Lovelace", "first_name": "Ada", "email": "ada@example.org", "lms_user_id": "7101"}


@pytest.mark.parametrize(
    "text",
    [
        "id,last_name,first_name,email,lms_user_id\nada,Lovelace,Ada,ada@example.org,7101\n",
        "Nachname;Vorname;ID-Nummer;E-Mail-Adresse;lms_user_id\nLovelace;Ada;ada;ada@example.org;7101\n",
        "Prénom,Nom,Numéro étudiant,Adresse de courriel,LMS ID\nAda,Lovelace,ada,ada@example.org,7101\n",
        "Username,Given name,Surname,Email address,Moodle user id\nada,Ada,Lovelace,ada@example.org,7101\n",
    ],
)
def test_titles_in_other_languages_are_known(text: str) -> None:
    assert read_roster(Table(text)).students == {"ada": ADA}


def test_rows_that_cannot_be_used_are_named_and_the_others_are_read() -> None:
    roster = read_roster(Table("id,email,Gruppe\nada,a@x.org,1\n,b@x.org,1\na*,c@x.org,1\nAda,d@x.org,1\n"))
    assert set(roster.students) == {"ada"} and "not used: 'Gruppe'" in roster.understood
    assert [note.partition(" was left out: ")[0] for note in roster.notes] == ["row 3", "row 4", "row 5"]
    assert "has no id" in roster.notes[0] and "'*'" in roster.notes[1] and "stands in an earlier row" in roster.notes[2]


def test_an_id_of_the_gradebook_in_another_spelling_is_left_out() -> None:
    roster = read_roster(Table("id\nAda\nben\nzoe\n"), before=["ada", "ben"])
    assert set(roster.students) == {"ben", "zoe"}
    assert roster.notes == (
        "row 2 was left out: 'Ada' is the gradebook's 'ada' in another spelling: write the id as it stands there",
    )
    assert set(read_roster(Table("id\nada\n"), before=["ada", "Ada"]).students) == {"ada"}


@pytest.mark.parametrize(("title", "says"), [("lms_user_id", "lms_user_id"), ("email", "e-mail address")])
def test_two_with_the_same_number_or_address_are_named(title: str, says: str) -> None:
    roster = read_roster(Table(f"id,{title}\nada,X@x.org\nben,x@X.org\nchen,\nzoe,\n"))
    assert len(roster.students) == 4
    assert roster.notes == (f"row 3: 'ada' and 'ben' have the same {says}, which finds neither: correct the list",)


TITLES = "Matrikel Matrikel-Nr. Benutzername Kennung Nutzername Login uid identifiant usuario логин 学号".split()
TITLES += ["Student ID", "SIS ID", "SIS User ID", "nom d'utilisateur", "número de matrícula"]


def test_usual_titles_of_ids_are_known() -> None:
    for title in TITLES:
        assert set(read_roster(Table(f"{title};Vorname\nada;Ada\n")).students) == {"ada"}, title


def test_ids_that_a_spreadsheet_rounded_are_refused_with_the_cure() -> None:
    for cell in ("1,23E+06", "1.23E+06", "1E+06", "1,2345e+11"):
        roster = read_roster(Table(f"Matrikel;lms_user_id\n{cell};1\nada;{cell}\n"))
        assert roster.students == {"ada": {}}
        assert "row 2 was left out" in roster.notes[0] and "format the column as text" in roster.notes[0]
        assert "the lms_user_id" in roster.notes[1] and cell in roster.notes[1]


def test_ids_that_differ_in_zeros_at_the_front_are_named() -> None:
    roster = read_roster(Table("id\n123\n00123\n0124\n"))
    assert len(roster.notes) == 1 and roster.notes[0].startswith("00123 and 123 differ in zeros")
    (note,) = read_roster(Table("id\n456\n"), before=["00456", "7", "007"]).notes
    assert note.startswith("00456 and 456 differ")


def test_ids_that_are_shorter_than_the_others_are_named() -> None:
    (note,) = read_roster(Table("id\n1234567\n2345678\n3456789\n45678\n")).notes
    assert note.startswith("1 of 4 ids has fewer digits than the 7 of the others (45678)")
    whole = ("1234567", "2345678", "0034567"), ("1234567", "12345", "123"), ("123", "123456", "4567890"), ("ada", "bo")
    for ids in whole:
        assert read_roster(Table("id\n" + "\n".join(ids) + "\n")).notes == ()


def test_a_column_of_ids_that_is_not_known_is_asked_for() -> None:
    text = "Kürzel;Vorname\nada;Ada\n"
    with pytest.raises(CourseError, match="no column that is known to hold ids.*'Kürzel', 'Vorname'.*--id"):
        read_roster(Table(text))
    assert read_roster(Table(text), "Kürzel").students == {"ada": {"first_name": "Ada"}}
    with pytest.raises(CourseError, match="nobody in the class list has an id"):
        read_roster(Table("id,email\na*,a@x.org\n"))


def test_students_are_entered_and_an_empty_cell_takes_nothing_away(paper: Course) -> None:
    in_class(paper, "ben", email="ben@example.org")
    assert enter(paper, {"ada": ADA, "ben": {"first_name": "Ben"}}) == ["ada"]
    with paper.gradebook() as book:
        ada, ben = (book.find_student(name) for name in ("ada", "ben"))
        assert {key: getattr(ada, key) for key in ADA} == ADA
        assert (ben.first_name, ben.email) == ("Ben", "ben@example.org")


def test_the_command_says_how_it_read_the_table_before_it_writes(paper: Course, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("\ufeffid;last_name;email\nada;Lovelace;\nben;;\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["students", str(tmp_path / "class.csv"), "--course", str(paper.root)])
    assert done.exit_code == 0, done.output
    assert "separated by semicolons: 'id' is the id; 'last_name' is the last name" in done.output
    assert done.output.endswith("entered students: 2, new ones: 2\n")
