"""A command that changes a course fails at any step: the course is as it was, or the same command finishes it."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import click
import nbformat
import pytest
from click.testing import CliRunner, Result
from failing import DEAD, DONE, FULL, KILLED, REFUSED, chosen, differences, restore, run_failing, snapshot_of
from fake_grader import here
from small_class import lay

from softlookup_command.commands import by_audience, main
from softlookup_grader import Course
from softlookup_grader.course.arrived import COLLECTED, Arrival, Arrivals
from softlookup_grader.course.collected import keep
from softlookup_grader.run import engine
from softlookup_judge.authoring import find_root

ROOT = find_root()
NAME, PART = "02_soft_lookup", "02.limit"
STUDENTS = ("ada", "ben", "cleo")
PARTS = 24
"""Each part tries every so many-th step of every command; the quick run takes one part of each."""


@dataclass(frozen=True)
class Row:
    """A command, and the course that it finds."""

    words: str  # the command line; FILES stands for the folder of the tables
    state: str  # "none", "released", "handed in" or "graded"


COMMANDS = {
    "release": Row(f"release {NAME}", "none"),
    "release again": Row(f"release {NAME} --points {PART}=0 --assistants tutor --last-help formula", "graded"),
    "release more": Row(f"release {NAME} --drop {PART} 04_one_head", "released"),
    "course new": Row("course new COURSE --chapters 2", "none"),
    "students": Row("students FILES/class.csv", "released"),
    "collect": Row(f"collect {NAME} FILES/folders", "released"),
    "times": Row(f"times {NAME} FILES/times.csv", "handed in"),
    "groups": Row(f"groups {NAME} FILES/groups.csv", "handed in"),
    "grade": Row(f"grade {NAME} --seed 7 --sandbox none --no-feedback", "handed in"),
    "report": Row(f"report {NAME}", "graded"),
    "share": Row(f"share {NAME} --between ana,bob", "graded"),
    "comment": Row(f"comment {NAME} ada 02.roles nice --save nice", "graded"),
    "export": Row(f"export {NAME}", "graded"),
    "feedback": Row(f"feedback {NAME}", "graded"),
    "extension": Row(f"extension ada {NAME} --days 2", "handed in"),
    "extension for all": Row(f"extension {NAME} --due 2027-02-01T12:00", "graded"),
    "accommodate": Row("accommodate ada --days 3 --time 1.5", "graded"),
    "forget": Row("forget ben --yes", "graded"),
    "handout": Row(f"handout {NAME}", "released"),
    "solutions": Row(f"solutions {NAME} --early", "graded"),
}
READ_ALONE = {"explain", "exam", "slides", "doctor", "course book"}
"""Commands for instructors that change nothing in a course, apart from the pages of a book that is built anew."""
ELSEWHERE = {
    "sample": "it takes long, and makes its folder anew: see test_grading_sample.py",
    "watch": "it collects and grades, and is killed in test_watch.py",
    "viva": "it runs the sandbox, and the same command makes the sheets anew",
}


@pytest.fixture(scope="module")
def courses(tmp_path_factory):
    """A course in each state, beside the tables that commands read."""
    base = tmp_path_factory.mktemp("fail")
    files = base / "files"
    files.mkdir()
    (files / "class.csv").write_text("id,first_name\n" + "".join(f"{name},{name.title()}\n" for name in STUDENTS))
    (files / "times.csv").write_text(
        "id,time\n" + "".join(f"{name},2027-01-02 10:0{i}\n" for i, name in enumerate(STUDENTS))
    )
    (files / "groups.csv").write_text("id,group\nada,1\nben,1\n")
    course = base / "course"
    copies = {name: base / name for name in ("released", "handed in", "graded")}
    assert run(course, f"release {NAME}").exit_code == 0
    assert run(course, f"students {files}/class.csv").exit_code == 0
    shutil.copytree(course, copies["released"])
    released = nbformat.read(course / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    for name in STUDENTS:
        for folder in (course / "submitted" / name / NAME, files / "folders" / name):
            folder.mkdir(parents=True)
            nbformat.write(released, folder / f"{NAME}.ipynb")
    assert run(course, f"extension {NAME} --due 2027-01-20T12:00").exit_code == 0
    came = {name: f"{name}_10{i}_assignsubmission_file/{NAME}.ipynb" for i, name in enumerate(STUDENTS)}
    keep(Course.at(course), NAME, Arrivals({name: Arrival(COLLECTED, source) for name, source in came.items()}))
    shutil.copytree(course, copies["handed in"])
    graded = run(course, COMMANDS["grade"].words)
    assert graded.exit_code == 0, graded.output
    for name in STUDENTS:
        lay(Course.at(course).folder("feedback", name, NAME) / f"{NAME}.html", "<p>")
    shutil.copytree(course, copies["graded"])
    return base


def run(course: Path, words: str) -> Result:
    """Run a command on a course, with a grader that runs no code."""
    before, engine.local_executor = engine.local_executor, lambda *_, **__: here()
    there = os.getcwd()
    os.chdir(ROOT)
    try:
        line = words.replace("FILES", str(course.with_name("files"))).replace("COURSE", str(course)).split()
        if "COURSE" not in words:
            line += ["--course", str(course)]
        return CliRunner().invoke(main, line)
    finally:
        engine.local_executor = before
        os.chdir(there)


def names_of(command: click.Command, above: str = "") -> set[str]:
    name = f"{above} {command.name}".strip()
    if isinstance(command, click.Group):
        return set().union(*(names_of(below, name) for below in command.commands.values()))
    return {name}


def test_every_command_that_changes_a_course_is_made_to_fail():
    known = set().union(*(names_of(command) for command in by_audience()["For instructors"]))
    tried = {name for name in known if any(row.words.startswith(f"{name} ") for row in COMMANDS.values())}
    assert known == tried | READ_ALONE | ELSEWHERE.keys()
    assert not tried & (READ_ALONE | ELSEWHERE.keys())


@pytest.mark.one_in(4 * PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_fails_at_a_step_leaves_what_it_found_or_what_the_same_command_finishes(courses, name, part):
    row, course = COMMANDS[name], courses / "course"

    def command() -> Result:
        return run(course, row.words)

    restore(courses / row.state, course)
    before = snapshot_of(course)
    done = run_failing(course, command)
    assert done.status == DONE, done.output
    after = snapshot_of(course)
    assert done.steps > 1
    for how in (FULL, KILLED):
        for step in chosen(done.steps, part, PARTS):
            restore(courses / row.state, course)
            failed = run_failing(course, command, step, how)
            where = f"{name}, {how} at step {step} of {done.steps}"
            assert failed.status in ((REFUSED, DONE) if how == FULL else (DEAD, DONE)), f"{where}: {failed.output}"
            left = snapshot_of(course)
            finished = run_failing(course, command)
            assert finished.status == DONE, f"{where}: {finished.output}"
            wrong = differences(snapshot_of(course), after)
            assert not wrong, f"{where}; before the same command: {differences(left, before)}; after it: {wrong}"
