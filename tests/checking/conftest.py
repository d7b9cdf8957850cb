"""All answers to a task are asked the same, one after the other: what known mistakes give is then computed once."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from softlookup_inside.asking.source import reached
from softlookup_judge.checking import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import Variant

HERE = Path(__file__).parent
drawn = lru_cache(maxsize=64)(judge.questions)


@pytest.fixture(autouse=True)
def questions_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a class: the judge draws the questions of a task from a seed once."""
    monkeypatch.setattr("softlookup_judge.checking.judge.questions", drawn)


@pytest.fixture
def verdicts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are judged, not named: to try all pairs of mistakes on one that has no name takes most of the time."""
    monkeypatch.setattr("softlookup_judge.checking.judge.diagnose", lambda *args: [])
    monkeypatch.setattr("softlookup_judge.checking.judge.ignored_argument", lambda *args: [])


@pytest.fixture
def earlier_answers_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one cell of a notebook is replaced again and again, the earlier functions are right, and stay the same.

    They are told by the code of all functions that they consist of, so that a cell that changes one is seen.
    """
    passes = LocalStudent.passes
    verdicts: dict[Any, bool] = {}

    def passes_once(student: LocalStudent, variant: Variant, function: Any) -> bool:
        key = variant, frozenset(student.known.values()), tuple(part.__code__ for part in reached(function))
        if key not in verdicts:
            verdicts[key] = passes(student, variant, function)
        return verdicts[key]

    monkeypatch.setattr(LocalStudent, "passes", passes_once)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of this folder in the order of the tasks; those that are not of one task come first."""
    places = [at for at, item in enumerate(items) if item.path.parent == HERE]
    for at, item in zip(places, sorted((items[at] for at in places), key=_task), strict=True):
        items[at] = item


def _task(item: Any) -> str:
    params = item.callspec.params if hasattr(item, "callspec") else {}
    task = params.get("task", params.get("task_id", params.get("pair", "")))
    task = task[0] if isinstance(task, tuple) else task
    return str(getattr(task, "id", task))
