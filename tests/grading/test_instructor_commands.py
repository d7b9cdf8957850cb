"""The instructor's commands as they are typed: what they print and pass on, and one sentence where they refuse."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from paper_class import enter, full, hand_in, in_class, record, write_report
from rich.console import Console
from small_class import NAME

from softlookup_command.commands import by_audience, main
from softlookup_grader import Course, CourseError, Record, Report, TaskMark
from softlookup_grader.data.work import Graded
from softlookup_grader.reports.table import LiveProgress, as_text
from softlookup_grader.run import engine
from softlookup_grader.run.request import GradeRequest, Watcher

Run = Callable[..., Result]


@pytest.fixture
def course(paper):
    for student in ("ada", "bo"):
        hand_in(paper, student, {"04-mix": "def mix(w, v):\n    return w @ v"})
        enter(paper, student, full(), written=1)
    in_class(paper, "cy", email="cy@example.org")
    write_report(paper, *(record(student, full()) for student in ("ada", "bo")))
    return paper


def refused(result: Result) -> str:
    assert result.exit_code == 2 and result.output.startswith("softlookup: ") and result.output.count("\n") == 1
    return result.output


def test_report_shows_the_class_and_writes_json(run, tmp_path):
    result = run("report", NAME, "--json", str(tmp_path / "new" / "class.json"))
    assert result.exit_code == 0 and "graded 2, refused 0, missing 1" in result.output
    assert '"missing": [\n    "cy"' in (tmp_path / "new" / "class.json").read_text()
    assert "'softlookup grade 05_x' writes it" in refused(run("report", "05_x"))


def test_export_writes_a_table_and_fills_in_what_canvas_and_moodle_gave(run, course, tmp_path):
    path = course.root / "reports" / f"{NAME}-csv.csv"
    assert run("export", NAME).output == f"wrote the grades of 2 students to {path}\n"
    assert path.read_bytes().startswith(b"\xef\xbb\xbfstudent,")
    (tmp_path / "canvas.csv").write_text("Student,ID,SIS Login ID,Section,04 One Head (7)\nA,1,ada,S,\nZ,2,zed,S,\n")
    out = tmp_path / "out.csv"
    result = run("export", NAME, "--to", "canvas", "--class", tmp_path / "canvas.csv", "--out", out)
    best = sum(full().values()) + 1
    assert out.read_text().splitlines()[1] == f"A,1,ada,S,{best:g}" and "in this class, but" in result.output
    (tmp_path / "moodle.csv").write_text("Identifier,Email address,Grade\nParticipant 1,cy@example.org,\n")
    result = run("export", NAME, "--to", "moodle", "--class", tmp_path / "moodle.csv", "--out", out, "--zeros")
    assert result.exit_code == 0 and out.read_text().splitlines()[1] == "Participant 1,cy@example.org,0"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--to", "canvas"), "--to canvas needs the file that Canvas exported: name it with --class"),
        (("--to", "moodle", "--class", "no.csv"), "no.csv cannot be read (No such file or directory)"),
        (("--to", "moodle", "--class", "a.csv", "--out", "./a.csv"), "a.csv would be overwritten"),
    ],
)
def test_export_refuses_in_one_sentence(run, words, says):
    assert says in refused(run("export", NAME, *words))


def test_extension_shows_what_then_holds(run):
    assert run("extension", NAME).output == f"{NAME}: no due date\n"
    assert "due date yet" in refused(run("extension", "cy", NAME, "--days", "2"))
    due = "Sunday 2126-12-01 18:00 UTC"
    says = f"read '2126-12-01 18:00' as: {due}\n{NAME}: {due}\n"
    assert run("extension", NAME, "--due", "2126-12-01 18:00").output == says
    assert "write 2026-02-01 or 2026-01-02" in refused(run("extension", NAME, "--due", "01.02.2026"))
    assert "because the year is missing" in refused(run("extension", NAME, "--due", "1 Feb"))
    end = "Tuesday 2126-12-03 19:00 UTC (2 days on the calendar and 1 hour, 49 hours in all)"
    says = f"the extension: until {end}\n{NAME}: {due}\n  cy: {end}\n"
    assert run("extension", "cy", NAME, "--days", "2", "--hours", "1").output == says
    assert "cy" not in run("extension", "cy", NAME, "--end").output


def test_extension_until_a_date_and_a_date_that_is_past_say_so(run):
    day = "the end of that day, since no time is named"
    assert re.match(
        rf"read '2020-02-01' as: Saturday 2020-02-01 23:59 UTC, {day}\. Note: that was \d+ years ago\n",
        run("extension", NAME, "--due", "2020-02-01").output,
    )
    until = run("extension", "cy", NAME, "--until", "3 Dec 2126").output
    assert until.startswith(f"read '3 Dec 2126' as: Tuesday 2126-12-03 23:59 UTC, {day}\nthe extension: until Tuesday")
    assert until.endswith(" hours more)\n") and "ago" not in until
    past = run("extension", "cy", NAME, "--until", "2020-02-01")
    assert past.exit_code == 2 and re.fullmatch("read '.*\nsoftlookup: .* is not later.*\n", past.output)


def test_extension_of_nobody_names_who_may_be_meant(run, course):
    in_class(course, "00123")
    for words in (("extension", "123", NAME, "--hours", "3"), ("explain", "123", NAME)):
        assert "nobody in the class has the id '123'; did you mean 00123?" in refused(run(*words))
    assert run("forget", "123").output == "the course holds no data of 123; did you mean 00123?\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((NAME, "--days", "2"), "an extension is for one student"),
        (("cy", NAME), "the length of the extension is missing"),
        (("cy", NAME, "--days", "2", "--end"), "--end removes the extension"),
        (("cy", NAME, "--days", "2", "--until", "2126-12-01"), "--until says when the extension ends"),
        (("cy", NAME, "--hours", "3", "--due", "2126-12-01"), "--due and --start are for everybody"),
        (("cy", NAME, "--start", "2126-12-01"), "--due and --start are for everybody"),
        (("a", "b", NAME), "got 3 names"),
        (("cy", NAME, "--days", "-2"), "Invalid value for '--days'"),
        ((), "Missing argument"),
    ],
)
def test_extension_that_makes_no_sense_is_a_usage_error(run, words, says):
    result = run("extension", *words)
    assert result.exit_code == 2 and says in result.output


def test_forget_asks_first(run, course):
    result = run("forget", "bo", answer="n\n")
    assert result.exit_code == 1 and "the grades of 04_one_head in the gradebook" in result.output
    assert (course.root / "submitted" / "bo").is_dir()
    result = run("forget", "bo", "--yes")
    assert result.exit_code == 0 and "removed:" in result.output and "Not reached: backups" in result.output
    assert not (course.root / "submitted" / "bo").exists()
    assert run("forget", "bo").output == "the course holds no data of bo\n"


def test_every_command_has_help(run):
    shown = CliRunner().invoke(main, ["--help"]).output
    assert list(by_audience()) == [head for head in by_audience() if f"{head}:" in shown]
    for command in (command for commands in by_audience().values() for command in commands):
        assert re.search(rf"^  {command.name} .*[^.]\.\n(?!   )", shown, re.MULTILINE), "its sentence is shown whole"
        assert command.help and CliRunner().invoke(command, ["--help"]).exit_code == 0


REPORT = Report("04_one_head", 77, (Record("ann", "graded", 2, 2, {"04.scale": TaskMark(2, 2, "pass")}),))


@pytest.fixture
def orders(monkeypatch, tmp_path):
    """Orders that arrive at an engine which grades nothing."""
    (tmp_path / "nbgrader_config.py").write_text("")
    requests: list[GradeRequest] = []

    def grade(course: Course, order: GradeRequest, watch: Watcher, executor: object, zygotes: object) -> Report:
        requests.append(order)
        watch.begin("grading", 9)
        watch.step("ann", Graded("ann", "graded"))
        if order.students == ("slow",):
            raise KeyboardInterrupt
        if order.students == ("strange",):
            raise CourseError("bubblewrap is not installed: apt-get install bubblewrap")
        return REPORT

    monkeypatch.setattr(engine, "grade_assignment", grade)
    return requests


def call(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["grade", "04_one_head", "--course", str(folder), *words])


def test_command_passes_on_what_is_asked_for(orders, tmp_path):
    words = ["--student", "a", "--student", "b", "--again", "--seed", "5", "--workers", "3", "--no-feedback"]
    result = call(tmp_path, *words, "--json", str(tmp_path / "x.json"))
    assert result.exit_code == 0, result.output
    assert orders == [GradeRequest("04_one_head", ("a", "b"), True, 5, "bubblewrap", 3, False)]
    assert (tmp_path / "x.json").read_text() == (tmp_path / "reports" / "04_one_head.json").read_text()
    assert "seed:     77" in result.stdout and "grading: 1 of 9" in result.stderr
    assert call(tmp_path).exit_code == 0 and orders[1] == GradeRequest("04_one_head")


def test_command_grades_several_assignments_in_their_order_each_once(orders, tmp_path):
    result = call(tmp_path, "02_soft_lookup", "04_one_head", "--seed", "5")
    assert result.exit_code == 0, result.output
    assert orders == [GradeRequest(name, seed=5) for name in ("04_one_head", "02_soft_lookup")]
    assert result.stdout.count("seed:     77\n") == 2
    refused = call(tmp_path, "02_soft_lookup", "--json", str(tmp_path / "x.json"))
    assert refused.exit_code == 2 and "--json writes the report of one assignment" in refused.stderr
    assert len(orders) == 2


def test_command_warns_in_red_where_there_is_no_sandbox(orders, tmp_path):
    result = CliRunner().invoke(main, ["grade", "x", "--course", str(tmp_path), "--sandbox", "none"], color=True)
    assert orders[0].sandbox == "none" and "\x1b[31mwarning: without a sandbox" in result.stderr
    assert "warning" not in call(tmp_path).stderr


@pytest.mark.parametrize(
    ("student", "status", "says"),
    [
        ("slow", 130, "stopped; 1 of 9 submissions are graded and kept. Run the same command to continue."),
        ("strange", 2, "softlookup: bubblewrap is not installed: apt-get install bubblewrap."),
    ],
)
def test_command_that_is_stopped_or_refused_says_so_at_the_end(orders, tmp_path, student, status, says):
    result = call(tmp_path, "--student", student)
    assert result.exit_code == status and result.stderr.splitlines()[-1].endswith(says)


def shown(terminal: bool, total: int = 200) -> str:
    file = io.StringIO()
    with LiveProgress(Console(file=file, force_terminal=terminal, width=120)) as progress:
        progress.begin("grading", total + 50, 50)
        for number in range(total):
            status = "refused" if number == 3 else "graded"
            progress.step(f"s{number}", Graded(f"s{number}", status, slowest="04-mix", slowest_s=number / 100))
        progress.say("[odd] words")
    return file.getvalue()


def test_progress_is_few_lines_without_a_terminal_and_one_live_line_on_one():
    lines = shown(False).splitlines()
    assert len(lines) <= 4 and lines[-1] == "[odd] words"
    assert lines[0].startswith("grading: 51 of 250, ") and " left" in lines[0]
    assert lines[-2].startswith("grading: 250 of 250, 1 refused, ") and " a second" in lines[-2]
    assert lines[-2].endswith("slowest 04-mix of s199, 2.0 s")
    assert "250/250" in shown(True) and "\x1b[2K" in shown(True)


def test_table_shows_ids_and_remarks_as_they_are():
    odd = Record("[red]ann", "refused", 0, 2, reason="no [bold] notebook", remarks=("cut",))
    text = as_text(Report("04_one_head", 1, (*REPORT.records, odd)))
    assert "[red]ann" in text and "refused, no [bold] notebook" in text
    assert "ignored, cut or stopped" in text
