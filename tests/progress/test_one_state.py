"""A verdict of a command counts as one in the notebook: for the answer that stands there, and never for the worse."""

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from test_reading_notebooks import NAME, ROOT, SOLVED, leave_verdict, save, verdict_record

from softlookup_course.at_home.kept_at_home import keep
from softlookup_course.progress import as_json, as_text, chapter_as_text, read_file_of, read_folder
from softlookup_course.samples.handins import filled
from softlookup_grader.course.notebooks import grade_id
from softlookup_inside.asking.source import text_hash
from softlookup_judge import get_task
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.helping.kept import KEPT_FILE, HelpOnTask, Judged

MIX = SOLVED["04-mix"]
NOW = datetime.now().astimezone()
BEST = get_task("04.mix").points


@pytest.fixture
def release() -> NotebookNode:
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


def verdict_kept(
    verdict: str, points: float = 0.0, answer: str = MIX, when: datetime = NOW, *named: str
) -> dict[str, Any]:
    return {"04.mix": {"judged": Judged(verdict, points, 2.0, named, text_hash(answer), when)}}


def mix_in(folder: Path, notebook: NotebookNode, changes: dict[str, Any]) -> Any:
    path = save(folder, nbformat.writes(notebook))
    assert keep(path.parent, changes) == ""
    [state] = [each for each in read_file_of(path, STANDARD).tasks if each.task.id == "04.mix"]
    [chapter] = [each for each in read_folder(folder, STANDARD) if each.chapter == 4]
    assert state in chapter.tasks, "a folder says the same as the notebook alone"
    return state


def test_a_verdict_of_a_command_counts_for_the_answer_that_it_judged(release, tmp_path):
    notebook = filled(release, {"04-mix": MIX})
    state = mix_in(tmp_path, notebook, verdict_kept("pass", 2.0))
    assert (state.state, state.points) == ("pass", BEST)
    state = mix_in(tmp_path, filled(release, {"04-mix": MIX + "\n    # more"}), {})
    assert (state.state, state.points) == ("changed", 0.0)
    assert mix_in(tmp_path, release, {}).state == "blank"
    assert mix_in(tmp_path, notebook, {}).state == "pass", "the answer is there again, and so is its verdict"


def test_points_are_a_share_of_the_tasks_and_mistakes_are_named_in_the_tasks_words(release, tmp_path):
    mistake = get_task("04.mix").mistakes[0]
    notebook = filled(release, {"04-mix": MIX})
    state = mix_in(tmp_path, notebook, verdict_kept("partial", 1.0, MIX, NOW, mistake.slug, "<script>"))
    assert (state.state, state.points, state.mistake_sentences) == ("partial", BEST / 2, (mistake.says,))
    assert mix_in(tmp_path, notebook, verdict_kept("partial", 99.0)).points == BEST
    assert mix_in(tmp_path, notebook, verdict_kept("error")).state == "wrong"


@pytest.mark.parametrize("newer", ["notebook", "command"])
@pytest.mark.parametrize(
    ("in_notebook", "by_command", "together"),
    [
        ("pass", "wrong", "pass"),
        ("wrong", "pass", "pass"),
        ("partial", "wrong", "partial"),
        ("wrong", "partial", "partial"),
        ("blank", "wrong", "wrong"),
    ],
)
def test_both_ways_together_are_never_worse_than_one(release, tmp_path, in_notebook, by_command, together, newer):
    notebook = filled(release, {"04-mix": MIX})
    leave_verdict(notebook, "04-mix", verdict_record("04.mix", in_notebook, 1.0, answer=text_hash(MIX)))
    when = NOW + timedelta(hours=1 if newer == "command" else -1)
    assert mix_in(tmp_path, notebook, verdict_kept(by_command, 1.0, MIX, when)).state == together


def test_of_two_equal_verdicts_the_newer_names_the_mistake(release, tmp_path):
    first, second = get_task("04.mix").mistakes[:2]
    notebook = filled(release, {"04-mix": MIX})
    record = verdict_record("04.mix", "wrong", 0.0, diagnosis=[first.slug], answer=text_hash(MIX))
    leave_verdict(notebook, "04-mix", record)
    for hours, named in ((1, second), (-1, first)):
        when = NOW + timedelta(hours=hours)
        assert mix_in(tmp_path, notebook, verdict_kept("wrong", 0.0, MIX, when, second.slug)).mistake_sentences == (
            named.says,
        )


def test_a_notebooks_verdict_on_the_answer_there_outlives_a_commands_on_an_older_one(release, tmp_path):
    notebook = filled(release, {"04-mix": MIX})
    leave_verdict(notebook, "04-mix", verdict_record("04.mix", answer=text_hash(MIX)))
    assert mix_in(tmp_path, notebook, verdict_kept("wrong", 0.0, "another")).state == "pass"


def test_an_answer_whose_marks_an_editor_lost_is_known_by_its_text(release, tmp_path):
    notebook = filled(release, {"04-mix": MIX})
    for cell in notebook.cells:
        if grade_id(cell) == "04-mix":
            cell.metadata.clear()
    assert mix_in(tmp_path, notebook, {}).state == "blank"
    assert mix_in(tmp_path, notebook, verdict_kept("pass", 2.0)).state == "pass"


def test_help_is_the_furthest_of_both_and_answered_questions_are_counted(release, tmp_path):
    notebook = filled(release, {"04-mix": MIX})
    leave_verdict(notebook, "04-mix", verdict_record("04.mix", help=2))
    changes = {"04.mix": {"help": HelpOnTask(1, ""), "questions": {"a": True, "b": False, "c": True}}}
    state = mix_in(tmp_path, notebook, changes)
    assert (state.help, state.questions) == (2, (3, 2))
    state = mix_in(tmp_path, notebook, {"04.mix": {"help": HelpOnTask(3, "")}})
    assert state.help == 3
    chapters = read_folder(tmp_path, STANDARD)
    line = as_json(chapters, NOW)["tasks"]["04.mix"]
    assert line["help"] == 3 and line["questions"] == {"asked": 3, "right": 2}
    assert "Questions on your own answers: 2 of 3 right.\n" in as_text(chapters)
    [chapter] = [each for each in chapters if each.chapter == 4]
    [alone] = chapter_as_text(chapter, "04.mix").splitlines()
    assert alone.endswith(f"right ({BEST:g} of {BEST:g} points, help up to the example, 2 of 3 questions right).")
    assert len(chapter_as_text(chapter).splitlines()) > len(chapter.tasks)


def test_a_damaged_file_costs_a_sentence(release, tmp_path):
    path = save(tmp_path, nbformat.writes(filled(release, {"04-mix": MIX})))
    (path.parent / KEPT_FILE).write_text("{")
    chapters = read_folder(tmp_path, STANDARD)
    assert as_text(chapters).count(f"{KEPT_FILE} is damaged") == 1
    assert next(each for each in chapters if each.chapter == 4).count("unchecked") == 1
    assert "was damaged and was written anew" in keep(path.parent, verdict_kept("pass", 2.0))
    assert mix_in(tmp_path, filled(release, {"04-mix": MIX}), {}).state == "pass"


def test_a_file_that_cannot_be_written_costs_a_sentence_and_leaves_nothing_behind(tmp_path):
    (tmp_path / KEPT_FILE).mkdir()
    sentence = keep(tmp_path, verdict_kept("pass", 2.0))
    assert "will not be remembered" in sentence and KEPT_FILE in sentence
    assert os.listdir(tmp_path) == [KEPT_FILE]
