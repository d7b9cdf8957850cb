"""CSV files: what goes in, what comes back, and what is said about those who do not fit."""

import csv
import io

import pytest
from paper_class import CELLS, enter, full, in_class, record, write_report
from small_class import NAME

from softlookup_grader import CourseError, Record
from softlookup_grader.course.grade_sheet import CellGrade, SheetRow, read_sheet
from softlookup_grader.data.tables import Table, amount, read_table
from softlookup_grader.platforms import exports
from softlookup_grader.platforms.cells import guarded
from softlookup_grader.platforms.exports import Export, plain_table
from softlookup_grader.platforms.lms_sheet import Options
from softlookup_grader.platforms.worksheet import WORKSHEET
from softlookup_grader.reports.class_report import read_report

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Warm-up (11),04_one_head (12),Current Score\r\n"
    ",,,,,,Manual Posting,\r\n"
    "    Points Possible,,,,,5,30,(read only)\r\n"
    '"Lovelace, Ada",101,U1,ada,A,5,,50\r\n'
    '"O""Neil, =Bo",102,bo,b.oneil,A,4,3,40\r\n'
    '"Wang\n, 小明",103,U3,xiaoming@example.org,B,3,,30\r\n'
    '"Student, Test",104,,,A,,,\r\n'
)
MOODLE = (
    '\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 7","Ada Lovelace",ada,ada@example.org,"Submitted for grading",,30.00,Yes,-,-,"=keep, ""this"""\n'
    '"Participant 8","Bo O\'Neil",,b.oneil@example.org,"Submitted for grading",3.00,30.00,No,-,-,\n'
    '"Participant 9","小明 Wang",,xiaoming@example.org,"No submission",,30.00,Yes,-,-,\n'
    '"Participant 10","Zoë",,,"No submission",,30.00,Yes,-,-,\n'
)


def line(student: str, score: float, status: str = "graded", waiting: bool = False, **who: str) -> SheetRow:
    names = {"last_name": "", "first_name": "", "email": "", "lms_user_id": "", **who}
    return SheetRow(student, *names.values(), status, score, 0.0, 30.0, {"x": CellGrade(score, 30.0, None, waiting)})


CLASS = [
    line("ada", 21.5),
    line("bo", 7, email="B.ONeil@example.org"),
    line("x77", 30, email="xiaoming@example.org", lms_user_id="9"),
    line("late", 0, "missing"),
]


def fill_canvas(text: str, lines: list[SheetRow], name: str, options: Options | None = None) -> Export:
    return exports.fill_canvas(Table(text, "gradebook that Canvas exports"), lines, name, options)


def fill_moodle(text: str, lines: list[SheetRow], options: Options | None = None) -> Export:
    return exports.fill_moodle(Table(text, WORKSHEET), lines, options)


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_canvas_gets_one_column_and_nothing_else_changes():
    done = fill_canvas(CANVAS, CLASS, NAME)
    before, after = rows(CANVAS), rows(done.text)
    assert [row[6] for row in after] == ["04_one_head (12)", "Manual Posting", "30", "21.5", "7", "30", ""]
    assert [row[:6] + row[7:] for row in after] == [row[:6] + row[7:] for row in before]
    assert done.written == 3 and done.text.count("\r\n") == CANVAS.count("\r\n")
    assert any("in the file from Canvas, but not in this class: Student, Test 104" in note for note in done.notes)
    assert any("in this class, but not in the file: late" in note for note in done.notes)


def test_canvas_in_another_layout_is_read_too():
    text = CANVAS.replace('"Student, Test",104,,,A,,,\r\n', "").replace(",", ";").replace('"Lovelace; Ada"', "Lovelace")
    done = fill_canvas(text, CLASS, NAME)
    assert "Lovelace;101;U1;ada;A;5;21.5;50" in done.text
    named = CANVAS.replace("04_one_head (12)", '"One head, at last (12)"')
    assert rows(fill_canvas(named, CLASS, NAME, Options(column="One head, at last")).text)[3][6] == "21.5"


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("name,grade\nada,3\n", Options(), "wanted the columns Student, ID, got 'name', 'grade'"),
        ("", Options(), "it is empty"),
        (CANVAS.replace("04_one", "05_two"), Options(), r"has no column for 04_one_head \(its assignments: 'Warm-up"),
        (CANVAS.replace("Warm-up", "04 One Head"), Options(), "has several columns for 04_one_head"),
        (CANVAS, Options(column="Current Score"), "Canvas computes the column 'Current Score' itself"),
        (CANVAS, Options(match="Nickname"), "the file has no column 'Nickname'"),
    ],
)
def test_a_canvas_file_that_does_not_fit_is_one_sentence(text, options, says):
    with pytest.raises(CourseError, match=says):
        fill_canvas(text, CLASS, NAME, options)


def test_moodle_gets_grades_by_id_number_and_email():
    done = fill_moodle(MOODLE, CLASS)
    before, after = rows(MOODLE), rows(done.text)
    assert [row[5] for row in after] == ["Grade", "21.5", "7", "30", ""]
    assert [row[:5] + row[6:] for row in after] == [row[:5] + row[6:] for row in before]
    assert done.text.startswith("\ufeff") and "\r" not in done.text
    assert any("grades that are locked there: 1;" in note for note in done.notes)
    assert any("not in this class: Participant 10 Zoë" in note for note in done.notes)


def test_moodle_without_its_columns_is_one_sentence():
    with pytest.raises(
        CourseError, match="not a grading worksheet that Moodle gives: wanted a column of participant numbers"
    ):
        fill_moodle(CANVAS, CLASS)
    german = MOODLE.replace("Grade,", "Bewertung,", 1)
    assert rows(fill_moodle(german, CLASS, Options(column="Bewertung")).text)[1][5] == "21.5"


def test_grades_above_their_maximum_are_told_or_scaled():
    small = MOODLE.replace("30.00", "10,00".replace(",", "."))
    unscaled = fill_moodle(small, CLASS)
    assert any("; Moodle ignores them (--scale scales all" in note for note in unscaled.notes)
    scaled = fill_moodle(small, CLASS, Options(scale=True))
    assert [row[5] for row in rows(scaled.text)[1:4]] == ["7.1667", "2.3333", "10"]
    assert not any("above" in note for note in scaled.notes)


def test_who_handed_in_nothing_keeps_the_cell_unless_zeros_are_wanted():
    absent = [line("ada", 0, "missing"), *CLASS[1:3]]
    text = MOODLE.replace('grading",,', 'grading",12,', 1)
    worksheet = fill_moodle(text, absent)
    assert rows(worksheet.text)[1][5] == "12" and any("handed in nothing: 1;" in note for note in worksheet.notes)
    assert rows(fill_moodle(text, absent, Options(zeros=True)).text)[1][5] == "0"


@pytest.mark.parametrize(
    ("text", "people", "grades"),
    [
        (MOODLE.replace('小明 Wang",,', 'Mallory",ada,'), CLASS, ["", "7", "", ""]),
        (
            MOODLE.replace(",ada,ada@example.org,", ",7,,"),
            [line("ada", 20, lms_user_id="7"), line("bob", 10, lms_user_id="7"), CLASS[1]],
            ["", "7", "", ""],
        ),
        (
            MOODLE.replace("b.oneil@example.org", "ada@example.org"),
            [line("ada", 20, email="ada@example.org")],
            ["20", "3.00", "", ""],
        ),
    ],
    ids=["two rows of one student", "two students of one id", "the id is surer than the email"],
)
def test_a_row_that_fits_no_student_for_sure_gets_no_grade(text, people, grades):
    done = fill_moodle(text, people)
    assert [row[5] for row in rows(done.text)[1:]] == grades
    twice = any("ada matches two rows" in note and "no grade was written" in note for note in done.notes)
    assert twice == ("Mallory" in text)


def test_a_participant_number_is_no_id_of_a_student():
    """Moodle numbers participants anew in each assignment: whoever was number 10 in another one gets nothing here."""
    with pytest.raises(CourseError, match="nobody in the file is known in this class.*--match"):
        fill_moodle(MOODLE, [line("zed", 30, lms_user_id="10"), line("8", 30)])
    with pytest.raises(CourseError, match="numbers participants anew for each assignment"):
        fill_moodle(MOODLE, CLASS, Options(match="identifier"))


FORMULAS = {
    "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
    "+1": "'+1",
    "-1": "'-1",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\t'=1",
    "\r=1": "'\N{REPLACEMENT CHARACTER}'=1",
    "  =1": "'  =1",
    "\uff1d1": "'\uff1d1",
    "\u22121": "'\u22121",
    "ada; @x": "ada;' @x",
    "ada;'=1": "ada;''=1",
    "ada|\uff20x": "ada|'\uff20x",
    "\x1b[2J=1": "\N{REPLACEMENT CHARACTER}[2J=1",
    "a\u202eb": "a\u27e8U+202E\u27e9b",
}


@pytest.mark.parametrize(("text", "expected"), FORMULAS.items())
def test_no_cell_of_a_students_is_a_formula(text, expected):
    assert guarded(text) == expected
    table = rows(plain_table([line(text, 3, last_name=text)]).text)
    assert table[1][:2] == [expected, expected]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "\n", "\r", '"', ';"', '\t "'])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONE])
def test_no_cell_begins_a_formula_wherever_a_spreadsheet_splits(separator, quoting):
    """Whatever separator a country's spreadsheet takes, and whether it heeds quotes or not."""
    named = [line(f"ada{separator}{sign}1+1", 3, first_name=f"{sign}1") for sign in "=+-@\uff1d\u2212"]
    text = plain_table(named).text.removeprefix("\ufeff")
    for delimiter in ",;\t|":
        for row in csv.reader(io.StringIO(text), delimiter=delimiter, quoting=quoting):
            for cell in row:
                assert not cell.lstrip(' "').startswith(tuple("=+-@\uff1d\u2212")), (delimiter, row)


def test_a_platforms_formulas_go_back_as_they_came_and_are_told():
    done = fill_moodle(MOODLE, CLASS)
    assert rows(done.text)[1][10] == '=keep, "this"'
    assert any("may take for formulas: 1; they were left unchanged" in note for note in done.notes)
    plainly = fill_moodle(MOODLE.replace("=keep", "keep"), CLASS)
    assert not any("formulas" in note for note in plainly.notes), "numbers and dashes are none"


def test_a_carriage_return_in_a_platforms_cell_ends_no_row():
    text = MOODLE.replace('"=keep, ""this"""', '"well\rdone"')
    done = fill_moodle(text, CLASS)
    assert rows(done.text)[1][10] == "well\rdone" and len(rows(done.text)) == len(rows(MOODLE))
    assert [row[5] for row in rows(done.text)] == ["Grade", "21.5", "7", "30", ""]


def test_ordinary_names_and_numbers_stay_as_they_are():
    names = ["O'Neil, Bo", 'the "great"', "小明", "a\nb", "x=1", "a-b", ""]
    table = rows(plain_table([line("s", -0.5, last_name=name) for name in names]).text)
    assert [row[1] for row in table[1:]] == names
    assert table[1][5] == "-0.5" and float(table[1][7]) == 0
    assert [amount(n) for n in (0, 10, 1 / 3, 100.0)] == ["0", "10", "0.3333", "100"]


def test_the_plain_table_holds_what_the_gradebook_holds(paper):
    enter(paper, "ada", full(scale=1), penalty=4, written=2.5, last_name="Lovelace, Ada", email="ada@example.org")
    enter(paper, "bo", full())
    in_class(paper, "=zoë", first_name="Zoë")
    write_report(paper, record("ada", full(scale=1)), record("bo", full()))
    sheet = read_sheet(paper, NAME, read_report(paper.root / "reports" / f"{NAME}.json"))
    done = plain_table(sheet)
    table = {row["student"]: row for row in csv.DictReader(io.StringIO(done.text.removeprefix("\ufeff")))}
    best = sum(full().values()) + 3
    ada = table["ada"]
    assert (float(ada["raw_score"]), float(ada["score"])) == (best - 1.5, best - 5.5)
    assert (float(ada["late_submission_penalty"]), float(ada["max_score"])) == (4, best)
    assert float(ada["04.scale"]) == full()["04-scale-check"] - 1 and ada["04.uniform"] == "2.5"
    assert ada["last_name"] == "Lovelace, Ada" and ada["status"] == "graded"
    unread = "1 students have written answers that nobody has read yet: their points are not in it"
    assert table["bo"]["04.uniform"] == "" and done.notes == (unread,)
    assert table["'=zoë"]["status"] == "missing" and table["'=zoë"]["04.scale"] == ""
    cells = list(next(row for row in sheet if row.student == "bo").cells)
    assert [name for name in cells if name in CELLS] == CELLS, "in the order of the notebook"
    assert list(ada)[9:] == [cell.removesuffix("-check").replace("-", ".", 1) for cell in cells]


def test_a_table_with_decimal_commas_has_semicolons():
    text = plain_table([line("bo", 11.1)], ",").text.removeprefix("\ufeff")
    (row,) = csv.DictReader(io.StringIO(text), delimiter=";")
    assert (row["student"], row["score"], row["max_score"], row["x"]) == ("bo", "11,1", "30", "11,1")


def test_scores_are_those_of_nbgraders_own_export(paper):
    from nbgrader.plugins import CsvExportPlugin

    enter(paper, "ada", full(scale=1), penalty=4, written=2.5)
    enter(paper, "bo", full(mix=1))
    enter(paper, "late", full(), penalty=500)
    with paper.gradebook() as book:
        book.find_grade("04-mix-check", NAME, NAME, "bo").extra_credit = 0.5
        book.db.commit()
        plugin = CsvExportPlugin()
        plugin.to = str(paper.root / "stock.csv")
        plugin.export(book)
    with open(paper.root / "stock.csv") as file:
        stock = {row["student_id"]: row for row in csv.DictReader(file)}
    for sheet_row in read_sheet(paper, NAME):
        stock_row = stock[sheet_row.student]
        numbers = [float(stock_row[name]) for name in ("raw_score", "score", "late_submission_penalty", "max_score")]
        assert [sheet_row.raw, sheet_row.score, sheet_row.penalty, sheet_row.max] == numbers
    assert len(stock) == 3


def test_a_refused_submission_waits_for_nobody(paper):
    enter(paper, "ada", {})
    write_report(paper, Record("ada", "refused", 0, 30, reason="is empty"))
    sheet = read_sheet(paper, NAME, read_report(paper.root / "reports" / f"{NAME}.json"))
    assert sheet[0].status == "refused" and sheet[0].waiting == 0
    assert read_sheet(paper, NAME)[0].waiting == 1


GERMAN = (
    '\ufeffID;"Vollständiger Name";E-Mail-Adresse;Status;Bewertung;Bestwertung;"Bewertung kann geändert werden";'
    '"Zuletzt geändert (Abgabe)";Feedback\r\n'
    'Teilnehmer/in7;"Lovelace, Ada";ada@example.org;Abgegeben;;30,00;Ja;"Dienstag, 1. Dezember 2026, 18:00";gut\r\n'
    "Teilnehmer/in8;Bo O'Neil;b.oneil@example.org;Abgegeben;3,00;30,00;Nein;-;\r\n"
    "Teilnehmer/in9;小明 Wang;xiaoming@example.org;;;30,00;Ja;-;\r\n"
)
SPANISH = (
    "Identificador\tNombre completo\tNúmero de ID\tEstatus\tCalificación\tCalificación máxima\tPuede cambiarse\n"
    "Participante 7\tAda\tada\tEnviado\t\t30,00\tSí\n"
    "Participante 8\tBo\tbo\tEnviado\t\t30,00\tSí\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_worksheet_in_another_language_goes_back_as_it_came(tmp_path, encoding):
    (tmp_path / "w.csv").write_bytes(GERMAN.encode(encoding))
    people = [line("ada", 21.5, email="ada@example.org"), *CLASS[1:3]]
    done = exports.fill_moodle(read_table(tmp_path / "w.csv", WORKSHEET), people)
    done.write(tmp_path / "out.csv")
    lines = GERMAN.split("\r\n")
    for at, score in ((1, "21,5"), (2, "7"), (3, "30")):
        cells = lines[at].split(";")
        lines[at] = ";".join([*cells[:4], score, *cells[5:]])
    got = (tmp_path / "out.csv").read_bytes().decode(encoding)
    assert got.replace('"', "") == "\r\n".join(lines).replace('"', "")
    assert "'Bewertung' is the grade; 'Bestwertung' is the maximum" in done.understood
    assert f"in {encoding}, separated by semicolons, decimal comma" in done.understood
    assert "not used: " in done.understood
    assert any("'Bewertung kann geändert werden' says 'ja' 2 times, 'nein' 1 times" in note for note in done.notes)


def test_a_worksheet_in_a_windows_encoding_is_read_by_the_ids_in_it(tmp_path):
    (tmp_path / "w.csv").write_bytes(SPANISH.encode("cp1252"))
    done = exports.fill_moodle(read_table(tmp_path / "w.csv", WORKSHEET), CLASS)
    assert not any("locked" in note for note in done.notes)
    assert done.text == SPANISH.replace("Enviado\t\t", "Enviado\t21,5\t", 1).replace("Enviado\t\t", "Enviado\t7\t", 1)
    done.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == done.text.encode("cp1252")


def test_a_column_of_grades_that_cannot_be_told_is_asked_for():
    scale = SPANISH.replace("30,00", "Bien")
    with pytest.raises(CourseError, match="no column of the worksheet is surely that of the grades.*--column"):
        fill_moodle(scale, CLASS)
    assert "\t21.5\tBien" in fill_moodle(scale, CLASS, Options(column="Calificación")).text
