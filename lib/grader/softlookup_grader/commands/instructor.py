"""Commands for instructors: grades. Each imports what it needs when it runs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from softlookup_command.shared import EXISTING_FOLDER, FILE, refuse, show_notes
from softlookup_grader.commands.shared import COURSE, HELP_STEPS, course_in, default_course

if TYPE_CHECKING:
    from softlookup_grader.course.folder import Course
    from softlookup_grader.run.request import GradeRequest


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
@click.option(
    "--explain-tests",
    is_flag=True,
    help="Grade nobody: show which test cells pass with answers that solve nothing.",
)
def grade(
    assignments: tuple[str, ...],
    folder: Path | None,
    scheduler: str | None,
    no_feedback: bool,
    report_file: Path | None,
    explain_tests: bool,
    **options: Any,
) -> None:
    """Grade all submissions of one or several assignments.

    It writes the grades into the gradebook, and makes feedback pages, a table and a report. Several assignments are
    graded one after the other.

    Submissions that were graded and have not changed are not graded again. The same command continues a run that
    was stopped or killed.
    """
    from softlookup_grader.run.engine import shared_by
    from softlookup_grader.run.request import GradeRequest

    names = list(dict.fromkeys(assignments))
    if report_file is not None and len(names) > 1:
        raise click.UsageError("--json writes the report of one assignment: the others are in the folder reports")
    if explain_tests and (report_file or scheduler or options["students"]):
        raise click.UsageError("--explain-tests grades nobody: leave out --json, --scheduler and --student")
    course = course_in(folder)
    if options["sandbox"] == "none":
        click.secho(
            "warning: without a sandbox, submissions run with your rights and can read your files.", fg="red", err=True
        )
    if explain_tests:
        from softlookup_grader.reports import explaining_tests

        for name in names:
            tests = explaining_tests.explain_tests(course, name, options["sandbox"])
            click.echo(explaining_tests.tests_text(name, tests), nl=False)
        return
    executor = None
    if scheduler is not None:
        from softlookup_grader.workers.on_dask import dask_executor

        executor = dask_executor(scheduler)
    with shared_by(course, names if executor is None else ()) as zygotes:
        for name in names:
            if name != names[0]:
                click.echo()
            request = GradeRequest(name, feedback=not no_feedback, **options)
            how = {"executor": executor, "zygotes": zygotes}
            _grade(course, request, how, folder or default_course(), report_file)


def _grade(
    course: "Course", request: "GradeRequest", how: dict[str, Any], displayed_folder: Path, report_file: Path | None
) -> None:
    """Grade one assignment and show the report."""
    from softlookup_grader.data.disk import write_whole
    from softlookup_grader.judging.plain_tests import about_plain_tests
    from softlookup_grader.reports.class_report import collected_lines
    from softlookup_grader.reports.planted import planted_mistakes
    from softlookup_grader.reports.table import LiveProgress, as_text, show_report, terminal
    from softlookup_grader.run.engine import grade_assignment

    assignment = request.assignment
    with LiveProgress(terminal(stderr=True)) as progress:
        try:
            report = grade_assignment(course, request, watch=progress, **how)
        except KeyboardInterrupt:
            done = f"{progress.done} of {progress.total} submissions are graded and kept"
            click.echo(f"softlookup: grading was stopped; {done}. Run the same command to continue.", err=True)
            raise SystemExit(130) from None
    known = planted_mistakes(course, assignment)
    collected = collected_lines(course, assignment)
    show_report(terminal(), report, known, collected)
    reports = course.root / "reports"
    report.write(reports / f"{assignment}.json")
    write_whole(reports / f"{assignment}.txt", as_text(report, known, collected).encode("utf-8", "replace"))
    if report_file is not None:
        report.write(report_file)
    click.echo(f"grades:   {course.gradebook_place()}")
    click.echo(f"report:   {report_file or displayed_folder / 'reports' / (assignment + '.json')}")
    click.echo(f"feedback: {displayed_folder / 'feedback'}/STUDENT/{assignment}")
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
    from softlookup_grader.data.disk import atomic_write
    from softlookup_grader.reports.class_report import class_report
    from softlookup_grader.reports.class_table import show_class
    from softlookup_grader.reports.side_by_side import write_page
    from softlookup_grader.reports.table import terminal

    course = course_in(folder)
    names = [f"{name}.ipynb" for name in course.layout(assignment).notebooks]
    before = [path for year_folder in earlier for name in names for path in sorted(year_folder.rglob(name))]
    if earlier and not before:
        refuse(f"no {' or '.join(names)} lies in {', '.join(map(str, earlier))}: name folders that hold submissions")
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
    from softlookup_grader.judging.examine import SandboxExaminer
    from softlookup_grader.reports.explained_text import explanation_text
    from softlookup_grader.reports.explaining import explain as find

    explanation = find(course_in(folder), assignment, student, SandboxExaminer)
    click.echo(explanation_text(explanation, task), nl=False)


@click.command()
@click.argument("assignment", metavar="NN_topic")
@click.option("--to", "file_format", type=click.Choice(["csv", "canvas", "moodle"]), default="csv", show_default=True)
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
    file_format: str,
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
    from softlookup_grader.course.grade_sheet import read_sheet
    from softlookup_grader.data.errors import CourseError
    from softlookup_grader.data.tables import read_table
    from softlookup_grader.platforms.exports import fill_canvas, fill_moodle, plain_table
    from softlookup_grader.platforms.lms_sheet import Options
    from softlookup_grader.platforms.worksheet import WORKSHEET
    from softlookup_grader.reports.class_report import read_report
    from softlookup_grader.reports.help_asked import helped, less_help

    course = course_in(folder)
    graded = course.root / "reports" / f"{assignment}.json"
    lines = read_sheet(course, assignment, read_report(graded) if graded.is_file() else None)
    help_notes: list[str] = []
    if costs:
        lines, help_notes = less_help(lines, helped(course, assignment, [line.student for line in lines]), dict(costs))
    path = out or course.root / "reports" / f"{assignment}-{file_format}.csv"
    if file_format == "csv":
        done = plain_table(lines, "," if decimal == "comma" else ".", how["zeros"])
    elif exported is None:
        raise CourseError(
            f"--to {file_format} needs the file that {file_format.capitalize()} exported: name it with --class"
        )
    elif path.resolve() == exported.resolve():
        raise CourseError(f"{exported} would be overwritten: name another file with --out")
    elif file_format == "canvas":
        done = fill_canvas(read_table(exported, "gradebook that Canvas exports"), lines, assignment, Options(**how))
    else:
        done = fill_moodle(read_table(exported, WORKSHEET), lines, Options(**how))
    if done.understood:
        click.echo(done.understood)
    done.write(path)
    click.echo(f"wrote the grades of {done.written} {'student' if done.written == 1 else 'students'} to {path}")
    show_notes((*done.notes, *help_notes))


@click.command()
@click.argument("student")
@COURSE
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def forget(student: str, folder: Path | None, yes: bool) -> None:
    """Remove all data of STUDENT from the course.

    This removes grades, files, ledger entries and reports, and cannot be undone.
    """
    from softlookup_command.plain_text import one_line
    from softlookup_grader import forgetting
    from softlookup_grader.course.student_ids import did_you_mean

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
@click.argument("assignment", metavar="NN_topic")
@COURSE
def feedback(assignment: str, folder: Path | None) -> None:
    """Pack the feedback for Moodle's and Canvas's bulk upload.

    The students' files have to have come in the platform's own zip ('softlookup collect'), since Moodle and Canvas find
    students by the names in it. Moodle gets pages, Canvas gets notebooks with points and comments.
    """
    from softlookup_grader.platforms.feedback_zips import feedback_zips
    from softlookup_grader.reports.class_report import read_report

    course = course_in(folder)
    graded = course.root / "reports" / f"{assignment}.json"
    done = feedback_zips(course, assignment, read_report(graded) if graded.is_file() else None)
    for path, count in done.zips.items():
        displayed_path = (folder or default_course()) / path.relative_to(course.root)
        click.echo(f"wrote the feedback of {count} {'student' if count == 1 else 'students'} to {displayed_path}")
    show_notes(done.notes)


COMMANDS = (grade, report, explain, export, feedback, forget)
