"""The command line, ``softlookup``. A command imports what it needs when it runs, so help comes at once."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from softlookup import __version__
from softlookup.bench import BENCHES, refusals, run
from softlookup.commands import COMMANDS, COURSE, course_in, default_course


class Refusal(click.ClickException):
    """Something the user can mend: one sentence on stderr, exit status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the sentence."""
        click.echo(f"softlookup: {self.format_message()}", file=file or sys.stderr)


class _Commands(click.Group):
    """Turns what users can mend into one sentence; anything else is our fault and keeps its traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ValueError as error:
            from softlookup.grading import BadNotebook, CourseError

            if isinstance(error, BadNotebook | CourseError):
                _refuse(str(error))
            raise
        except PermissionError as error:
            _refuse(f"no permission for {error.filename}")


def _refuse(sentence: str) -> NoReturn:
    from softlookup.grading.plain_text import plain

    # A sentence may hold what a student chose: an id, a file's name.
    sentence = plain(sentence, 4000)
    raise Refusal(sentence if sentence.endswith((".", "?")) else sentence + ".") from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="softlookup")
def main() -> None:
    """Soft Lookup: a course on transformers. Make its notebooks, check them, grade a class."""


@main.command()
@click.option("--check", is_flag=True, help="Change nothing; fail if a notebook is not what solutions/ gives.")
def exercises(check: bool) -> None:
    """Make exercises/ from solutions/."""
    from softlookup.authoring import build_exercises

    root = _root()
    stale = [str(Path(path).resolve().relative_to(root)) for path in build_exercises(root, check=check)]
    if check and stale:
        click.echo("stale: " + ", ".join(stale) + "; run 'softlookup exercises' and commit what it writes", err=True)
        raise SystemExit(1)
    if check:
        click.echo("exercises/ is what solutions/ gives")
    else:
        click.echo("wrote " + ", ".join(stale) if stale else "nothing to do: exercises/ is what solutions/ gives")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Everything about each task, its known mistakes too, as JSON.")
def tasks(as_json: bool) -> None:
    """List the graded tasks."""
    from softlookup.checks import tasks as all_tasks

    listed = all_tasks()
    if as_json:
        click.echo(json.dumps([task.summary() for task in listed], indent=2, ensure_ascii=False))
        return
    from rich.table import Table

    from softlookup.grading.table import terminal

    table = Table("id", "title", "points", "minutes", "difficulty", "known mistakes")
    for task in listed:
        cells = (f"{task.points:g}", task.minutes, f"{task.difficulty} of 3", len(task.mistakes))
        table.add_row(task.id, task.title, *map(str, cells))
    terminal().print(table)


@main.command()
@click.argument("notebook", type=click.Path(path_type=Path))
@click.option("--timeout", default=60.0, show_default=True, help="Seconds that one cell may take.")
def check(notebook: Path, timeout: float) -> None:
    """Run NOTEBOOK in a fresh kernel and say what its checks say.

    Exit status 0 if every task is right, 1 if not, 2 if the file cannot be run.
    """
    from softlookup.checks.result import HEADLINES
    from softlookup.grading.notebooks import own_cells, read_notebook
    from softlookup.grading.rehearsal import rehearse

    def step(number: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\rcell {number} of {total} ", nl=number == total, err=True)

    outcomes = rehearse(notebook, timeout, step)
    if not outcomes:
        _refuse(f"{notebook.name} ran, but it holds no checks: is it one of the course's notebooks?")
    for one in outcomes:
        click.echo(f"{one.task}: {HEADLINES[one.verdict]}, {one.points:g} of {one.max:g} points")
        if one.verdict != "pass" and one.message:
            click.echo(click.wrap_text(one.message, 100, "    ", "    "))
    earned, best = sum(one.points for one in outcomes), sum(one.max for one in outcomes)
    right = sum(one.verdict == "pass" for one in outcomes)
    added = own_cells(read_notebook(notebook))
    if added:
        many = "one cell of your own is" if added == 1 else f"{added} cells of your own are"
        click.echo(f"note: {many} left out when it is graded: what an answer needs belongs in its own cell")
    click.echo(f"total: {earned:g} of {best:g} points, {right} of {len(outcomes)} tasks right")
    raise SystemExit(0 if right == len(outcomes) else 1)


@main.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Write into a folder that holds other things as well.")
@click.option("--hostile", is_flag=True, help="Add students who attack the grader. Grade them in the sandbox alone.")
def sample(folder: Path, force: bool, hostile: bool) -> None:
    """Write a course with a sample class into DIR.

    Students' names say what they did: right, half done, each known mistake, broken.
    """
    from softlookup.grading.sample import write_sample

    root = _root()
    sources = _sources(root)
    course = write_sample(folder, sources, root / "nbgrader_config.py", force, hostile)
    click.echo(f"wrote a course with {len(course.students())} students into {folder}")
    click.echo(f"next: softlookup grade {min(sources)} --course {folder}")


@main.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--student", "students", multiple=True, metavar="ID", help="Only this one, once more. Can be repeated.")
@click.option("--again", is_flag=True, help="Grade everybody anew, not only what has changed.")
@click.option("--workers", type=click.IntRange(min=1), help="Submissions at a time. Default: one for each processor.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Draws the questions. Default: drawn for a new run, then kept. A small number can be guessed.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["bubblewrap", "none"]),
    default="bubblewrap",
    show_default=True,
    help="What submissions run in; none is for code that you trust.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Grade on the Dask cluster of this scheduler, tcp://HOST:8786.")
@click.option("--no-feedback", is_flag=True, help="Make no feedback pages.")
@click.option("--json", "report_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report here.")
def grade(
    assignment: str,
    folder: Path | None,
    scheduler: str | None,
    no_feedback: bool,
    report_file: Path | None,
    **asked: Any,
) -> None:
    """Grade everybody's NN_topic: gradebook, feedback pages, a table and a report.

    What was graded and has not changed is not graded again; a run that was stopped, or killed, goes on with the
    same command.
    """
    from softlookup.grading.disk import write_whole
    from softlookup.grading.engine import Order, grade_assignment
    from softlookup.grading.sample import planted
    from softlookup.grading.table import LiveProgress, as_text, show_report, terminal

    course = course_in(folder)
    order = Order(assignment, feedback=not no_feedback, **asked)
    if order.sandbox == "none":
        click.secho(
            "warning: no sandbox. What was handed in runs with your rights and can read your files.", fg="red", err=True
        )
    executor = None
    if scheduler is not None:
        from softlookup.grading.on_dask import dask_executor

        executor = dask_executor(scheduler)
    with LiveProgress(terminal(stderr=True)) as progress:
        try:
            report = grade_assignment(course, order, executor=executor, watch=progress)
        except KeyboardInterrupt:
            done = f"{progress.done} of {progress.total} are done and kept"
            click.echo(f"softlookup: stopped; {done}. The same command goes on.", err=True)
            raise SystemExit(130) from None
    known = planted(course, assignment)
    show_report(terminal(), report, known)
    reports = course.root / "reports"
    report.write(reports / f"{assignment}.json")
    write_whole(reports / f"{assignment}.txt", as_text(report, known).encode("utf-8", "replace"))
    if report_file is not None:
        report.write(report_file)
    shown = folder or default_course()
    click.echo(f"grades:   {course.gradebook_place()}")
    click.echo(f"report:   {report_file or shown / 'reports' / (assignment + '.json')}")
    click.echo(f"feedback: {shown / 'feedback'}/STUDENT/{assignment}/{assignment}.html")
    click.echo(f"seed:     {report.seed}")


@main.command()
@COURSE
@click.option("--course-seed", "secret", help="A secret word of this course: it draws the variants of the tasks.")
def release(folder: Path | None, secret: str | None) -> None:
    """Put the assignments into a course: source, release and gradebook.

    Without a seed they are the public ones, whose solutions are published. The seed is not written down: keep
    it, to release the same variants again.
    """
    from softlookup.grading import Course, new_course

    root = _root()
    folder = folder or default_course()
    is_course = (folder / "nbgrader_config.py").is_file()
    course = Course.at(folder) if is_course else new_course(folder, root / "nbgrader_config.py")
    sources = _sources(root, secret)
    course.release(sources)
    for name in sources:
        click.echo(f"released {name}: {folder / 'release' / name / (name + '.ipynb')}")


@main.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--source", default="en", show_default=True, help="The ending of the source's files.")
@click.option("--target", default="fr", show_default=True, help="The ending of the target's files.")
@click.option("--recipe", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A JSON file of settings.")
@click.option("--begin", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Go on from a translator.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the translator goes.")
@click.option("--device", default="cpu", show_default=True, help="cpu or cuda.")
@click.option("--minutes", type=float, help="Stop after so long; the same command goes on.")
def train(folder: Path | None, **given: Any) -> None:
    """Train a translator on FOLDER's train.en and train.fr (or .gz); without FOLDER, on a small generated grammar.

    val.en and val.fr choose the best weights. A run that was stopped, or killed, goes on with the same command.
    """
    from softlookup.training.command import TrainingRefused, train_command

    try:
        status = train_command(folder, **given)
    except TrainingRefused as refusal:
        _refuse(str(refusal))
    sys.exit(status)


@main.command()
@click.argument(
    "name",
    type=click.Choice(list(BENCHES)),
)
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write the measurements here.")
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True, file_okay=False), help="training: a folder of pairs."
)
@click.option(
    "--figure", type=click.Path(path_type=Path, dir_okay=False), help="decoding: draw the cost of a step here."
)
@click.option(
    "--device",
    default="cpu",
    show_default=True,
    help="training, decoding, layers, norms, prefill, roofline, batching and long-attention: cpu or cuda.",
)
@click.option(
    "--weights", type=click.Path(path_type=Path, dir_okay=False), help="digits and pairs: the median run's weights."
)
@click.option("--quick", is_flag=True, help="all but checks and refinement: a small run, to see that it works.")
def bench(
    name: str, file: Path | None, data: Path | None, figure: Path | None, device: str, weights: Path | None, quick: bool
) -> None:
    """Measure NAME and show the numbers: ratios against a peer, in one run on the same work."""
    if figure is not None and figure.suffix not in (".svg", ".png"):
        _refuse(f"{figure} ends in {figure.suffix!r}; wanted .svg or .png")
    options = {
        "root": _root,
        "sources": lambda: _sources(_root()),
        "config": lambda: _root() / "nbgrader_config.py",
        "folder": lambda: data,
        "device": lambda: device,
        "quick": lambda: quick,
        "weights": lambda: weights,
        "kept": lambda: file and file.with_name(file.name + ".part"),
        "say": lambda: partial(click.echo, err=True),
    }
    try:
        measured = run(name, options)
    except refusals(name) as missing:
        _refuse(str(missing))
    if figure is not None and name == "decoding":
        from softlookup.figures.decoding import save_step_cost

        save_step_cost(measured["steps"], figure)
    if file is not None:
        file.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    _show_record(measured)


def _show_record(record: dict[str, Any]) -> None:
    """Show a record's numbers and words as a table; lists are for the file."""
    from rich.table import Table

    from softlookup.grading.table import terminal

    table = Table("what", "value")

    def add(values: dict[str, Any], before: str) -> None:
        for key, value in values.items():
            if isinstance(value, dict):
                add(value, f"{before}{key}: ")
            elif not isinstance(value, list | tuple):
                table.add_row(before + str(key), f"{value:.4g}" if isinstance(value, float) else str(value))

    add(record, "")
    terminal().print(table)


def _root() -> Path:
    """The course's checkout."""
    from softlookup.authoring import find_root

    try:
        return Path(find_root()).resolve()
    except FileNotFoundError as error:
        _refuse(str(error))


def _sources(root: Path, secret: str | None = None) -> dict[str, Any]:
    """The checkout's assignments, with solutions, by name; a secret draws variants other than the public."""
    from softlookup.authoring import assignments, draw_variants, read_solution

    chosen = draw_variants(secret)
    return {name: read_solution(root / "solutions" / f"{name}.py", chosen) for name in assignments(root)}


for _command in COMMANDS:
    main.add_command(_command)

if __name__ == "__main__":
    main()
