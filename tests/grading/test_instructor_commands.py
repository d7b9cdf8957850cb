"""The instructor's commands as they are typed: what they print, and one sentence where they refuse."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from paper_class import enter, full, hand_in, in_class, paper_course, record, write_report
from small_class import NAME

from softlookup_command.commands import by_audience, main
from softlookup_grader import Course

Run = Callable[..., Result]


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    made = paper_course(tmp_path_factory, source)
    for student in ("ada", "bo"):
        hand_in(made, student, {"04-mix": "def mix(w, v):\n    return w @ v"})
        enter(made, student, full(), written=1)
    in_class(made, "cy", email="cy@example.org")
    write_report(made, *(record(student, full()) for student in ("ada", "bo")))
    return made


@pytest.fixture
def run(course: Course) -> Run:
    group = main

    def call(*words: str, answer: str = "") -> Result:
        result = CliRunner().invoke(group, [*words, "--course", str(course.root)], input=answer)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        return result

    return call


def refused(result: Result) -> str:
    assert result.exit_code == 2 and result.output.startswith("softlookup: ") and result.output.count("\n") == 1
    return result.output


def refused_after_reading(result: Result) -> str:
    """The refusal of a command that first says how it reads a date."""
    assert result.exit_code == 2
    read, refusal = result.output.splitlines()
    assert read.startswith("read '") and refusal.startswith("softlookup: ")
    return refusal


def test_report_shows_the_class_and_writes_json(run: Run, tmp_path: Path) -> None:
    result = run("report", NAME, "--json", str(tmp_path / "new" / "class.json"))
    assert result.exit_code == 0 and "graded 2, refused 0, missing 1" in result.output
    assert '"missing": [\n    "cy"' in (tmp_path / "new" / "class.json").read_text()


def test_report_of_what_was_not_graded_is_refused(run: Run) -> None:
    assert "'softlookup grade 05_x' writes it" in refused(run("report", "05_x"))


def test_explain_without_a_ledger_is_refused(run: Run) -> None:
    assert "'ada' has not been graded in 04_one_head yet" in refused(run("explain", "ada", NAME))


def test_export_writes_a_table_beside_the_report(run: Run, course: Course) -> None:
    result = run("export", NAME)
    path = course.root / "reports" / f"{NAME}-csv.csv"
    assert result.exit_code == 0 and result.output == f"wrote the grades of 2 students to {path}\n"
    assert path.read_bytes().startswith(b"\xef\xbb\xbfstudent,")


def test_export_fills_in_what_canvas_and_moodle_gave(run: Run, tmp_path: Path) -> None:
    (tmp_path / "canvas.csv").write_text("Student,ID,SIS Login ID,Section,04 One Head (7)\nA,1,ada,S,\nZ,2,zed,S,\n")
    out = tmp_path / "out.csv"
    result = run("export", NAME, "--to", "canvas", "--class", str(tmp_path / "canvas.csv"), "--out", str(out))
    best = sum(full().values()) + 1
    assert out.read_text().splitlines()[1] == f"A,1,ada,S,{best:g}" and "in this class, but" in result.output
    (tmp_path / "moodle.csv").write_text("Identifier,Email address,Grade\nParticipant 1,cy@example.org,\n")
    result = run(
        *("export", NAME, "--to", "moodle", "--class", str(tmp_path / "moodle.csv")),
        *("--out", str(out), "--zeros"),
    )
    assert result.exit_code == 0 and out.read_text().splitlines()[1] == "Participant 1,cy@example.org,0"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--to", "canvas"), "--to canvas needs the file that Canvas exported: name it with --class"),
        (("--to", "moodle", "--class", "no.csv"), "no.csv cannot be read (No such file or directory)"),
        (("--to", "moodle", "--class", "a.csv", "--out", "./a.csv"), "a.csv would be overwritten"),
    ],
)
def test_export_refuses_in_one_sentence(run: Run, words: tuple[str, ...], says: str) -> None:
    assert says in refused(run("export", NAME, *words))


def test_extension_shows_what_then_holds(run: Run) -> None:
    assert run("extension", NAME).output == f"{NAME}: no due date\n"
    assert "due date yet" in refused(run("extension", "cy", NAME, "--days", "2"))
    due = "Sunday 2126-12-01 18:00 UTC"
    assert run("extension", NAME, "--due", "2126-12-01 18:00").output == (
        f"read '2126-12-01 18:00' as: {due}\n{NAME}: {due}\n"
    )
    assert "write 2026-02-01 or 2026-01-02" in refused(run("extension", NAME, "--due", "01.02.2026"))
    assert "because the year is missing" in refused(run("extension", NAME, "--due", "1 Feb"))
    end = "Tuesday 2126-12-03 19:00 UTC (2 days on the calendar and 1 hour, 49 hours in all)"
    assert run("extension", "cy", NAME, "--days", "2", "--hours", "1").output == (
        f"the extension: until {end}\n{NAME}: {due}\n  cy: {end}\n"
    )
    assert "cy" not in run("extension", "cy", NAME, "--end").output


def test_extension_until_a_date_and_a_date_that_is_past_say_so(run: Run) -> None:
    day = "the end of that day, since no time is named"
    assert re.match(
        rf"read '2020-02-01' as: Saturday 2020-02-01 23:59 UTC, {day}\. Note: that was \d+ years ago\n",
        run("extension", NAME, "--due", "2020-02-01").output,
    )
    until = run("extension", "cy", NAME, "--until", "3 Dec 2126").output
    assert until.startswith(f"read '3 Dec 2126' as: Tuesday 2126-12-03 23:59 UTC, {day}\nthe extension: until Tuesday")
    assert until.endswith(" hours more)\n") and "ago" not in until
    assert "is not later" in refused_after_reading(run("extension", "cy", NAME, "--until", "2020-02-01"))


def test_extension_of_nobody_names_who_may_be_meant(run: Run, course: Course) -> None:
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
def test_extension_that_makes_no_sense_is_a_usage_error(run: Run, words: tuple[str, ...], says: str) -> None:
    result = run("extension", *words)
    assert result.exit_code == 2 and says in result.output


def test_forget_asks_first(run: Run, course: Course) -> None:
    result = run("forget", "bo", answer="n\n")
    assert result.exit_code == 1 and "the grades of 04_one_head in the gradebook" in result.output
    assert (course.root / "submitted" / "bo").is_dir()
    result = run("forget", "bo", "--yes")
    assert result.exit_code == 0 and "removed:" in result.output and "Not reached: backups" in result.output
    assert not (course.root / "submitted" / "bo").exists()
    assert run("forget", "bo").output == "the course holds no data of bo\n"


def test_every_command_has_help(run: Run) -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    assert list(by_audience()) == [head for head in by_audience() if f"{head}:" in shown]
    for command in (command for commands in by_audience().values() for command in commands):
        assert re.search(rf"^  {command.name} .*[^.]\.\n(?!   )", shown, re.MULTILINE), "its sentence is shown whole"
        assert command.help and CliRunner().invoke(command, ["--help"]).exit_code == 0
