"""What students get of a released assignment: one notebook, or a zip, ready to be put on a platform.

Source for Moodle's names: mod/assign/feedback/file/importziplib.php lists every participant, also those who have
handed in nothing, and takes the second word between underscores for the participant number.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo

from nbformat import NotebookNode

from softlookup_command.plain_text import one_line
from softlookup_course.giving_out.packing import changed_since, files_in, packed, require_one_notebook
from softlookup_grader.course.deadlines import as_text, deadlines
from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import read_notebook
from softlookup_grader.course.personal import FOLDER, is_personal, own_release
from softlookup_grader.course.releasing import Released
from softlookup_grader.data.errors import CourseError
from softlookup_grader.platforms.worksheet import Worksheet
from softlookup_judge.authoring.fill import BOOK

README = "README.txt"
_NAMED = 10
_SOLUTION = "ends with one solution, asked for twice"
_HELP = {
    "none": "is switched off, and a check gives its verdict alone",
    "nudge": "ends with a hint",
    "formula": "ends with the formula",
    "example": "ends with a worked example",
}
"""What is said of help, by the last step that a notebook allows; where it names none, all are given."""


@dataclass(frozen=True)
class Handout:
    """What was packed: ``students`` with a notebook of their own (0: all the same), and sentences to hand on."""

    file: str
    content: bytes
    students: int
    words: str
    help: str
    dead_links: bool
    unknown: tuple[str, ...] = ()


def make_handout(course: Course, assignment: str, worksheet: Worksheet | None = None) -> Handout:
    """Pack what students get of one assignment; with Moodle's grading worksheet, so that Moodle finds the owners."""
    course.require(assignment)
    require_one_notebook(course, assignment)
    path = course.notebook("release", ".", assignment)
    if not path.is_file():
        raise CourseError(
            f"{assignment} was not released, there is no {path}: 'softlookup release {assignment}' does it"
        )
    if changed := changed_since(course, assignment):
        raise CourseError(
            f"the source of {assignment} was changed since it was released ({_listed(changed, 5)}): 'nbgrader "
            f"generate_assignment {assignment} --force' or 'softlookup release {assignment}' makes the release anew"
        )
    released, due = read_notebook(path), deadlines(course, assignment)
    common = files_in(path.parent, besides=FOLDER)
    facts = _Facts.of(assignment, released, Released(course).book)

    def with_readme(files: Mapping[str, bytes], when: datetime | None, folder: str) -> dict[str, bytes]:
        text = facts.words(when, due.zone).encode()
        return {f"{folder}/{name}": content for name, content in ({README: text} | {**files}).items()}

    about = (facts.words(due.due, due.zone), facts.help, facts.dead_links)
    if not (is_personal(course, assignment) or Released(course).choices(assignment).per_student):
        if worksheet is not None:
            raise CourseError(
                f"all students get the same notebook of {assignment}: put it into Moodle as a file of the assignment, "
                "without a grading worksheet"
            )
        if set(common) == {path.name}:
            return Handout(path.name, common[path.name], 0, *about)
        return Handout(f"{assignment}.zip", packed(with_readme(common, due.due, assignment)), 0, *about)

    notebooks = {student: own_release(course, assignment, student) for student in course.students()}
    if missing := [student for student, notebook in notebooks.items() if notebook is None]:
        raise CourseError(
            f"no notebook was made for {_listed(missing)}: 'softlookup release {assignment} --course-seed WORD "
            "--per-student' makes those that are missing, and the others stay as they are"
        )
    for_each = {
        student: common | {path.name: notebook} for student, notebook in notebooks.items() if notebook is not None
    }
    if worksheet is None:
        files = {
            name: content
            for student, parts in for_each.items()
            for name, content in with_readme(parts, due.due_for(student), student).items()
        }
        return Handout(f"{assignment}.zip", packed(files), len(for_each), *about)
    files, matched, unknown = {}, set[str](), []
    for participant, student, why in worksheet.participants():
        if why:
            unknown.append(why)
        elif student not in for_each:
            unknown.append(f"participant {participant} is {one_line(student)}, for whom there is no notebook")
        else:
            matched.add(student)
            files.update(
                with_readme(
                    for_each[student], due.due_for(student), f"Participant_{participant}_assignsubmission_file_"
                )
            )
    if not matched:
        raise CourseError(
            f"nobody in the grading worksheet is in this class: {'; '.join(unknown[:3]) or 'it is empty'}"
        )
    if without_row := sorted(for_each.keys() - matched):
        unknown.append(f"these are in this class, but not in the worksheet: {_listed(without_row)}")
    return Handout(f"{assignment}-moodle.zip", packed(files), len(matched), *about, tuple(unknown))


def _listed(names: list[str], most: int = _NAMED) -> str:
    """Names in a sentence, those beyond the first few counted."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(one_line, names[:most])) + more


@dataclass(frozen=True)
class _Facts:
    """What a released notebook says of itself: addresses and help stand in its first code cell."""

    assignment: str
    title: str
    install: str
    book: str
    last_help: str
    dead_links: bool

    @classmethod
    def of(cls, assignment: str, notebook: NotebookNode, book: str) -> "_Facts":
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        text = "\n".join(cell.source for cell in notebook.cells)
        install = re.search(r"run_line_magic\(\"pip\", ['\"]install [^'\"]*?(\S+)['\"]\)", code)
        last_help = re.search(r'^os\.environ\["SOFTLOOKUP_HELP"\] = (\'\w+\'|"\w+")', code, re.MULTILINE)
        title = re.search(r"^# (.+)", text, re.MULTILINE)
        return cls(
            assignment,
            title[1] if title else assignment,
            install[1] if install else "",
            book,
            ast.literal_eval(last_help[1]) if last_help else "",
            f"]({BOOK}" in text,
        )

    @property
    def help(self) -> str:
        """What is said of help."""
        return _HELP.get(self.last_help, _SOLUTION)

    def words(self, due: datetime | None, zone: tzinfo) -> str:
        """What students have to know, a few lines."""
        library = (
            f'python -m pip install "softlookup-all[student] @ {self.install}"'
            if self.install
            else "as your course says"
        )
        more = f" ({self.book.rstrip('/')}/book/00_before_you_start_running.html)" if self.book else ""
        file = f"{self.assignment}.ipynb"
        until = "there is no due date yet" if due is None else as_text(due, zone)
        return (
            f"{self.title}\n\n"
            f"Install: Python 3.11 or newer, then the library softlookup with JupyterLab: {library}{more}\nWork:    "
            f"jupyter lab {file}, in this folder; softlookup check {file} shows what would be graded\nHand in: {file}, "
            f"saved, under this name\nDue:     {until}\nHelp:    hint(TASK) in the notebook {self.help}\n"
        )
