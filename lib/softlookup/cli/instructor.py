"""Commands for instructors. Each imports what it needs when it runs."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from softlookup.cli import by_hand, deadlines, groups, hand_ins, handing_out, vivas
from softlookup.cli.printing import as_pdf, live_figures
from softlookup.cli.releasing import ASSISTANTS, LAST_HELP, PER_STUDENT, release_into
from softlookup.cli.shared import (
    COURSE,
    EXISTING_FILE,
    EXISTING_FOLDER,
    FILE,
    FOLDER,
    HELP_STEPS,
    PATH,
    beside,
    checkout,
    course_in,
    default_course,
    keep_private,
    refuse,
    show_notes,
    sources,
)

if TYPE_CHECKING:
    from softlookup.grading.course.folder import Course
    from softlookup.grading.run.request import GradeRequest


@click.command()
@click.argument("assignments", metavar="[NN_topic]...", nargs=-1)
@COURSE
@click.option("--course-seed", "secret", help="A secret word, from which the variants of the tasks are drawn.")
@LAST_HELP
@click.option("--drop", multiple=True, metavar="TASK", help="Leave this task out. Repeatable.")
@click.option("--points", "points", multiple=True, metavar="TASK=NUMBER", help="Points for this task. Repeatable.")
@click.option("--all-tasks", is_flag=True, help="Forget earlier --drop and --points of these assignments.")
@click.option(
    "--force", is_flag=True, help="Release with another secret word, and replace changed sources; copies are kept."
)
@PER_STUDENT
@ASSISTANTS
def release(assignments: tuple[str, ...], folder: Path | None, **options: Any) -> None:
    """Put assignments into a course: those named, or all.

    In a course of 'softlookup course new', all are those of its chapters.

    Without a seed they are the public ones, whose solutions are published. The seed is not stored, only a fingerprint
    by which another word is refused: keep it, to release the same variants again.

    A source that you changed is left as it is and named. What --drop, --points, --last-help and --assistants chose
    holds for later releases of the same assignment, too.
    """
    release_into(checkout(), folder or default_course(), assignments, **options)


@click.command()
@click.argument("assignments", metavar="NN_topic...", nargs=-1, required=True)
@COURSE
@click.option("--student", "students", multiple=True, metavar="ID", help="Grade only this student, again. Repeatable.")
@click.option("--again", is_flag=True, help="Grade all submissions again, not only those that changed.")
@click.option("--workers", type=click.IntRange(min=1), help="Submissions graded at a time. Default: one per processor.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed for the questions. Default: random for a new run, then kept. A small number can be guessed.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["bubblewrap", "none"]),
    default="bubblewrap",
    show_default=True,
    help="What submissions run in. Use none only for code that you trust.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Grade on the Dask cluster of this scheduler, tcp://HOST:8786.")
@click.option("--no-feedback", is_flag=True, help="Do not write feedback pages.")
@click.option("--json", "report_file", type=FILE, help="Write the report here.")
def grade(
    assignments: tuple[str, ...],
    folder: Path | None,
    scheduler: str | None,
    no_feedback: bool,
    report_file: Path | None,
    **options: Any,
) -> None:
    """Grade all submissions of one or several assignments.

    It writes the grades into the gradebook, and makes feedback pages, a table and a report. Several assignments are
    graded one after the other.

    Submissions that were graded and have not changed are not graded again. The same command continues a run that
    was stopped or killed.
    """
    from softlookup.grading.run.engine import shared_by
    from softlookup.grading.run.request import GradeRequest

    names = list(dict.fromkeys(assignments))
    if report_file is not None and len(names) > 1:
        raise click.UsageError("--json writes the report of one assignment: the others are in the folder reports")
    course = course_in(folder)
    if options["sandbox"] == "none":
        click.secho(
            "warning: without a sandbox, submissions run with your rights and can read your files.", fg="red", err=True
        )
    executor = None
    if scheduler is not None:
        from softlookup.grading.workers.on_dask import dask_executor

        executor = dask_executor(scheduler)
    with shared_by(course, names if executor is None else ()) as zygotes:
        for name in names:
            if name != names[0]:
                click.echo()
            request = GradeRequest(name, feedback=not no_feedback, **options)
            how = {"executor": executor, "zygotes": zygotes}
            _grade(course, request, how, folder or default_course(), report_file)


def _grade(
    course: "Course", request: "GradeRequest", how: dict[str, Any], shown: Path, report_file: Path | None
) -> None:
    """Grade one assignment and show the report."""
    from softlookup.grading.data.disk import write_whole
    from softlookup.grading.judging.plain_tests import about_plain_tests
    from softlookup.grading.reports.class_report import collected_lines
    from softlookup.grading.reports.table import LiveProgress, as_text, show_report, terminal
    from softlookup.grading.run.engine import grade_assignment
    from softlookup.grading.samples.sample_class import planted

    assignment = request.assignment
    with LiveProgress(terminal(stderr=True)) as progress:
        try:
            report = grade_assignment(course, request, watch=progress, **how)
        except KeyboardInterrupt:
            done = f"{progress.done} of {progress.total} submissions are graded and kept"
            click.echo(f"softlookup: grading was stopped; {done}. Run the same command to continue.", err=True)
            raise SystemExit(130) from None
    known = planted(course, assignment)
    collected = collected_lines(course, assignment)
    show_report(terminal(), report, known, collected)
    reports = course.root / "reports"
    report.write(reports / f"{assignment}.json")
    write_whole(reports / f"{assignment}.txt", as_text(report, known, collected).encode("utf-8", "replace"))
    if report_file is not None:
        report.write(report_file)
    click.echo(f"grades:   {course.gradebook_place()}")
    click.echo(f"report:   {report_file or shown / 'reports' / (assignment + '.json')}")
    click.echo(f"feedback: {shown / 'feedback'}/STUDENT/{assignment}/{assignment}.html")
    click.echo(f"seed:     {report.seed}")
    show_notes(about_plain_tests(course, assignment))


@click.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--json", "file", type=FILE, help="Write the numbers here too.")
@click.option(
    "--earlier",
    multiple=True,
    type=EXISTING_FOLDER,
    help="A folder with submissions of an earlier year, to compare with. Repeatable.",
)
def report(assignment: str, folder: Path | None, file: Path | None, earlier: tuple[Path, ...]) -> None:
    """Show the class at a glance.

    It shows who handed in, how the points are distributed, what cost the most, and which answers are alike: to each
    other, to the published ones, or to those of an earlier year. A page shows them side by side.
    """
    from softlookup.grading.data.disk import atomic_write
    from softlookup.grading.reports.class_report import class_report
    from softlookup.grading.reports.class_table import show_class
    from softlookup.grading.reports.side_by_side import write_page
    from softlookup.grading.reports.table import terminal

    course = course_in(folder)
    before = [path for year_folder in earlier for path in sorted(year_folder.rglob(f"{assignment}.ipynb"))]
    if earlier and not before:
        refuse(f"no {assignment}.ipynb lies in {', '.join(map(str, earlier))}: name folders that hold submissions")
    results = class_report(course, assignment, before)
    show_class(terminal(), results)
    page = Path("reports", f"{assignment}-alike.html")
    if write_page(course.root / page, assignment, results.side_by_side):
        click.echo(f"side by side: {(folder or default_course()) / page}")
    show_notes(course.left_out(assignment))
    if file is not None:
        text = json.dumps(results.as_json(), indent=2, ensure_ascii=False) + "\n"
        atomic_write(file, text.encode("utf-8", "replace"))


@click.command()
@click.argument("student")
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--task", help="Only this task, such as 04.scale.")
def explain(student: str, assignment: str, folder: Path | None, task: str | None) -> None:
    """Show why STUDENT has these points.

    For the instructor only: it shows each question, the result of the answer, and the expected result.

    The graded answers are asked the same questions again, in the sandbox.
    """
    from softlookup.grading.judging.examine import SandboxExaminer
    from softlookup.grading.reports.explained_text import explanation_text
    from softlookup.grading.reports.explaining import explain as find

    explanation = find(course_in(folder), assignment, student, SandboxExaminer)
    click.echo(explanation_text(explanation, task), nl=False)


@click.command()
@click.argument("assignment", metavar="NN_topic")
@click.option("--to", "kind", type=click.Choice(["csv", "canvas", "moodle"]), default="csv", show_default=True)
@COURSE
@click.option(
    "--class", "exported", type=FILE, help="canvas, moodle: the file that was exported there, to be filled in."
)
@click.option("--out", type=FILE, help="Write here. Default: in the course's folder reports.")
@click.option("--column", help="canvas, moodle: the column for the grades, if it is not recognised.")
@click.option("--match", help="canvas, moodle: the column of the students' ids, if it is not recognised.")
@click.option("--scale", is_flag=True, help="canvas, moodle: scale points to the maximum that the file names.")
@click.option("--zeros", is_flag=True, help="0 for those who handed in nothing, or what cannot be graded.")
@click.option(
    "--decimal",
    type=click.Choice(["point", "comma"]),
    default="point",
    show_default=True,
    help="csv: comma for a spreadsheet in German, French or Spanish, which takes 11.1 for a date.",
)
@click.option(
    "--help-costs",
    "costs",
    type=(click.Choice(HELP_STEPS), click.FloatRange(0, 100)),
    multiple=True,
    metavar="STEP PERCENT",
    help="Subtract PERCENT of a task's points if a notebook says that help up to STEP was asked for. Can be repeated.",
)
def export(
    assignment: str,
    kind: str,
    folder: Path | None,
    exported: Path | None,
    out: Path | None,
    costs: tuple[tuple[str, float], ...],
    decimal: str,
    **how: Any,
) -> None:
    """Write grades as CSV, or fill in Canvas' or Moodle's file.

    Canvas: Grades, Export. Moodle: the assignment's submissions, Download grading worksheet. Both take the file back.
    Who handed in nothing, or what cannot be graded, has no grade: the cell stays as it is, or empty.
    """
    from softlookup.grading.course.grade_sheet import read_sheet
    from softlookup.grading.data.errors import CourseError
    from softlookup.grading.data.tables import read_table
    from softlookup.grading.platforms.exports import fill_canvas, fill_moodle, plain_table
    from softlookup.grading.platforms.lms_sheet import Options
    from softlookup.grading.platforms.worksheet import WORKSHEET
    from softlookup.grading.reports.class_report import read_report
    from softlookup.grading.reports.help_asked import helped, less_help

    course = course_in(folder)
    graded = course.root / "reports" / f"{assignment}.json"
    lines = read_sheet(course, assignment, read_report(graded) if graded.is_file() else None)
    taken: list[str] = []
    if costs:
        lines, taken = less_help(lines, helped(course, assignment, [line.student for line in lines]), dict(costs))
    path = out or course.root / "reports" / f"{assignment}-{kind}.csv"
    if kind == "csv":
        done = plain_table(lines, "," if decimal == "comma" else ".", how["zeros"])
    elif exported is None:
        raise CourseError(f"--to {kind} needs the file that {kind.capitalize()} exported: name it with --class")
    elif path.resolve() == exported.resolve():
        raise CourseError(f"{exported} would be overwritten: name another file with --out")
    elif kind == "canvas":
        done = fill_canvas(read_table(exported, "gradebook that Canvas exports"), lines, assignment, Options(**how))
    else:
        done = fill_moodle(read_table(exported, WORKSHEET), lines, Options(**how))
    if done.understood:
        click.echo(done.understood)
    done.write(path)
    click.echo(f"wrote the grades of {done.written} {'student' if done.written == 1 else 'students'} to {path}")
    show_notes((*done.notes, *taken))


@click.command()
@click.argument("student")
@COURSE
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def forget(student: str, folder: Path | None, yes: bool) -> None:
    """Remove all data of STUDENT from the course.

    This removes grades, files, ledger entries and reports, and cannot be undone.
    """
    from softlookup.grading import forgetting
    from softlookup.grading.course.student_ids import did_you_mean
    from softlookup.grading.data.plain_text import one_line

    course = course_in(folder)
    stored = forgetting.kept_of(course, student)
    if not stored:
        click.echo(f"the course holds no data of {one_line(student)}{did_you_mean(student, course.students())}")
        return
    if not yes:
        about = f"This will remove these data of {one_line(student)}:"
        click.echo("\n".join([about, *(f"  {one_line(what)}" for what in stored)]))
        click.confirm("Remove them?", abort=True)
    removed = forgetting.forget(course, student)
    click.echo("\n".join(["removed:", *(f"  {one_line(what)}" for what in removed), forgetting.NOT_REACHED]))


@click.command()
@click.argument("folder", metavar="DIR", type=PATH, callback=keep_private)
@click.option("--force", is_flag=True, help="Write into a folder that is not empty.")
@click.option(
    "--hostile",
    is_flag=True,
    help="Add students who attack the grader (in a clone of the repository). Grade them in the sandbox alone.",
)
@click.option(
    "--mistakes",
    type=click.IntRange(min=0),
    help="How many students hand in known mistakes, one of each task. Default: as many as it takes for all.",
)
@click.option("--tasks", "task_folder", type=EXISTING_FOLDER, help="A folder of own tasks, which is copied into DIR.")
def sample(folder: Path, force: bool, hostile: bool, mistakes: int | None, task_folder: Path | None) -> None:
    """Write a course with a sample class into DIR.

    The names of the students say what they handed in: right answers, half done ones, each known mistake, broken files.
    """
    from softlookup.checking.catalogue import catalogue_with
    from softlookup.checking.own import FOLDER, read_tasks
    from softlookup.grading.samples.sample_class import write_sample

    attackers = beside("attacks.writing").hand_in_all if hostile else None
    root = checkout()
    catalogue = catalogue_with(read_tasks(task_folder or folder / FOLDER))
    notebooks = sources(root, catalogue)
    course = write_sample(folder, notebooks, root / "nbgrader_config.py", force, attackers, mistakes, catalogue)
    if task_folder is not None and task_folder.resolve() != (folder / FOLDER).resolve():
        shutil.copytree(task_folder, folder / FOLDER, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    click.echo(f"wrote a course with {len(course.students())} students into {folder}")
    click.echo(f"next: softlookup grade {min(notebooks)} --course {folder}")


@click.command()
@click.option("--seed", type=click.IntRange(min=0), help="Seed for the questions and their numbers.")
@click.option("--chapters", help="Such as 2-8 or 1,4,6-9. Default: all.")
@click.option("--route", type=click.Choice(["introduction", "systems"]), help="The chapters of a route instead.")
@click.option(
    "--course", "folder", type=PATH, help="A course's folder: its chapters, without the tasks left out there."
)
@click.option("--points", default=60, show_default=True, help="Points of the sheet.")
@click.option("--include", multiple=True, metavar="ID", help="A question that has to be on it. Repeatable.")
@click.option("--exclude", multiple=True, metavar="ID", help="A question that must not be on it. Repeatable.")
@click.option("--versions", default="", metavar="A,B", help="Versions: the same questions with other numbers.")
@click.option("--key", "key_alone", is_flag=True, help="Print the key alone. Default: the sheet, and the key after it.")
@click.option("--list", "listing", is_flag=True, help="List all questions with their ids.")
@click.option(
    "--from", "edited", type=EXISTING_FILE, metavar="FILE.md", help="Make the page and PDF of an edited sheet or key."
)
@click.option("--out", type=FOLDER, help="Write sheet and key here: .md, .html, .pdf.")
def exam(seed: int | None, listing: bool, edited: Path | None, out: Path | None, **options: Any) -> None:
    """Draw an exam sheet and its key.

    The same seed gives the same sheet. All sums can be done by hand.
    """
    from softlookup.cli.exams import drawn, show
    from softlookup.exam import ExamError, write_exam, write_page

    try:
        if listing:
            click.echo(show())
            return
        if edited is not None:
            pages = [write_page(edited, out or edited.parent)]
        elif seed is None:
            raise click.UsageError("Missing option '--seed'")
        else:
            key_alone = options.pop("key_alone")
            sheets = drawn(seed, **options)
            if out is None:
                click.echo("\n".join(show(sheet, key_alone) for sheet in sheets), nl=False)
                return
            pages = [path for sheet in sheets for path in write_exam(sheet, out)]
        for path in (*pages, *as_pdf(pages)):
            click.echo(f"wrote {path}")
    except (ExamError, FileNotFoundError, ValueError) as error:
        raise click.ClickException(str(error)) from None


@click.command()
@click.argument("chapters", nargs=-1, type=int, metavar="[CHAPTER]...")
@click.option("--out", required=True, type=FOLDER, help="Write them here.")
def slides(chapters: tuple[int, ...], out: Path) -> None:
    """Make slides of chapters' figures and formulas.

    They come from the page of each CHAPTER; without CHAPTER, from all pages.

    They open by a double click and need no network. Outputs come from the last build of the book, or from running the
    page. Interactive figures are shown as pictures, and a PDF is made, if the book is built and Chromium is there.
    """
    from softlookup.curriculum.export import write_slides
    from softlookup.curriculum.pages import PageError

    try:
        written = []
        for path in write_slides(chapters, out, live=live_figures):
            written.append(path)
            click.echo(f"wrote {path}")
        for path in as_pdf(written, "?print-pdf"):
            click.echo(f"wrote {path}")
    except (PageError, FileNotFoundError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None


@click.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
def feedback(assignment: str, folder: Path | None) -> None:
    """Pack the feedback for Moodle's and Canvas's bulk upload.

    The students' files have to have come in the platform's own zip ('softlookup collect'), since Moodle and Canvas find
    students by the names in it. Moodle gets pages, Canvas gets notebooks with points and comments.
    """
    from softlookup.grading.platforms.feedback_zips import feedback_zips
    from softlookup.grading.reports.class_report import read_report

    course = course_in(folder)
    graded = course.root / "reports" / f"{assignment}.json"
    done = feedback_zips(course, assignment, read_report(graded) if graded.is_file() else None)
    for path, count in done.zips.items():
        shown = (folder or default_course()) / path.relative_to(course.root)
        click.echo(f"wrote the feedback of {count} {'student' if count == 1 else 'students'} to {shown}")
    show_notes(done.notes)


COMMANDS = (
    *(release, *handing_out.COMMANDS, *hand_ins.COMMANDS, *groups.COMMANDS),
    *(grade, report, explain, *by_hand.COMMANDS, export, feedback, *deadlines.COMMANDS),
    *(*vivas.COMMANDS, forget, sample, exam, slides),
)
