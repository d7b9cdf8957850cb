"""What ``softlookup release`` does: choose, refuse what would destroy, write, note."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup_command.shared import refuse
from softlookup_grader.commands.shared import HELP_STEPS

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from softlookup_grader.course.folder import Course, Source
    from softlookup_grader.course.releasing import Choices, Released
    from softlookup_judge.checking.catalogue import Catalogue


LAST_HELP = click.option(
    "--last-help",
    type=click.Choice(["none", *HELP_STEPS]),
    help=f"The last step of help that students can ask for at home. Default: {HELP_STEPS[-1]}, and with a secret word "
    f"{HELP_STEPS[-2]}.",
)
PER_STUDENT = click.option(
    "--per-student", is_flag=True, help="Make each student in the class a notebook with variants of their own."
)
ASSISTANTS = click.option(
    "--assistants",
    type=click.Choice(["tutor", "off"]),
    help="tutor: hand out a page that asks coding assistants to teach, not to solve. Default: as before, off at first.",
)


def release_into(
    root: Path,
    folder: Path,
    assignments: Sequence[str],
    *,
    secret: str | None,
    last_help: str | None,
    drop: Sequence[str],
    points: Sequence[str],
    all_tasks: bool,
    force: bool,
    per_student: bool = False,
    assistants: str | None = None,
    class_later: bool = False,
) -> None:
    """Release assignments into a course's folder; all is made before anything is written."""
    from softlookup_grader import Course, new_course
    from softlookup_grader.course.releasing import Released
    from softlookup_judge.authoring import with_own
    from softlookup_judge.authoring.library_cell import BadSetting, addresses
    from softlookup_judge.checking.catalogue import catalogue_of

    catalogue = catalogue_of(folder)
    known = with_own(root, catalogue)
    for name in assignments:
        if name not in known:
            refuse(f"there is no assignment {name}: there are {', '.join(known)}")
    is_course = (folder / "nbgrader_config.py").is_file()
    course = Course.at(folder) if is_course else Course(folder.resolve())
    released = Released(course)
    in_part = {*released.assignments, *(added.name for added in catalogue.course_tasks.assignments.values())}
    of_course = [name for name in known if name in in_part] if is_part(folder) else known
    names = [name for name in known if name in assignments] or of_course
    new_points = _points(points)
    for task in (*drop, *new_points):
        if not any(name.startswith(f"{task.partition('.')[0]}_") for name in names):
            refuse(f"{task} belongs to none of the assignments that are released: {', '.join(names)}")
    if (reason := released.other_words(secret)) and not force:
        refuse(
            f"{reason}: students would get other tasks than they have. Give the word of the first release with "
            "--course-seed, make another course with --course, or use --force to replace the tasks. Nothing was written"
        )
    if reason and not {*of_course} <= {*names}:
        refuse("another secret word changes the tasks of all assignments: name none of them, to release them all")
    if reason and last_help is None:
        last_help = _usual_help(secret)
    options = last_help, drop, new_points, all_tasks, per_student, assistants, _usual_help(secret)
    choices = {name: _chosen(released, name, *options) for name in names}
    for_each = any(choice.per_student for choice in choices.values())
    if secret is None and for_each:
        refuse("notebooks for each student are drawn from a secret word: give it with --course-seed")
    students = course.students() if is_course and for_each else []
    if per_student and not students and not class_later:
        refuse(
            f"there is nobody in the class of {folder} yet: release without --per-student first, enter the class with "
            "'softlookup students', and release again with --per-student"
        )
    try:
        course_addresses = addresses(root, folder)
    except BadSetting as error:
        refuse(str(error))
    make = partial(_made, root, catalogue, course_addresses)
    notebooks = {name: make(name, secret, choices[name]) for name in names}
    replaced: dict[Path, bytes] = {}
    says: dict[str, list[str]] = {name: [] for name in names}
    for name in names:
        changed = released.changed(name, notebooks[name])
        if changed and not force:
            more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
            click.echo(
                f"kept {name} as it is, because its source was changed ({', '.join(changed[:5])}{more}). "
                f"'nbgrader generate_assignment {name} --force' releases it as it stands; "
                f"'softlookup release {name} --force' replaces it and keeps a copy."
            )
            del notebooks[name]
        elif changed:
            path, content = released.copy_of(name)
            replaced[path] = content
            says[name].append(f"a copy of the changed source of {name}: {path}")
    if not notebooks:
        return
    sources = {
        name: _source(course, catalogue, name, notebook, choices[name], assistants, says[name])
        for name, notebook in notebooks.items()
    }
    for name in [name for name in notebooks if choices[name].per_student]:
        own_notebooks = {student: make(name, str(secret), choices[name], student) for student in students}
        sources[name] = replace(sources[name], released=_personal(course, name, str(secret), own_notebooks))
        says[name].append(_how_many(len(students), folder / "release" / name, class_later))
    for name, notebook in notebooks.items():
        released.record_release(name, notebook, choices[name], secret, course_addresses["book"])
    before = {name: _handed_out(course, name) for name in notebooks}
    course = course if is_course else new_course(folder, root / "nbgrader_config.py")
    course.release(sources, {**replaced, **released.content()})
    for name in notebooks:
        left_out = f" (without {', '.join(choices[name].drop)})" if choices[name].drop else ""
        click.echo(f"released {name}: {folder / 'release' / name / (name + '.ipynb')}{left_out}")
        for sentence in says[name]:
            click.echo(sentence)
        if (course.root / ".grading" / name).is_dir() and _handed_out(course, name) != before[name]:
            click.echo(f"{name} is not what was graded any more: 'softlookup grade {name}' grades the class again")
    _say_help(choices[name].last_help for name in notebooks)
    if not course_addresses["book"]:
        click.echo(
            "note: links to the book lead to ../../_build/html, which students have who work in a clone with a built "
            "book (make lab). For others, set book under sphinx: config: softlookup_launch, in the _config.yml of the "
            f"checkout, or for this course alone in {folder / '_config.yml'}, and release again."
        )


def _usual_help(secret: str | None) -> str:
    """The last step of help where none is chosen: a solution would give away what the secret word hides."""
    return HELP_STEPS[-1] if secret is None else HELP_STEPS[-2]


def is_part(folder: Path) -> bool:
    """Whether a folder was made by ``softlookup course new``, for some of the chapters."""
    from softlookup_course.part.folder import RECORD

    return (folder / RECORD).is_file()


def _handed_out(course: "Course", name: str) -> bytes | None:
    path = course.notebook("release", ".", name)
    return path.read_bytes() if path.is_file() else None


def _say_help(steps: Iterable[str]) -> None:
    """Say what hints give, in a line."""
    for step in dict.fromkeys(steps):
        if step == "":
            click.echo("help at home ends with one solution, asked for twice; '--last-help example' leaves it out")
        elif step == "none":
            click.echo("no help is given at home; '--last-help example' allows it up to a worked example")
        else:
            last = {"nudge": "a hint", "formula": "the formula", "example": "a worked example"}[step]
            click.echo(f"help at home ends with {last}; '--last-help solution' also shows one solution")


def _how_many(students: int, release: Path, class_later: bool) -> str:
    from softlookup_grader.course.personal import FOLDER

    if not students:
        again = "run the same command again" if class_later else "release again"
        return f"no notebooks for single students yet: enter the class with 'softlookup students', and {again}"
    return f"made {students} notebook{'s' if students > 1 else ''} for single students: {release / FOLDER}"


def _source(
    course: "Course",
    catalogue: "Catalogue",
    name: str,
    notebook: "NotebookNode",
    choices: "Choices",
    assistants: str | None,
    says: list[str],
) -> "Source":
    """What is written for one assignment: the notebook, what judges own tasks, the page for coding assistants."""
    from softlookup_course.progress.assistants import assistants_files
    from softlookup_grader.course.folder import Source
    from softlookup_judge.authoring.choosing import chosen_tasks
    from softlookup_judge.data.own import BAKED

    task_file = catalogue.for_students(int(name.partition("_")[0]), chosen_tasks(notebook))
    if task_file:
        says.append(f"with your own tasks: hand out {BAKED} in the same folder together with the notebook")
    beside: dict[str, bytes | None] = {BAKED: task_file or None}
    folder = course.folder("source", ".", name)
    for file, text in assistants_files().items() if choices.assistants or assistants == "off" else ():
        there = (folder / file).read_bytes() if (folder / file).is_file() else None
        if choices.assistants and there is None:
            beside[file] = text
        elif not choices.assistants and there == text:
            beside[file] = None
        elif not choices.assistants and there is not None:
            says.append(f"kept {folder / file}, because it was changed: delete it to hand out none")
    if choices.assistants:
        says.append(f"for coding assistants, hand out in the same folder: {', '.join(assistants_files())}")
    return Source(notebook, beside)


def _made(
    root: Path,
    catalogue: "Catalogue",
    course_addresses: Mapping[str, str],
    name: str,
    secret: str | None,
    choices: "Choices",
    student: str = "",
) -> "NotebookNode":
    from softlookup_judge.authoring import draw_variants, read_solution
    from softlookup_judge.authoring.choosing import BadChoice, choose

    variants = draw_variants(secret, student, catalogue)
    notebook = read_solution(
        root / "solutions" / f"{name}.py", variants, choices.last_help, catalogue, course_addresses
    )
    try:
        return choose(notebook, choices.drop, choices.points)
    except BadChoice as error:
        refuse(f"{name}: {error}")


def _personal(course: "Course", name: str, secret: str, sources: Mapping[str, "NotebookNode"]) -> dict[str, bytes]:
    """The notebooks that single students get, as files of the release."""
    import nbformat

    from softlookup_grader.course.personal import FOLDER, bind
    from softlookup_judge.authoring import make_release

    files = {}
    for student, source in sources.items():
        notebook = make_release(source, course.config)
        bind(notebook, name, student, secret)
        files[f"{FOLDER}/{student}.ipynb"] = nbformat.writes(notebook).encode()
    return files


def _chosen(
    released: "Released",
    name: str,
    last_help: str | None,
    drop: Sequence[str],
    points: Mapping[str, float],
    all_tasks: bool,
    per_student: bool,
    assistants: str | None,
    usual_help: str,
) -> "Choices":
    """What is chosen for one assignment: what the options say, else what was chosen before."""
    from softlookup_grader.course.releasing import Choices

    before = Choices() if all_tasks else released.choices(name)
    chapter = name.partition("_")[0]
    chapter_tasks = tuple(task for task in drop if task.partition(".")[0] == chapter)
    worth = {task: value for task, value in points.items() if task.partition(".")[0] == chapter}
    left_out = tuple(task for task in dict.fromkeys((*before.drop, *chapter_tasks)) if task not in worth)
    chosen_points = {task: value for task, value in {**before.points, **worth}.items() if task not in left_out}
    if last_help is None and name in released.assignments:
        step = released.choices(name).last_help
    else:
        step = (last_help or usual_help).replace(HELP_STEPS[-1], "")
    both = [task for task in chapter_tasks if task in worth]
    if both:
        refuse(f"{', '.join(both)} cannot be left out and have points")
    asks = before.assistants if assistants is None else "tutor" if assistants == "tutor" else ""
    return Choices(left_out, chosen_points, step, per_student or before.per_student, asks)


def _points(words: Sequence[str]) -> dict[str, float]:
    """``04.head=6`` as a task and its points."""
    task_points = {}
    for option in words:
        task, sign, value = option.partition("=")
        try:
            task_points[task] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            refuse(f"--points takes TASK=NUMBER, such as 04.head=6, and got {option}")
    return task_points
