"""The instructor's guide: every command on it is run, in order, in a checkout of its own."""

import csv
import io
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import click
import nbformat
import pytest
from built_book import ROOT
from guide_reader import Reader, own_environment, steps

from softlookup_course.samples.handins import answers, filled
from softlookup_grader import Course
from softlookup_grader.reports.stub_answers import STUBS, NamesInTests, Stub
from softlookup_judge import get_task
from softlookup_judge.authoring import read_solution
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.checking.trial import problems
from softlookup_judge.data.own import OwnTasks
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.home import Checker

NAME = "04_one_head"
FILE = f"{NAME}.ipynb"
PAGES = {name: (ROOT / "book" / f"{name}.md").read_text() for name in ("instructors", "instructors_later")}
PLAN = (ROOT / "book" / "instructors_plan.md").read_text()
OWN_TASK = (ROOT / "book" / "instructors_task.md").read_text()
AUTHOR = ["-c", "user.name=Student", "-c", "user.email=student@example.org"]
CLASS = {"ada": ("Ada Lovelace", 7101), "ben": ("Ben Banneker", 7102), "chen": ("Jingrun Chen", 7103)}


def checkout(folder: Path) -> Reader:
    """A reader with a checkout: what the commands need of it."""
    leave = shutil.ignore_patterns("__pycache__")
    for name in ("lib", "solutions", "exercises"):
        shutil.copytree(ROOT / name, folder / "soft-lookup" / name, ignore=leave)
    for name in ("_config.yml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, folder / "soft-lookup" / name)
    return Reader(folder / "soft-lookup", own_environment(folder / "soft-lookup", folder / "home"))


class World:
    """What students and platforms do while an instructor reads."""

    def __init__(self, folder: Path) -> None:
        self.root, self.exchange = folder / "soft-lookup" / "course", folder / "exchange"
        self.downloads, self.server = folder / "home" / "Downloads", folder / "server"
        self.exchange.mkdir(mode=0o777)
        self.downloads.mkdir(parents=True)

    def notebook(self, student: str) -> bytes:
        """What a student hands in: ada has all right, ben forgets the root, chen is half done."""
        right = answers(read_solution(ROOT / "solutions" / f"{NAME}.py"))
        if student == "ben":
            right["04-scale"] = get_task("04.scale").mistake("no-sqrt").applied_to(right["04-scale"])
        if student == "chen":
            right = dict(list(right.items())[:5]) | {"04-uniform": right["04-uniform"]}
        release = nbformat.read(self.root / "release" / NAME / FILE, as_version=4)
        return nbformat.writes(filled(release, right)).encode()

    def pushes(self) -> None:
        """Two students and a guest have repositories on a server."""
        for name in ("ada", "ben", "guest"):
            work = self.server / name / "work"
            work.mkdir(parents=True)
            (work / FILE).write_bytes(self.notebook(name))
            for words in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-qm", "Answers"]):
                subprocess.run(["git", *words], cwd=work.parent, check=True)
            work.parent.rename(self.server / f"{name}.git")

    def starts_again(self) -> None:
        """The page shows several ways to collect, each from the beginning."""
        for name in ("ada", "ben"):
            shutil.rmtree(self.root / "submitted" / name)

    def submits(self) -> None:
        """Ada hands in through the exchange."""
        when = "2026-12-01 17:00:00 UTC"
        folder = self.exchange / "softlookup" / "inbound" / f"ada+{NAME}+{when}+abc"
        folder.mkdir()
        (folder / FILE).write_bytes(self.notebook("ada"))
        (folder / "timestamp.txt").write_text(when)
        (folder / "submission_secret.txt").write_text("abc")

    def downloads_zips(self) -> None:
        """Moodle's zip has Ben's notebook, Canvas's has Chen's, and something that leads outside."""
        inside = {
            "moodle.zip": {f"Ben Banneker_82_assignsubmission_file_/{FILE}": self.notebook("ben")},
            "canvas.zip": {
                f"chenjingrun_LATE_7103_90210_{NAME}-1.ipynb": self.notebook("chen"),
                "../../gradebook.db": b"not yours",
            },
        }
        for name, entries in inside.items():
            with zipfile.ZipFile(self.downloads / name, "w") as archive:
                for path, content in entries.items():
                    archive.writestr(path, content)
        self.worksheet("Grades-CS1-One head-5.csv")

    def worksheet(self, name: str) -> None:
        """Moodle's list of an assignment, which numbers the participants in its own way."""
        people = [
            [f"Participant {80 + at}", name, f"{student}@example.org", "", "-", "100", "Yes"]
            for at, (student, (name, _)) in enumerate(CLASS.items(), 1)
        ]
        heads = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"]
        self._write(name, [heads, *people])

    def reads_answers(self) -> None:
        """The instructor gives everybody full points for the written answer."""
        with Course.at(self.root).gradebook() as book:
            for student in CLASS:
                grade = book.find_grade("04-uniform", NAME, NAME, student)
                grade.manual_score, grade.needs_manual_grade = 3.0, False
            book.db.commit()

    def exports(self) -> None:
        """Both platforms give their lists."""
        self.worksheet("worksheet.csv")
        heads = ["Student", "ID", "SIS Login ID", "Section", f"{NAME} (88)"]
        people = [[name, number, "", "one", ""] for name, number in CLASS.values()]
        self._write("canvas.csv", [heads, ["    Points Possible", "", "", "", "100"], *people])

    def _write(self, name: str, rows: list[list]) -> None:
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        (self.downloads / name).write_text(text.getvalue())


@pytest.mark.slow
def test_guide_says_what_happens(tmp_path: Path):
    reader, world = checkout(tmp_path), World(tmp_path)
    reader.here = {"/srv/nbgrader/exchange": str(world.exchange), "/srv/git": str(world.server)}
    reader.before = {
        "softlookup collect 04_one_head addresses.csv": world.pushes,
        "softlookup collect 04_one_head --exchange": world.submits,
        "softlookup collect 04_one_head ~/Downloads": world.downloads_zips,
        "softlookup export 04_one_head --to moodle": world.exports,
    }
    reader.after = {
        "jupyter lab": world.reads_answers,
        "softlookup collect 04_one_head addresses.csv": world.starts_again,
    }
    reader.follow("instructors", PAGES["instructors"])
    report = json.loads((world.root / "reports" / f"{NAME}.json").read_text())["submissions"]
    scores = {student: entry["score"] for student, entry in report.items()}
    best = report["ada"]["max"]
    assert scores["ada"] == best == scores["ben"] + 2
    assert 3 < scores["chen"] < scores["ben"]
    with open(world.root / "reports" / f"{NAME}-moodle.csv", newline="") as file:
        grades = {row["Full name"]: float(row["Grade"]) for row in csv.DictReader(file)}
    assert grades["Ada Lovelace"] == 100 and grades["Ben Banneker"] == pytest.approx(
        100 * scores["ben"] / best, abs=0.01
    )

    reader.follow("instructors_later", PAGES["instructors_later"])
    report = json.loads((world.root / "reports" / f"{NAME}.json").read_text())["submissions"]
    assert set(report) == {"ada", "ben"}
    assert report["ada"]["score"] == best - 1 == report["ben"]["score"] + 1
    assert not [step for step in ("submitted", "autograded", "feedback") if (world.root / step / "chen").exists()]


@pytest.mark.slow
def test_own_task_is_graded_and_its_mistakes_are_named(tmp_path: Path):
    reader = checkout(tmp_path)

    def releases_plain_test() -> None:
        """The page's assertions are those of an assignment that was made in nbgrader."""
        (source,) = re.findall(r"^```python\n(.*?)^```$", OWN_TASK, re.MULTILINE | re.DOTALL)
        answer = "def row_means(x):\n    ### BEGIN SOLUTION\n    return x.mean(-1)\n    ### END SOLUTION"
        marks = {"schema_version": 3, "task": False}
        cells = [
            nbformat.v4.new_code_cell(text, metadata={"nbgrader": {**marks, **about}})
            for text, about in (
                (answer, {"grade_id": "means", "solution": True, "grade": False, "locked": False}),
                (source, {"grade_id": "means-check", "solution": False, "grade": True, "locked": True, "points": 3}),
            )
        ]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        course = Course.at(reader.root / "course")
        course.release({"means": nbformat.v4.new_notebook(cells=cells, metadata=kernel)})

    reader.before = {"softlookup grade means": releases_plain_test}
    reader.follow("instructors_task", OWN_TASK)


@pytest.mark.parametrize("stub", STUBS[1:], ids=lambda stub: stub.name)
def test_own_task_is_not_passed_by_answers_that_solve_nothing(stub: Stub):
    files = tuple((Path(step.file).name, step.text) for step in steps("", OWN_TASK) if step.file)
    answers_by_name: dict[str, object] = {"__name__": "__main__"}
    assert stub.write is not None
    exec(stub.write(NamesInTests(("row_means",), (), ())), answers_by_name)
    result = Checker(Catalogue(OwnTasks(files))).check("99.row-means", answers_by_name["row_means"])
    assert result.verdict != "pass", result.text()


def test_own_task_is_thirty_lines():
    for step in steps("", OWN_TASK):
        if step.file.endswith("_tasks.py"):
            assert len([line for line in step.text.splitlines() if line.strip()]) <= 30


def test_own_tasks_name_their_mistakes():
    files = tuple((Path(step.file).name, step.text) for step in steps("", OWN_TASK) if step.file)
    catalogue = Catalogue(OwnTasks(files))
    course_tasks = [*catalogue.own_tasks(4), *catalogue.own_tasks(99)]
    assert [task.id for task in course_tasks] == ["04.colder", "99.row-means"]
    assert [len(task.mistakes) for task in course_tasks] == [3, 2]
    assert [problem for task in course_tasks for problem in problems(task)] == []
    both, means = ("over-columns", "not-divided"), variant_of(course_tasks[1])
    assert judge(means, LocalStudent(means, answer(means, both))).diagnosis == both


@pytest.mark.parametrize("page", [*PAGES, "instructors_task"])
def test_guide_leaves_few_blocks_out_and_says_why(page: str):
    text = {**PAGES, "instructors_task": OWN_TASK}[page]
    commands = [step for step in steps(page, text) if step.command]
    left_out = {step.place for step in commands if step.elsewhere}
    assert commands and len(left_out) <= 2
    for block in text.split(":class: elsewhere\n")[1:]:
        if not block.startswith(":caption:"):
            assert block.startswith("# needs ")


def test_guide_has_every_command_of_an_instructor():
    from softlookup_command.commands import main

    guide = " ".join([*PAGES.values(), OWN_TASK, PLAN])
    others = set("check hint quiz exercises train train-writer bench assemble lab plan progress read talk tune".split())
    assert [
        name
        for name in main.list_commands(click.Context(main))
        if name not in others and f"$ softlookup {name}" not in guide
    ] == []


def test_reader_complains_of_a_failed_command_and_of_other_output(tmp_path: Path):
    reader = Reader(tmp_path, own_environment(tmp_path, tmp_path / "home"))
    with pytest.raises(AssertionError, match="exit status 3"):
        reader.follow("page", "```console\n$ exit 3\n```\n")
    with pytest.raises(AssertionError, match="'two' was not printed"):
        reader.follow("page", "```console\n$ echo one\ntwo\n```\n")
