"""How far a student is: as lines for a terminal, and as the record that the book's page *Your way* takes."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from softlookup_command.plain_text import plain
from softlookup_course.curriculum.graph import NAMES
from softlookup_course.progress.advice import advise
from softlookup_course.progress.reading import ChapterState, TaskState
from softlookup_judge.data.result import HELP_STEPS

FORMAT = "softlookup-progress-1"
"""The record's kind; the page refuses any other."""

SCRIPT = "my_progress.js"
"""The file of the built book that brings the record to its page: a script, since a page on the disk may read nothing
else."""

EMPTY = "// softlookup progress writes here what the page Your way shows.\n"
"""What stands there before, and in every book that is built anew, so that nobody's progress is given to others."""

MOST_NAMED = 5
_TO_CHECK = ("changed", "unchecked")
_STATE = {
    "partial": "partly right",
    "wrong": "not right yet",
    "changed": "changed since its check",
    "unchecked": "no check yet",
}


def as_json(chapters: Sequence[ChapterState], when: datetime) -> dict[str, Any]:
    """The record for the page: for each task that is not blank its state, its points and the mistakes named."""
    recorded = {
        task_state.task.id: {
            **{"state": task_state.state, "points": task_state.points, "named": list(task_state.mistake_sentences)},
            **({"help": task_state.help} if task_state.help else {}),
            **({"questions": dict(zip(("asked", "right"), answered, strict=True))} if any(answered) else {}),
        }
        for chapter in chapters
        for task_state in chapter.tasks
        for answered in [task_state.questions]
        if task_state.state != "blank"
    }
    written = {name: done for chapter in chapters for name, done in chapter.written.items()}
    return {"format": FORMAT, "date": when.isoformat(timespec="seconds"), "tasks": recorded, "written": written}


def as_script(progress_record: dict[str, Any]) -> str:
    """The record as the file ``SCRIPT`` of the built book; in ASCII, whatever the record holds."""
    return f"window.softlookupProgress = {json.dumps(progress_record, indent=1)};\n"


def as_text(chapters: Sequence[ChapterState]) -> str:
    """The whole for a terminal: a line for each chapter, what was named, and what to do next."""
    lines = [*_table(chapters), "", *_next(chapters), *_helped(chapters), *_quizzed(chapters), *_remarks(chapters)]
    return "\n".join(lines) + "\n"


def chapter_as_text(chapter: ChapterState, task: str = "") -> str:
    """One notebook for a terminal, task by task, or only one ``task``."""
    lines = [_whole_line(task_state) for task_state in chapter.tasks if task in ("", task_state.task.id)]
    lines += [] if task else ["", *_table([chapter])]
    return "\n".join([*lines, *_remarks([chapter])]) + "\n"


def _name(chapter: ChapterState) -> str:
    """The chapter's name; an assignment of a course's own is called like its notebook."""
    return NAMES.get(chapter.chapter, chapter.file.stem[3:].replace("_", " ")[:17] if chapter.file else "own tasks")


def _table(chapters: Sequence[ChapterState]) -> Iterator[str]:
    yield f"{'':4}{'chapter':18}{'right':>9}{'partly':>8}{'open':>6}{'points':>14}{'minutes left':>14}"
    for chapter in chapters:
        if chapter.problem:
            yield f"{chapter.chapter:>2}  {_name(chapter):18}{plain(chapter.problem)}"
            continue
        right_text = f"{chapter.count('pass')} of {len(chapter.tasks)}"
        partly, points = chapter.count("partial"), f"{chapter.points:g} of {chapter.best:g}"
        still = len(chapter.tasks) - chapter.count("pass", "partial")
        row = f"{chapter.chapter:>2}  {_name(chapter):18}{right_text:>9}{partly:>8}{still:>6}{points:>14}"
        row += f"{chapter.minutes_left:>14}" if chapter.minutes_left else f"{'done':>14}"
        if chapter.file is None:
            row += "   no notebook in this folder"
        elif chapter.written:
            row += f"   in your own words: {sum(chapter.written.values())} of {len(chapter.written)}"
        yield row
    sure, every = sum(chapter.count("pass") for chapter in chapters), sum(len(chapter.tasks) for chapter in chapters)
    earned, best = sum(chapter.points for chapter in chapters), sum(chapter.best for chapter in chapters)
    minutes = sum(chapter.minutes_left for chapter in chapters)
    hours = f", about {max(1, round(minutes / 60))} h left" if minutes else ""
    yield f"{'':4}total: {sure} of {every} tasks right, {earned:g} of {best:g} points{hours}"


def _helped(chapters: Sequence[ChapterState]) -> Iterator[str]:
    """How much help was asked for, a line for each step."""
    for step_index, step in reversed(list(enumerate(HELP_STEPS, 1))):
        task_ids = [
            task_state.task.id for chapter in chapters for task_state in chapter.tasks if task_state.help == step_index
        ]
        if task_ids:
            more = f" and {len(task_ids) - MOST_NAMED} more" if len(task_ids) > MOST_NAMED else ""
            yield f"Help up to the {step}: {', '.join(task_ids[:MOST_NAMED])}{more}."


def _next(chapters: Sequence[ChapterState]) -> Iterator[str]:
    advice = advise(chapters)
    if advice.mend:
        yield "To mend:"
        yield from map(_line, advice.mend[:MOST_NAMED])
        if len(advice.mend) > MOST_NAMED:
            yield f"  and {len(advice.mend) - MOST_NAMED} more"
    if open_checks := [task_state.task.chapter for task_state in advice.mend if task_state.state in _TO_CHECK]:
        command = f"softlookup check {open_checks[0]:02d}"
        yield f"What has no check or changed since: run its check in the notebook and save, or run '{command}'."
    if advice.go_on is not None:
        now = next(chapter for chapter in chapters if chapter.chapter == advice.go_on)
        blank = next((task_state.task for task_state in now.tasks if task_state.state == "blank"), None)
        goes_on = f", with {blank.id}, {blank.title}" if blank else ""
        yield f"Go on with: {_chapter(advice.go_on)}{goes_on}."
    if advice.next is not None:
        needs = f" It needs {_list(advice.missing)}." if advice.missing else ""
        yield f"{'Then' if advice.go_on is not None else 'Begin with'}: {_chapter(advice.next)}.{needs}"
    if advice.open:
        yield f"Open to you as well: {_list(advice.open)}."
    if advice.go_on is None and advice.next is None:
        yield "All tasks are right. There is nothing left to do here."


def _quizzed(chapters: Sequence[ChapterState]) -> Iterator[str]:
    """How many questions on one's own answers were answered."""
    quizzed = [task_state for chapter in chapters for task_state in chapter.tasks if any(task_state.questions)]
    if quizzed:
        answered, right_count = (sum(task_state.questions[at] for task_state in quizzed) for at in (0, 1))
        yield f"Questions on your own answers: {right_count} of {answered} right."


def _remarks(chapters: Sequence[ChapterState]) -> Iterator[str]:
    return (
        f"note: {plain(sentence)}." for sentence in dict.fromkeys(chapter.remark for chapter in chapters) if sentence
    )


def _whole_line(task_state: TaskState) -> str:
    """A task with everything that is known of it."""
    task, (answered, right_count) = task_state.task, task_state.questions
    words = {"pass": "right", "blank": "nothing written yet", **_STATE}[task_state.state]
    more = [f"{task_state.points:g} of {task.points:g} points"]
    more += [f"help up to the {HELP_STEPS[task_state.help - 1]}"] * bool(task_state.help)
    more += [f"{right_count} of {answered} questions right"] * bool(answered)
    return " ".join([f"{task.id}, {task.title}: {words} ({', '.join(more)}).", *task_state.mistake_sentences[:1]])


def _line(task_state: TaskState) -> str:
    sentence = f" {task_state.mistake_sentences[0]}" if task_state.mistake_sentences else ""
    return f"  {task_state.task.id}, {task_state.task.title}: {_STATE[task_state.state]}.{sentence}"


def _chapter(chapter: int) -> str:
    return NAMES[chapter] if chapter >= 90 else f"{chapter} · {NAMES[chapter]}"


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(_chapter, numbers))
