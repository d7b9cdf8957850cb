"""Groups: whose notebook counts for whom, one verdict for all of them, and nothing guessed."""

import json
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from fake_grader import SecondExaminer, Seen, here
from paper_class import in_class
from small_class import NAME, ROOT, lay

from softlookup_grader import Course, CourseError, Report, new_course
from softlookup_grader.course.arrived import UNREADABLE, Arrival, Arrivals
from softlookup_grader.course.by_hand import share_out
from softlookup_grader.course.collected import Standing, keep, summary
from softlookup_grader.course.deadlines import extend, set_due
from softlookup_grader.course.groups import FILE, names_in, set_table, sharing, tables
from softlookup_grader.course.personal import bind, own_release, personal_folder
from softlookup_grader.course.terms import Extension
from softlookup_grader.data.tables import Table
from softlookup_grader.data.work import Graded, RunSettings, digest_of, parted
from softlookup_grader.forgetting import forget, kept_of
from softlookup_grader.platforms.group_table import read_groups
from softlookup_grader.reports.class_report import class_report, read_report
from softlookup_grader.reports.class_table import report_text
from softlookup_grader.reports.explained_text import explanation_text
from softlookup_grader.reports.explaining import explain, last_graded
from softlookup_grader.reports.table import as_text
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest, Watcher

CLASS = ("ada", "ben", "carl", "dora")


@pytest.fixture(scope="module")
def released(tmp_path_factory, short):
    course = new_course(tmp_path_factory.mktemp("groups") / "course", ROOT / "nbgrader_config.py")
    course.release({NAME: short})
    for student in CLASS:
        in_class(course, student)
    return course


@pytest.fixture
def course(released, tmp_path):
    """A course with a class of four, of whom nobody has handed in."""
    return Course.at(Path(shutil.copytree(released.root, tmp_path / "course")))


def hand_in(course: Course, student: str, line: str = "", answer: str = "", cell: str = "markdown") -> Path:
    """Hand in the release, with a line in front and an answer."""
    notebook = nbformat.read(course.notebook("release", ".", NAME), as_version=4)
    if line:
        make = nbformat.v4.new_code_cell if cell == "code" else nbformat.v4.new_markdown_cell
        notebook.cells.insert(0, make(line, id="line"))
    solution = next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "04-mix")
    solution.source += answer
    return lay(course.notebook("submitted", student, NAME), notebook)


def stamp(course: Course, student: str, when: str) -> None:
    (course.folder("submitted", student, NAME) / "timestamp.txt").write_text(when)


def grade(course: Course, watch: Watcher | None = None, **options: object) -> Report:
    request = GradeRequest(NAME, **{"feedback": False, "seed": 5, **options})
    executor = here(calls=course.root / "calls")
    return grade_assignment(course, request, executor=executor, watch=watch)


def calls(course: Course) -> list[str]:
    """Who was run since this was asked last."""
    path = course.root / "calls"
    names = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return names


def points(report: Report) -> dict[str, float | None]:
    return {record.student: record.grade for record in report.records}


@pytest.mark.parametrize(
    ("line", "cell", "names"),
    [
        ("Group: ada, ben", "markdown", ["ada", "ben"]),
        ("**Group:** ada and ben", "markdown", ["ada", "ben"]),
        ("# Title\n\n* handed in by: `ada`; ben & carl.", "markdown", ["`ada`", "ben", "carl."]),
        ("# Group: ada, ben\nimport torch", "code", ["ada", "ben"]),
        ("group: list[str] = []", "code", []),
        ("A group: as in algebra\nGroup:", "markdown", []),
        ("Subgroup: ada", "markdown", []),
    ],
)
def test_names_in_reads_a_line_and_no_code(course, line, cell, names):
    assert names_in(hand_in(course, "ada", line, cell=cell).read_bytes()) == names


def test_names_in_reads_the_first_cells_alone():
    cells = [{"cell_type": "markdown", "source": ["Group: ", f"student{at}\n"], "metadata": {}} for at in range(7)]
    raw = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()
    assert names_in(raw) == [f"student{at}" for at in range(5)]


def test_a_line_counts_for_whom_it_names_and_who_has_neither_a_notebook_nor_a_table(course):
    hand_in(course, "ada", "Group: Ben, ada, `carl`, nobody")
    shared = sharing(course, NAME)
    assert shared.groups == (("ada", "ben", "carl"),)
    assert shared.remarks == {"ada": ("A line of the notebook names 'nobody', who is not in the class.",)}
    hand_in(course, "ben", answer="\n# my own")
    shared = sharing(course, NAME)
    assert shared.groups == (("ada", "carl"),), "a line changes nothing for who has an own notebook"
    assert any("ben, who handed in another notebook" in sentence for sentence in shared.remarks["ada"])
    set_table(course, NAME, [("ben", "carl")])
    hand_in(course, "ada", "Group: ada, ben, dora")
    shared = sharing(course, NAME)
    assert shared.groups == (("ada", "dora"), ("ben", "carl")), "the table counts before a line"
    assert "ben, who is in another group by the table" in shared.remarks["ada"][0]
    hand_in(course, "ada", "Group: dora, " + ", ".join(map(str, range(20))))
    shared = sharing(course, NAME)
    assert shared.groups == (("ben", "carl"),)
    assert shared.remarks["ada"] == ("A line of the notebook names 21 students, too many for a group.",)


@pytest.mark.parametrize("broken", ["file", "record"])
def test_a_damaged_file_of_ones_own_outweighs_a_line_and_no_table(course, broken):
    hand_in(course, "ada", "Group: ada, ben")
    if broken == "file":
        path = hand_in(course, "ben")
        path.write_text(path.read_text()[:300])
    else:
        keep(course, NAME, Arrivals({"ben": Arrival(UNREADABLE, "all.zip", "it is a page of the web")}))
    records = {record.student: record for record in grade(course).records}
    assert sharing(course, NAME).groups == () and records["ben"].grade is None
    assert summary(course, NAME).count(UNREADABLE) == 1
    assert broken == "file" or records["ben"].status == "refused" and "page of the web" in records["ben"].reason
    assert "names ben, whose own file cannot be graded: the line does not count." in records["ada"].remarks[-1]
    set_table(course, NAME, [("ada", "ben")])
    records = {record.student: record for record in grade(course).records}
    assert records["ben"].grade == records["ada"].grade and records["ben"].group == ("ada", "ben")
    why = "is not JSON" if broken == "file" else "it is a page of the web"
    assert "The own file cannot be graded (" in records["ben"].remarks[-1] and why in records["ben"].remarks[-1]
    assert summary(course, NAME).by_student["ben"] == Standing("collected", "with ada")


def test_what_a_person_gives_one_member_counts_for_the_others(course):
    hand_in(course, "ada", "Group: ada, ben, carl")
    grade(course)

    def by_hand(student: str, change: tuple[float, str] | None = None) -> tuple[float, str, bool]:
        with course.gradebook() as book:
            notebook = book.find_submission(NAME, student).notebooks[0]
            row = min(notebook.grades, key=lambda row: (row.cell.cell_type != "markdown", row.name))
            note = min(notebook.comments, key=lambda note: note.name)
            if change:
                row.manual_score, note.manual_comment, row.needs_manual_grade = *change, False
                book.db.commit()
            return row.manual_score, note.manual_comment, row.needs_manual_grade

    by_hand("ben", (3.0, "Why?"))
    report = grade(course)
    assert [by_hand(who) for who in ("ada", "ben", "carl")] == [(3.0, "Why?", False)] * 3
    assert len({points(report)[who] for who in ("ada", "ben", "carl")}) == 1
    by_hand("carl", (2.0, "Why?"))
    seen = Seen()
    grade(course, seen)
    assert [by_hand(who)[0] for who in ("ada", "ben", "carl")] == [3.0, 3.0, 2.0]
    assert any("group ada, ben, carl has different points by hand for 04." in sentence for sentence in seen.sentences)
    assert [share.student for share in share_out(course, NAME, ["ana"])] == ["ada"]


def test_two_notebooks_that_name_the_same_student_leave_it_undecided(course):
    hand_in(course, "ada", "Group: ada, dora")
    hand_in(course, "ben", "Group: ben, dora")
    shared = sharing(course, NAME)
    assert not shared.groups and "ada and ben both name dora" in shared.undecided["dora"]
    record = {r.student: r for r in grade(course).records}["dora"]
    assert record.status == "refused" and "softlookup groups" in record.reason
    set_table(course, NAME, [("ben", "dora")])
    assert points(grade(course))["dora"] == points(grade(course))["ben"]


def test_two_notebooks_of_one_group_are_graded_each_as_their_own(course):
    set_table(course, NAME, [("ada", "ben", "carl")])
    hand_in(course, "ada", answer="\n# one")
    hand_in(course, "ben", answer="\n# two")
    records = {record.student: record for record in grade(course).records}
    assert sorted(calls(course)) == ["ada", "ben"]
    assert records["ada"].status == records["ben"].status == "graded"
    assert all("handed in different notebooks" in " ".join(records[who].remarks) for who in ("ada", "ben"))
    assert records["carl"].status == "refused" and "which counts for carl" in records["carl"].reason
    assert records["carl"].grade is None


def test_one_notebook_is_run_once_and_each_member_has_its_row(course):
    hand_in(course, "ada", "Group: ada, ben, carl")
    report = grade(course)
    assert calls(course) == ["ada"]
    got = points(report)
    assert got["ada"] == got["ben"] == got["carl"] and got["ada"] and got["dora"] is None
    assert [r.group for r in report.records] == [("ada", "ben", "carl")] * 3 + [()]
    texts = [course.notebook("autograded", who, NAME).read_text() for who in ("ada", "ben", "carl")]
    assert texts[0] == texts[1] == texts[2]
    with course.gradebook() as book:
        scores = {row.student.id: row.score for row in book.assignment_submissions(NAME)}
    assert scores == {who: got["ada"] for who in ("ada", "ben", "carl")}
    grade(course)
    assert calls(course) == [], "nothing has changed"


def test_a_member_who_is_added_or_removed_is_graded_with_the_others(course):
    hand_in(course, "ada")
    first = points(grade(course))
    assert first["ben"] is None
    set_table(course, NAME, [("ada", "ben")])
    calls(course)
    assert points(grade(course))["ben"] == first["ada"] and calls(course) == ["ada"]
    set_table(course, NAME, ())
    last = grade(course)
    assert points(last) == first and not course.notebook("autograded", "ben", NAME).exists()
    assert {r.student: r.status for r in last.records}["ben"] == "missing"
    with course.gradebook() as book:
        assert [g.auto_score for g in book.find_submission(NAME, "ben").notebooks[0].grades] == [None] * 6


def test_student_names_a_member_and_all_of_the_group_are_graded(course):
    hand_in(course, "ada", "Group: ben")
    hand_in(course, "dora")
    report = grade(course, students=("ben",))
    assert calls(course) == ["ada"] and set(points(report)) == {"ada", "ben"}
    assert points(report)["ada"] == points(report)["ben"]


def test_the_same_file_in_two_folders_is_one_hand_in_and_another_holder_is_noticed(course):
    for student in ("ada", "ben"):
        hand_in(course, student, "Group: ada, ben, carl")
    assert sharing(course, NAME).groups == (("ada", "ben", "carl"),) and not sharing(course, NAME).remarks
    grade(course)
    shutil.rmtree(course.root / "submitted" / "ada")
    calls(course)
    report = grade(course)
    assert calls(course) == ["ben"] and {r.group for r in report.records if r.group} == {("ben", "ada", "carl")}
    assert last_graded(course, NAME, "ada")[0].given_by == "ben"
    hand_in(course, "ada", "Group: ada, ben, carl")
    set_table(course, NAME, [("ben", "ada")])
    assert sorted(map(sorted, sharing(course, NAME).groups)) == [["ada", "ben", "carl"]]


@pytest.mark.parametrize("lines", [2, 3, 4])
def test_a_kill_between_the_members_is_taken_up_again(course, released, lines):
    """The ledger ends after so many lines, as a kill would leave it."""
    hand_in(course, "ada", "Group: ada, ben, carl")
    whole = points(grade(course))
    ledger = course.root / ".grading" / NAME / "ledger.jsonl"
    text = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(text[:lines]))
    shutil.copy(released.root / "gradebook.db", course.root / "gradebook.db")
    assert points(grade(course)) == whole


def test_each_member_is_late_by_the_own_extension(course):
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write('c.AssignLatePenalties.plugin_class = "softlookup_grader.course.late_rules.PerDay"\n')
    course = Course.at(course.root)
    hand_in(course, "ada", "Group: ada, ben")
    stamp(course, "ada", "2026-03-03 12:00:00 UTC")
    set_due(course, NAME, datetime(2026, 3, 1, 12))
    extend(course, NAME, "ben", Extension(days=3))
    records = {record.student: record for record in grade(course).records}
    assert records["ada"].score == records["ben"].score > 0
    assert records["ada"].penalty == pytest.approx(records["ada"].score / 5) and records["ben"].penalty == 0.0
    hand_in(course, "ben", "Group: ada, ben")
    stamp(course, "ben", "2026-02-27 12:00:00 UTC")
    assert not any(record.penalty for record in grade(course).records), "the first of the same file counts"


class Caught:
    """An executor that keeps what it is given, and gives everybody no points."""

    def __init__(self) -> None:
        self.releases: dict[str, bytes] = {}

    def __call__(self, settings: RunSettings) -> "Caught":
        self.settings = settings
        return self

    def run(self, submissions: Iterable[tuple[str, bytes]]) -> Iterator[Graded]:
        for student, both in submissions:
            self.releases[student], submission = parted(both)
            yield Graded(student, "graded", digest_of(submission), notebooks=(("x", self.settings.notebooks[0].text),))


@pytest.fixture
def personal(course):
    """The course with a notebook for each student, and the same file of ben's in two folders."""
    released = course.notebook("release", ".", NAME)
    for student in CLASS:
        notebook = nbformat.read(released, as_version=4)
        bind(notebook, NAME, student, "a word")
        lay(personal_folder(course, NAME) / f"{student}.ipynb", notebook)
    content = json.loads(hand_in(course, "ben", "Group: ada, ben, carl").read_text())
    content["metadata"]["softlookup"] = json.loads(own_release(course, NAME, "ben"))["metadata"]["softlookup"]
    for student in ("ada", "ben"):
        lay(course.notebook("submitted", student, NAME), json.dumps(content))
    return course


def test_a_personal_notebook_of_a_group_is_judged_by_the_release_of_whom_it_was_made_for(personal):
    caught = Caught()
    report = grade_assignment(personal, GradeRequest(NAME, feedback=False), executor=caught)
    assert caught.releases == {"ben": own_release(personal, NAME, "ben")}
    assert {r.student: r.status for r in report.records} == dict.fromkeys(CLASS[:3], "graded") | {"dora": "missing"}


def test_forget_leaves_the_release_that_the_groups_notebook_was_made_from(personal):
    grade_assignment(personal, GradeRequest(NAME, feedback=False), executor=Caught())
    forget(personal, "ben")
    assert not any(b'"ben"' in path.read_bytes() for path in personal.root.rglob("*.ipynb"))
    caught = Caught()
    grade_assignment(personal, GradeRequest(NAME, feedback=False, again=True), executor=caught)
    assert list(caught.releases) == ["ada"]
    assert "softlookup" not in json.loads(caught.releases["ada"])["metadata"]
    assert b'"student"' not in personal.notebook("submitted", "ada", NAME).read_bytes()


def test_explain_works_for_every_member(course):
    path = hand_in(course, "ada", "Group: ada, ben")
    grade(course)
    examiner = SecondExaminer(last_graded(course, NAME, "ada")[0].marks)
    for student in ("ada", "ben"):
        explanation = explain(course, NAME, student, examiner)
        assert examiner.calls[-1][1:] == ("ada", path.read_bytes())
        assert explanation.agrees and explanation.changed is False
        assert ("ada handed it in" in explanation_text(explanation)) == (student == "ben")
    hand_in(course, "ada", "Group: ada, ben", answer="\n# changed")
    assert explain(course, NAME, "ben", examiner).changed is True, "the autograded answers were asked"


def test_a_group_is_one_hand_in_for_likeness_and_its_members_are_not_alike(course):
    for student in (*"efghij", "ada", "ben"):
        of = "a" if len(student) > 1 else student
        lines = [f"{of}{n} = {of}{n + 1} * {n * n + 1} + v[{n}] ** {n + 3}.{ord(of)}" for n in range(90)]
        line = "Group: ada, dora" if student == "ada" else ""
        hand_in(course, student, line, answer="\n    ".join(["", *lines]) + f"\n# by {student}")
    grade(course).write(course.root / "reports" / f"{NAME}.json")

    def pairs() -> set[tuple[str, str]]:
        return {(pair.first, pair.second) for pair in class_report(course, NAME).pairs}

    assert pairs() == {("ada", "ben")}, "dora is graded by ada's notebook"
    set_table(course, NAME, [("ada", "ben")])
    assert pairs() == set()


def test_report_shows_groups_and_what_is_wrong_with_them(course):
    hand_in(course, "ada", "Group: ada, ben, nobody")
    report = grade(course)
    report.write(course.root / "reports" / f"{NAME}.json")
    shown = class_report(course, NAME)
    assert shown.as_json()["groups"] == [["ada", "ben"]]
    assert "one notebook for ada, ben: ada handed it in" in report_text(shown)
    assert "ada: A line of the notebook names 'nobody', who is not in the class." in report_text(shown)
    assert "one notebook for ada, ben: ada handed it in" in as_text(report)
    assert read_report(course.root / "reports" / f"{NAME}.json").records[0].group == ("ada", "ben")


@pytest.mark.parametrize("by", ["line", "table"])
@pytest.mark.parametrize("gone", ["ada", "ben"])
def test_forget_takes_a_member_out_and_leaves_the_others_grades(course, by, gone):
    if by == "table":
        set_table(course, NAME, [("ada", "ben", "carl")])
    hand_in(course, "ada", "Group: ada, ben, carl" if by == "line" else "")
    stamp(course, "ada", "2026-03-03 12:00:00 UTC")
    report = grade(course)
    report.write(course.root / "reports" / f"{NAME}.json")
    calls(course)
    before = points(report)
    forget(course, gone)
    assert kept_of(course, gone) == []
    texts = [path.read_text() for path in course.root.rglob("*.json*") if path.is_file()]
    texts += [path.read_text() for path in course.root.rglob("submitted/**/*.ipynb")]
    assert not any(f'"{gone}"' in text or f"{gone}," in text or f", {gone}" in text for text in texts)
    after = grade(course)
    assert points(after) == {who: got for who, got in before.items() if who != gone}
    assert calls(course) == [], "the others keep the verdict that they had"
    left = {"ada", "ben", "carl"} - {gone}
    assert [set(group) for group in sharing(course, NAME).groups] == [left]


def test_set_table_keeps_one_file_for_the_instructor_alone(course):
    set_table(course, NAME, [("ada", "ben"), ("carl",)])
    assert tables(course) == {NAME: (("ada", "ben"),)}
    assert (course.root / FILE).stat().st_mode & 0o777 == 0o600
    with pytest.raises(CourseError, match="ada is in two groups, the 1st and the 2nd"):
        set_table(course, NAME, [("ada", "ben"), ("ada", "carl")])
    assert tables(course) == {NAME: (("ada", "ben"),)}, "nothing was written"
    (course.root / FILE).write_text("{")
    with pytest.raises(CourseError, match="damaged"):
        grade(course)


def test_groups_command_lists_and_ends(course, tmp_path, run):
    table = tmp_path / "groups.csv"
    table.write_text("id,group\nada,1\nben,1\n")
    assert run("groups", NAME).output == f"{NAME} has no groups\n"
    output = run("groups", NAME, table).output
    assert output.startswith("read 2 rows in utf-8, separated by commas: 'id' is the student; 'group' is the group")
    assert "by the table: ada, ben" in output
    hand_in(course, "ben")
    assert "one notebook for ben, ada: ben handed it in" in run("groups", NAME).output
    assert run("groups", NAME, "--end").output == f"{NAME} has no groups\n"


@pytest.mark.parametrize(
    "text",
    [
        "ada,ben\ncarl,dora\n",
        "Group;First;Second\r\n1;ada;ben\r\n2;carl;dora\r\n",
        "id,group\nada,red\nben,red\ncarl,blue\ndora,blue\n",
        "Gruppe\tE-Mail\nrot\tADA@x.org\nrot\tben@x.org\nblau\tcarl@x.org\nblau\tdora@x.org\n",
        'group,members\nred,"ada, ben"\nblue,"carl; dora"\n',
        "id,email,group\nada,ada@x.org,1\nben,,1\ncarl,,2\ndora,dora@x.org,2\n",
        "id,first name,tutor,group\nada,Dora,ben,1\nben,Ada,ben,1\ncarl,x,,2\ndora,y,,2\n",
        "first name,who,with\nDora,ada,ben\nX,carl,dora\n",
        "id,email,team\nada,ada@x.org,1\nben,ben@x.org,1\ncarl,carl@x.org,2\ndora,dora@x.org,2\n",
    ],
)
def test_read_groups_takes_rows_of_groups_and_columns_of_ids(course, text):
    for student in CLASS:
        in_class(course, student, email=f"{student}@x.org")
    assert read_groups(course, Table(text)) == (("ada", "ben"), ("carl", "dora"))


def test_read_groups_names_who_is_not_in_the_class(course):
    with pytest.raises(CourseError, match="nobody in the class has the id 'bem'; did you mean ben"):
        read_groups(course, Table("a,b\nada,bem\n"))
    with pytest.raises(CourseError, match="no cell of the table is the id of a student"):
        read_groups(course, Table("x,y\n1,2\n"))


@pytest.mark.parametrize("text", ["id,email,group\nada,ada@x.org,1\nben,,2\n", "id\nada\nben\n"])
def test_groups_refuses_a_table_without_a_group_and_the_earlier_one_stays(course, text, tmp_path, run):
    set_table(course, NAME, [("carl", "dora")])
    (tmp_path / "groups.csv").write_text(text)
    done = run("groups", NAME, tmp_path / "groups.csv")
    assert done.exit_code and "no group of two or more students, so nothing was changed" in done.output
    assert tables(course) == {NAME: (("carl", "dora"),)}
