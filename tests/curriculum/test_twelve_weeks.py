"""The twelve weeks: every task once, no week too full, and a command that makes this very course."""

import shlex
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from softlookup_command.commands import main
from softlookup_course.curriculum import needed, term
from softlookup_course.curriculum.sessions import START_MINUTES, taught_minutes
from softlookup_course.curriculum.term import HOME_MINUTES, LEFT_OUT, SESSION_MINUTES, TERM_CHAPTERS, term_command
from softlookup_course.part import schedule_page
from softlookup_judge.checking.catalogue import STANDARD

BOOK = Path(__file__).resolve().parents[2] / "book"
ONE, TWO = term.term(BOOK), term.term(BOOK, 2)

both = pytest.mark.parametrize(("weeks", "a_week"), [(ONE, 1), (TWO, 2)], ids=["one session", "two sessions"])


@both
def test_term_has_twelve_weeks_and_each_chapter_in_its_order(weeks: tuple[term.Week, ...], a_week: int):
    assert [week.index for week in weeks] == list(range(1, 13))
    ended = [week.chapter for week in weeks if week.last]
    assert (0, *ended) == TERM_CHAPTERS
    for place, chapter in enumerate(TERM_CHAPTERS):
        assert needed(chapter) <= set(TERM_CHAPTERS[:place]), chapter


@both
def test_term_has_every_task_once_but_those_left_out(weeks: tuple[term.Week, ...], a_week: int):
    named = [task.id for week in weeks for task in (*week.tasks, *week.homework)]
    every = {task.id for chapter in TERM_CHAPTERS if chapter for task in STANDARD.tasks(chapter)}
    assert set(LEFT_OUT) <= every and len(set(LEFT_OUT)) == len(LEFT_OUT)
    assert sorted(named) == sorted(every - set(LEFT_OUT if a_week == 1 else ()))


@both
def test_sessions_and_evenings_of_the_term_are_not_too_full(weeks: tuple[term.Week, ...], a_week: int):
    for week in weeks:
        taught = sum(map(taught_minutes, week.taught))
        in_class = sum(task.minutes for task in week.tasks)
        assert week.taught_minutes == taught
        assert a_week * START_MINUTES + taught + in_class <= a_week * SESSION_MINUTES, week.index
        assert week.home_minutes == week.reading_minutes + sum(task.minutes for task in week.homework) <= HOME_MINUTES


def test_term_without_leaving_out_would_be_too_full(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(term, "LEFT_OUT", ())
    full = [week.chapter for week in term.term(BOOK) if week.home_minutes > HOME_MINUTES]
    assert {int(name[:2]) for name in LEFT_OUT} == set(full)


def test_chapter_that_takes_more_than_its_weeks_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(term, "SESSION_MINUTES", 60)
    with pytest.raises(ValueError, match="chapter 5 no longer fits into its weeks"):
        term.term(BOOK)


def test_schedule_of_the_course_has_a_session_for_each_chapter():
    schedule = schedule_page(BOOK, TERM_CHAPTERS, SESSION_MINUTES, LEFT_OUT)
    assert f"9 sessions of {SESSION_MINUTES} minutes on chapters 2, 3, 4, 5, 6, 7, 8, 9 and 10" in schedule


def test_tables_of_the_term_show_every_week_and_task():
    hours, names = term.hours_table(BOOK).splitlines(), term.tasks_table(BOOK)
    assert len(hours) == len(names.splitlines()) == 2 + 12
    assert hours[2].startswith("| 1 | 2 A soft lookup | ") and hours[-1].startswith("| 12 | The capstone | ")
    assert all(f"`{name}`" in names for name in LEFT_OUT) and "9 Training, second half" in names


@pytest.mark.slow
def test_command_of_the_term_makes_its_course(tmp_path: Path):
    course = tmp_path / "spring"
    words = shlex.split(term_command(str(course)))
    assert words[0] == "softlookup"
    result = CliRunner().invoke(main, words[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    folders = {path.name: path for path in (course / "release").iterdir()}
    assert sorted(int(name[:2]) for name in folders) == sorted(TERM_CHAPTERS)
    cells = [
        cell.metadata.nbgrader.grade_id
        for name, folder in folders.items()
        for cell in nbformat.read(folder / f"{name}.ipynb", as_version=4).cells
        if "nbgrader" in cell.metadata
    ]
    assert "05-split" in cells and "06-rotary" in cells
    assert not [name for name in LEFT_OUT if name.replace(".", "-") in cells], "a task that is left out is still there"
