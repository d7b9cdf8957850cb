"""What comes next, and how it is said in a terminal."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from softlookup_course.curriculum import NAMES, needed
from softlookup_course.progress import ChapterState, TaskState, advise, as_json, as_script, as_text
from softlookup_judge import tasks
from softlookup_judge.checking.catalogue import CHAPTERS


def chapters(states: dict[str, str], named: tuple[str, ...] = (), **more: object) -> list[ChapterState]:
    """The whole course, with these tasks in these states and all others blank."""
    made = []
    for number in CHAPTERS:
        task_states = [
            TaskState(task, state, task.points if state == "pass" else 0.0, named if state == "wrong" else ())
            for task in tasks(number)
            for state in [states.get(task.id, "blank")]
        ]
        made.append(ChapterState(number, Path(f"{number:02d}.ipynb"), tuple(task_states), **more))
    return made


def solved(*numbers: int) -> dict[str, str]:
    return {task.id: "pass" for number in numbers for task in tasks(number)}


def test_the_first_chapter_is_where_one_begins():
    advice = advise(chapters({}))
    assert (advice.go_on, advice.next, advice.mend, advice.missing) == (None, 0, (), ())
    assert set(advice.open) == {number for number in NAMES if number and not needed(number)}


def test_what_is_begun_comes_first_and_then_what_lies_behind_it():
    advice = advise(chapters(solved(0, 4) | {"05.split": "wrong"}))
    assert advice.go_on == 5 and [state.task.id for state in advice.mend] == ["05.split"]
    assert advice.next == 1, "nothing behind chapter 5 can be begun without it"
    advice = advise(chapters(solved(0, 4, 5)))
    assert advice.go_on is None and advice.next == 6 and not advice.missing
    assert 11 in advice.open and 8 not in advice.open


def test_where_nothing_can_be_begun_the_next_says_what_it_lacks():
    states = {task.id: "wrong" for number in (0, 1, 2, 3, 4) for task in tasks(number)}
    advice = advise(chapters(states))
    assert advice.next == 5 and advice.missing == (4,) and advice.open == ()


def test_who_has_done_everything_is_told_so():
    advice = advise(chapters(solved(*CHAPTERS)))
    assert advice.next is None and advice.go_on is None
    text = as_text(chapters(solved(*CHAPTERS)))
    assert text.endswith("There is nothing left to do here.\n")
    assert f"{len(tasks())} of {len(tasks())} tasks right" in text and "h left" not in text


@pytest.mark.parametrize("number", NAMES)
def test_advice_never_sends_anyone_to_what_is_done(number):
    done = set(needed(number, strict=False)) | {number}
    advice = advise(chapters(solved(*done)))
    assert not done & {advice.next, advice.go_on, *advice.open}


def test_text_counts_points_and_minutes_and_names_the_mistake():
    text = as_text(chapters({"04.mix": "wrong", "04.scores": "pass", "04.scale": "partial"}, ("It is transposed.",)))
    row = next(line for line in text.splitlines() if line.startswith(" 4"))
    points = {task.id: task.points for task in tasks(4)}
    left = sum(task.minutes for task in tasks(4) if task.id != "04.scores")
    rest = ("12", f"{points['04.scores']:g}", "of", f"{sum(points.values()):g}", str(left))
    assert row.split() == ["4", "One", "head", "1", "of", str(len(tasks(4))), "1", *rest]
    assert "04.mix, Mixing the values: not right yet. It is transposed." in text
    assert "Go on with: 4 · One head, with 04.by-hand" in text


def test_a_problem_takes_the_place_of_a_row_without_control_signs():
    chapter = chapters({}, problem="x.ipynb is empty\x1b[2J")[4]
    text = as_text([*chapters({})[:4], chapter])
    assert "x.ipynb is empty" in text and "\x1b" not in text


def test_record_holds_what_is_begun_and_is_a_script_in_ascii():
    record = as_json(chapters({"04.mix": "wrong"}, ("√ is missing </script>.",)), datetime(2026, 3, 1, tzinfo=UTC))
    assert set(record["tasks"]) == {"04.mix"} and record["date"] == "2026-03-01T00:00:00+00:00"
    assert as_script(record).isascii() and as_script(record).startswith("window.softlookupProgress = {")
