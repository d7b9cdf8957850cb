"""The command ``softlookup grade``: what it passes on, and what it shows while it works."""

import io
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from softlookup_command.commands import main
from softlookup_grader import Course, CourseError, Record, Report, TaskMark
from softlookup_grader.data.work import Graded
from softlookup_grader.reports.table import LiveProgress, as_text
from softlookup_grader.run import engine
from softlookup_grader.run.request import GradeRequest, Watcher

REPORT = Report("04_one_head", 77, (Record("ann", "graded", 2, 2, {"04.scale": TaskMark(2, 2, "pass")}),))


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[GradeRequest]:
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


def test_command_passes_on_what_is_asked_for(orders: list[GradeRequest], tmp_path: Path) -> None:
    words = ["--student", "a", "--student", "b", "--again", "--seed", "5", "--workers", "3", "--no-feedback"]
    result = call(tmp_path, *words, "--json", str(tmp_path / "x.json"))
    assert result.exit_code == 0, result.output
    assert orders == [GradeRequest("04_one_head", ("a", "b"), True, 5, "bubblewrap", 3, False)]
    assert (tmp_path / "x.json").read_text() == (tmp_path / "reports" / "04_one_head.json").read_text()
    assert "seed:     77" in result.stdout and "grading: 1 of 9" in result.stderr
    assert call(tmp_path).exit_code == 0 and orders[1] == GradeRequest("04_one_head")


def test_command_grades_several_assignments_in_their_order_each_once(
    orders: list[GradeRequest], tmp_path: Path
) -> None:
    result = call(tmp_path, "02_soft_lookup", "04_one_head", "--seed", "5")
    assert result.exit_code == 0, result.output
    assert orders == [GradeRequest(name, seed=5) for name in ("04_one_head", "02_soft_lookup")]
    assert result.stdout.count("seed:     77\n") == 2
    refused = call(tmp_path, "02_soft_lookup", "--json", str(tmp_path / "x.json"))
    assert (
        refused.exit_code == 2 and "--json writes the report of one assignment" in refused.stderr and len(orders) == 2
    )


def test_command_warns_in_red_where_there_is_no_sandbox(orders: list[GradeRequest], tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["grade", "x", "--course", str(tmp_path), "--sandbox", "none"], color=True)
    assert orders[0].sandbox == "none" and "\x1b[31mwarning: without a sandbox" in result.stderr
    assert "warning" not in call(tmp_path).stderr


def test_command_says_what_is_kept_when_it_is_interrupted(orders: list[GradeRequest], tmp_path: Path) -> None:
    result = call(tmp_path, "--student", "slow")
    assert result.exit_code == 130
    assert "stopped; 1 of 9 submissions are graded and kept. Run the same command to continue." in result.stderr


def test_command_refuses_in_one_sentence_without_a_sandbox(orders: list[GradeRequest], tmp_path: Path) -> None:
    result = call(tmp_path, "--student", "strange")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == "softlookup: bubblewrap is not installed: apt-get install bubblewrap."


def shown(terminal: bool, total: int = 200) -> str:
    file = io.StringIO()
    with LiveProgress(Console(file=file, force_terminal=terminal, width=120)) as progress:
        progress.begin("grading", total + 50, 50)
        for number in range(total):
            status = "refused" if number == 3 else "graded"
            progress.step(f"s{number}", Graded(f"s{number}", status, slowest="04-mix", slowest_s=number / 100))
        progress.say("[odd] words")
    return file.getvalue()


def test_progress_prints_few_lines_where_there_is_no_terminal() -> None:
    lines = shown(False).splitlines()
    assert len(lines) <= 4 and lines[-1] == "[odd] words"
    assert lines[0].startswith("grading: 51 of 250, ") and " left" in lines[0]
    assert lines[-2].startswith("grading: 250 of 250, 1 refused, ") and " a second" in lines[-2]
    assert lines[-2].endswith("slowest 04-mix of s199, 2.0 s")


def test_progress_is_one_live_line_on_a_terminal() -> None:
    text = shown(True)
    assert "250/250" in text and "\x1b[2K" in text


def test_table_shows_ids_and_remarks_as_they_are() -> None:
    odd = Record("[red]ann", "refused", 0, 2, reason="no [bold] notebook", remarks=("cut",))
    text = as_text(Report("04_one_head", 1, (*REPORT.records, odd)))
    assert "[red]ann" in text and "refused, no [bold] notebook" in text
    assert "ignored, cut or stopped" in text
