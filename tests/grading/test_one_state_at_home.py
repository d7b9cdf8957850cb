"""``check``, ``hint`` and ``progress`` in a terminal know one state, and none of them changes the notebook."""

from pathlib import Path

import pytest
from test_hint_at_home import CELL, NAME, SOLUTION, TASK, Desk, as_json, call, desk, desk_with_kernels

from softlookup_grader import Course
from softlookup_grader.course.inbox import read_submission
from softlookup_grader.data.records import MISSING
from softlookup_judge.data.result import HELP_MIME
from softlookup_judge.helping.kept import KEPT_FILE, read_kept

__all__ = ["desk", "desk_with_kernels"]


def progress_on(task: str = TASK) -> str:
    """What progress says of a task."""
    result = call("progress", task)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_what_check_finds_is_what_progress_shows_until_the_answer_changes(desk: Desk) -> None:
    desk.write({CELL: SOLUTION})
    before = desk.path.read_bytes()
    assert "no check yet" in progress_on()
    checked = call("check", NAME)
    assert checked.exit_code == 1 and f"{TASK}: Right" in checked.stdout
    assert checked.stdout.startswith(f"{NAME}/{NAME}.ipynb:\n"), "it says which file was found"
    assert ": right (" in progress_on() and desk.path.read_bytes() == before
    record = desk.path.parent.parent / "record.json"
    shown = call("progress", "--json", record)
    assert "1 of 10" in shown.stdout and '"state": "pass"' in record.read_text()
    desk.tries("-1")
    assert "changed since its check" in progress_on()
    desk.write({})
    assert "nothing written yet" in progress_on()


def test_a_step_of_help_leaves_its_verdict_and_is_counted_in_notebook_and_terminal(desk: Desk) -> None:
    desk.tries("-1")
    assert as_json("hint", NAME)["heading"] == "What can be seen of your answer", "the one task that is begun"
    assert "not right yet (0 of " in progress_on() and "help up to the nudge" in progress_on()
    assert as_json("check", TASK)["tasks"][0]["help"] == 1


def test_check_of_a_task_shows_it_alone_and_keeps_those_that_ran_before_it(desk: Desk) -> None:
    desk.write({CELL: SOLUTION, "02-distances": "def distances(:"})
    result = call("check", "02.weights")
    assert result.exit_code == 1 and result.stdout.splitlines()[1:] == ["Still blank: 02.weights"]
    assert ": right (" in progress_on()
    assert call("check", TASK).exit_code == 0
    [shown] = as_json("check", "2", TASK)["tasks"]
    assert (shown["id"], shown["verdict"]) == (TASK, "pass")
    refused = call("check", f"{NAME}/{NAME}.ipynb", "04.scale")
    assert refused.exit_code == 2 and f"{NAME}.ipynb does not ask the task 04.scale: it asks" in refused.stderr


def test_progress_with_run_keeps_what_it_finds(desk: Desk) -> None:
    desk.write({CELL: SOLUTION})
    assert "1 of 10" in call("progress", "--run").stdout
    assert ": right (" in progress_on()


def test_a_state_that_cannot_be_kept_costs_a_sentence_alone(desk: Desk) -> None:
    desk.tries("-1")
    (desk.path.parent / KEPT_FILE).mkdir()
    checked = call("check", NAME)
    assert checked.exit_code == 1 and "will not be remembered" in " ".join(checked.stdout.split())
    hinted = call("hint", TASK, "--json")
    assert hinted.exit_code == 0 and "will not be remembered" in hinted.stderr and HELP_MIME not in hinted.stdout
    (desk.path.parent / KEPT_FILE).rmdir()
    (desk.path.parent / KEPT_FILE).write_text("{")
    assert "was damaged and was written anew" in " ".join(call("check", NAME).stdout.split())
    assert "not right yet" in progress_on()


def test_hint_without_a_task_names_those_that_it_could_be(desk: Desk) -> None:
    refused = call("hint", NAME)
    assert refused.exit_code == 2 and f"as in 'softlookup hint {TASK}' (none is known to be wrong)" in refused.stderr
    desk.write({CELL: "def hard_lookup(:", "02-weights": "def weights(:"})
    refused = call("hint", NAME)
    assert refused.exit_code == 2 and f"not right yet: {TASK}, 02.weights" in refused.stderr


def test_progress_of_one_notebook_writes_no_record_of_the_whole(desk: Desk) -> None:
    refused = call("progress", "02", "--json", "mine.json")
    assert refused.exit_code == 2 and "leave the notebook out" in refused.stderr and not Path("mine.json").exists()
    assert len(call("progress", "02").stdout.splitlines()) > 10


@pytest.mark.parametrize("with_notebook", [True, False])
def test_the_file_in_a_hand_in_is_none(tmp_path: Path, with_notebook: bool) -> None:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    course = Course.at(tmp_path)
    folder = course.folder("submitted", "ada", NAME)
    folder.mkdir(parents=True)
    if with_notebook:
        (folder / f"{NAME}.ipynb").write_bytes(b"{}")
    before = read_submission(course, NAME, "ada")
    (folder / KEPT_FILE).write_text("{}")
    assert read_submission(course, NAME, "ada") == before
    assert before.status == ("" if with_notebook else MISSING) and not read_kept(folder).tasks
