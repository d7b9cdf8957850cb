"""Commands beside those of cli.py, for instructors and for students. Each imports what it needs when it runs."""

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from softlookup.grading.course import Course

COURSE = click.option(
    "--course",
    "folder",
    type=click.Path(path_type=Path),
    help="The course's folder. Default: course, if it is there, else this folder.",
)
_FILE = click.Path(path_type=Path, dir_okay=False)


def default_course() -> Path:
    """Where a course is looked for if none is named."""
    return Path("course") if Path("course").is_dir() else Path(".")


def course_in(folder: Path | None) -> "Course":
    """The course that is meant."""
    from softlookup.grading.course import Course

    return Course.at(folder or default_course())


@click.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--json", "file", type=_FILE, help="Write the numbers here too.")
def report(assignment: str, folder: Path | None, file: Path | None) -> None:
    """Show the class: who handed in, the spread of points, what cost the most, who is alike."""
    from softlookup.grading.class_report import class_report
    from softlookup.grading.class_table import show_class
    from softlookup.grading.table import terminal

    course = course_in(folder)
    found = class_report(course, assignment)
    show_class(terminal(), found)
    for sentence in course.left_out(assignment):
        click.echo(f"note: {sentence}")
    if file is not None:
        _write(file, json.dumps(found.as_json(), indent=2, ensure_ascii=False) + "\n")


@click.command()
@click.argument("student")
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--task", help="Only this task, such as 04.scale.")
def explain(student: str, assignment: str, folder: Path | None, task: str | None) -> None:
    """Show why STUDENT has these points: what was asked, got and wanted. For the instructor alone.

    What was graded is asked the same questions once more, in the sandbox.
    """
    from softlookup.grading.examine import Examiner
    from softlookup.grading.explained_text import explanation_text
    from softlookup.grading.explaining import explain as find

    found = find(course_in(folder), assignment, student, Examiner)
    click.echo(explanation_text(found, task), nl=False)


@click.command()
@click.argument("assignment", metavar="NN_topic")
@click.option("--to", "kind", type=click.Choice(["csv", "canvas", "moodle"]), default="csv", show_default=True)
@COURSE
@click.option("--class", "given", type=_FILE, help="canvas, moodle: the file that they gave; it is filled in.")
@click.option("--out", type=_FILE, help="Write here. Default: in the course's folder reports.")
@click.option("--column", help="canvas, moodle: the column for the grades, if it is not found.")
@click.option("--match", help="canvas, moodle: the column that holds the students' ids, if they are not found.")
@click.option("--scale", is_flag=True, help="canvas, moodle: scale points to the maximum that the file names.")
@click.option("--zeros", is_flag=True, help="canvas, moodle: 0 for those who handed in nothing.")
def export(assignment: str, kind: str, folder: Path | None, given: Path | None, out: Path | None, **how: Any) -> None:
    """Write grades as CSV: a table of our own, or the file that Canvas or Moodle gave, filled in.

    Canvas: Grades, Export. Moodle: the assignment's submissions, Download grading worksheet. Both take the file back.
    """
    from softlookup.grading.class_report import read_report
    from softlookup.grading.course import CourseError
    from softlookup.grading.exports import fill_canvas, fill_moodle, plain_table
    from softlookup.grading.gradesheet import read_sheet
    from softlookup.grading.lms_sheet import Options, read_text
    from softlookup.grading.plain_text import plain

    course = course_in(folder)
    graded = course.root / "reports" / f"{assignment}.json"
    lines = read_sheet(course, assignment, read_report(graded) if graded.is_file() else None)
    path = out or course.root / "reports" / f"{assignment}-{kind}.csv"
    if kind == "csv":
        done = plain_table(lines)
    elif given is None:
        raise CourseError(f"--to {kind} needs the file that {kind.capitalize()} gave: name it with --class")
    elif path.resolve() == given.resolve():
        raise CourseError(f"{given} would be written over: name another file with --out")
    elif kind == "canvas":
        done = fill_canvas(read_text(given), lines, assignment, Options(**how))
    else:
        done = fill_moodle(read_text(given), lines, Options(**how))
    done.write(path)
    click.echo(f"wrote {path}: grades of {done.written} students")
    for note in done.notes:
        click.echo(f"note: {plain(note, 4000)}")


@click.command()
@click.argument("names", metavar="[STUDENT] NN_topic", nargs=-1, required=True)
@COURSE
@click.option("--days", type=click.IntRange(0, 3650), default=0, help="Days that STUDENT has more than everybody.")
@click.option("--hours", type=click.IntRange(0, 1000), default=0, help="Hours that STUDENT has more than everybody.")
@click.option("--end", is_flag=True, help="STUDENT has no more time than everybody.")
@click.option("--due", help="When NN_topic is due for everybody, in UTC unless it names a zone; none for never.")
def extension(names: tuple[str, ...], folder: Path | None, days: int, hours: int, end: bool, due: str | None) -> None:
    """Give STUDENT more time for NN_topic, or set when it is due for everybody, and show what then holds.

    An extension takes the place of an earlier one. With NN_topic alone it shows what holds. Late penalties follow when
    the class is graded again.
    """
    from datetime import timedelta

    from softlookup.grading.deadlines import deadlines, deadlines_text, extend, set_due

    course = course_in(folder)
    assignment, student = names[-1], names[0] if len(names) == 2 else None
    if len(names) > 2:
        raise click.UsageError(f"got {len(names)} names; wanted STUDENT and NN_topic")
    if student is None and (days or hours or end):
        raise click.UsageError("an extension is for one student: wanted STUDENT and NN_topic")
    if student is not None and not (days or hours or end):
        raise click.UsageError("say how much more time, with --days or --hours, or --end")
    if end and (days or hours):
        raise click.UsageError("--end takes no --days and no --hours")
    found = deadlines(course, assignment)
    if due is not None:
        found = set_due(course, assignment, due)
    if student is not None:
        found = extend(course, assignment, student, timedelta(days=days, hours=hours))
    click.echo(deadlines_text(found))


@click.command()
@click.argument("student")
@COURSE
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(student: str, folder: Path | None, yes: bool) -> None:
    """Remove all that the course holds of STUDENT: grades, files, ledger, reports. It cannot be undone."""
    from softlookup.grading import forgetting
    from softlookup.grading.plain_text import one_line

    course = course_in(folder)
    kept = forgetting.kept_of(course, student)
    if not kept:
        click.echo(f"the course holds nothing of {one_line(student)}")
        return
    if not yes:
        click.echo(
            "\n".join([f"This will be removed of {one_line(student)}:", *(f"  {one_line(what)}" for what in kept)])
        )
        click.confirm("Remove it?", abort=True)
    removed = forgetting.forget(course, student)
    click.echo("\n".join(["removed:", *(f"  {one_line(what)}" for what in removed), forgetting.NOT_REACHED]))


def _write(path: Path, text: str) -> None:
    from softlookup.grading.disk import atomic_write

    atomic_write(path, text.encode("utf-8", "replace"))


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--again", is_flag=True, help="Write over answers that stand in the capstone already.")
def assemble(folder: Path | None, again: bool) -> None:
    """Bring your parts into the capstone: copy your answers from the notebooks in FOLDER (my_work, unless named)."""
    from softlookup.authoring import find_root
    from softlookup.authoring.assemble import AssembleError
    from softlookup.authoring.assemble import assemble as bring
    from softlookup.way.workplace import notebooks_folder

    try:
        found = bring(folder or notebooks_folder(Path(find_root())), again=again)
    except (AssembleError, FileNotFoundError) as error:
        raise click.ClickException(str(error)) from None
    words = {"kept": "kept, it holds an answer", "blank": "still blank there", "missing": "not found"}
    for one in found:
        click.echo(f"{one.cell:20} {words.get(one.what, one.what):26} {one.source}")


@click.command()
@click.option("--seed", required=True, type=click.IntRange(min=0), help="Draws the questions and their numbers.")
@click.option("--chapters", help="Such as 2-8 or 1,4,6-9. Default: all.")
@click.option("--route", type=click.Choice(["introduction", "systems"]), help="The chapters of a route instead.")
@click.option("--points", default=60, show_default=True, help="What the sheet is worth.")
@click.option("--key", "key_alone", is_flag=True, help="Print the key alone. Default: the sheet, and the key after it.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Write sheet and key here: .md and .html."
)
def exam(seed: int, chapters: str | None, route: str | None, points: int, key_alone: bool, out: Path | None) -> None:
    """Draw an exam sheet and its key: answers, marks, and the mistakes to expect.

    The same seed gives the same sheet. All sums can be done by hand.
    """
    from softlookup.exam import ExamError, draw_sheet, key_markdown, parse_chapters, sheet_markdown, write_exam

    if chapters and route:
        raise click.UsageError("got --chapters and --route; wanted one of them")
    try:
        asked = parse_chapters(chapters) if chapters else None
        if route:
            from softlookup.teaching import ROUTES

            asked = [number for number in ROUTES[route].chapters if 0 < number < 90]
        sheet = draw_sheet(seed, asked, points)
        if out is None:
            click.echo(key_markdown(sheet) if key_alone else f"{sheet_markdown(sheet)}\n---\n\n{key_markdown(sheet)}")
            return
        for path in write_exam(sheet, out):
            click.echo(f"wrote {path}")
    except (ExamError, FileNotFoundError) as error:
        raise click.ClickException(str(error)) from None


@click.command()
@click.argument("chapters", nargs=-1, type=int, metavar="[CHAPTER]...")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Write them here.")
def slides(chapters: tuple[int, ...], out: Path) -> None:
    """Make slides of each CHAPTER's figures and formulas (of all, unless named), from its page.

    They open by a double click and need no network. Outputs come from the book's last build, or from running the page.
    """
    from softlookup.teaching.export import write_slides
    from softlookup.teaching.pages import PageError

    try:
        for path in write_slides(chapters, out):
            click.echo(f"wrote {path}")
    except (PageError, FileNotFoundError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF JUPYTERLAB]")
def lab(options: tuple[str, ...]) -> None:
    """Open JupyterLab on your own copies of the notebooks, in the folder my_work.

    Notebooks that are not there yet are copied; nothing that you changed is ever written over.
    """
    from softlookup.authoring import find_root
    from softlookup.way.workplace import WORK, NoLab, give_out, lab_command, lab_environment

    try:
        root = Path(find_root()).resolve()
        command = lab_command(root, options)
    except (FileNotFoundError, NoLab) as error:
        raise click.ClickException(str(error)) from None
    given = give_out(root)
    if given.new:
        click.echo(f"{WORK}/ is yours: {len(given.new)} notebooks copied there. Git leaves it alone.")
    if given.renewed:
        click.echo(f"newer, and you had not changed them: {', '.join(given.renewed)}")
    if given.kept:
        click.echo(f"newer in exercises/, but yours hold your work and stay: {', '.join(given.kept)}")
    try:
        done = subprocess.run(command, cwd=root, env=lab_environment())
    except KeyboardInterrupt:  # JupyterLab had it too, and has asked what it means
        raise SystemExit(0) from None
    raise SystemExit(done.returncode)


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--json", "file", type=_FILE, help="Write the record here: a file for the book's page Your way.")
@click.option("--run", is_flag=True, help="Run the notebooks that are begun, rather than read what was saved.")
@click.option("--timeout", default=60.0, show_default=True, help="--run: seconds that one cell may take.")
def progress(folder: Path | None, file: Path | None, run: bool, timeout: float) -> None:
    """Say how far you are: tasks right, points, minutes left, mistakes named, what to do next.

    It reads the notebooks in FOLDER (my_work, unless named) as they were saved, and sends nothing anywhere. If the book
    is built, its page Your way shows the same.
    """
    from softlookup.authoring import find_root
    from softlookup.grading.rehearsal import executed
    from softlookup.way import as_json, as_script, as_text, read_folder
    from softlookup.way.report import SCRIPT
    from softlookup.way.workplace import notebooks_folder

    try:
        root = Path(find_root(folder)).resolve()
    except FileNotFoundError as error:
        if folder is None:
            raise click.ClickException(str(error)) from None
        root = None
    place = notebooks_folder(root) if folder is None and root is not None else folder or Path(".")

    def runs(name: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"running {name} …", err=True)

    chapters = read_folder(place, (lambda path: executed(path, timeout)) if run else None, runs)
    if all(one.file is None for one in chapters):
        raise click.ClickException(f"no notebook of the course in {place}: name the folder that holds their folders")
    record = as_json(chapters, datetime.now().astimezone())
    click.echo(as_text(chapters), nl=False)
    if file is not None:
        file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        click.echo(f"record: {file}")
    book = root / "_build" / "html" if root is not None else None
    page = Path("book", "your_way.html")
    if book is not None and (book / page).is_file():
        (book / SCRIPT).write_text(as_script(record), encoding="ascii")
        click.echo(f"page:   {book / page}")


COMMANDS = (report, explain, export, extension, forget, assemble, exam, slides, lab, progress)
"""What the command line adds to its own."""
