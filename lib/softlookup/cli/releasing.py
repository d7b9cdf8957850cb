"""What ``softlookup release`` does: choose, refuse what would destroy, write, note."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup.cli.shared import HELP_STEPS, refuse

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from softlookup.checking.catalogue import Catalogue
    from softlookup.grading.course.releasing import Choices, Released


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
) -> None:
    """Release assignments of a checkout into a course's folder, which is made if it is not there."""
    from softlookup.authoring import with_own
    from softlookup.authoring.library_cell import addresses
    from softlookup.checking.catalogue import catalogue_of
    from softlookup.checking.own import BAKED
    from softlookup.grading import Course, new_course
    from softlookup.grading.course.personal import FOLDER as FOR_EACH
    from softlookup.grading.course.personal import keep
    from softlookup.grading.course.releasing import Released
    from softlookup.grading.data.disk import atomic_write

    catalogue = catalogue_of(folder)
    known = with_own(root, catalogue)
    for name in assignments:
        if name not in known:
            refuse(f"there is no assignment {name}: there are {', '.join(known)}")
    names = [name for name in known if name in assignments] or known
    new_points = _points(points)
    for task in (*drop, *new_points):
        if not any(name.startswith(f"{task.partition('.')[0]}_") for name in names):
            refuse(f"{task} belongs to none of the assignments that are released: {', '.join(names)}")
    is_course = (folder / "nbgrader_config.py").is_file()
    course = Course.at(folder) if is_course else new_course(folder, root / "nbgrader_config.py")
    released = Released(course)
    if (reason := released.other_words(secret)) and not force:
        refuse(
            f"{reason}: students would get other tasks than they have. Give the word of the first release with "
            "--course-seed, make another course with --course, or use --force to replace the tasks. Nothing was written"
        )
    if reason and set(names) != set(known):
        refuse("another secret word changes the tasks of all assignments: name none of them, to release them all")
    options = last_help, drop, new_points, all_tasks, per_student, assistants
    choices = {name: _chosen(released, name, *options) for name in names}
    students = course.students() if any(choice.per_student for choice in choices.values()) else []
    if secret is None and any(choice.per_student for choice in choices.values()):
        refuse("notebooks for each student are drawn from a secret word: give it with --course-seed")
    if per_student and not students:
        refuse(f"there is nobody in the class of {folder} yet: 'softlookup students' enters a class list")
    made = {name: _made(root, catalogue, name, secret, choices[name]) for name in names}
    for name in names:
        changed = released.changed(name, made[name])
        if changed and not force:
            more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
            click.echo(
                f"kept {name} as it is, because its source was changed ({', '.join(changed[:5])}{more}). "
                f"'nbgrader generate_assignment {name} --force' releases it as it stands; "
                f"'softlookup release {name} --force' replaces it and keeps a copy."
            )
            del made[name]
        elif changed:
            click.echo(f"a copy of the changed source of {name}: {released.keep_replaced(name)}")
    book = addresses(root)["book"]
    for name, notebook in made.items():
        handed_out = course.folder("source", ".", name) / BAKED
        if task_file := _for_students(catalogue, notebook, name):
            handed_out.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(handed_out, task_file)
        else:
            handed_out.unlink(missing_ok=True)
        if choices[name].assistants or assistants == "off":
            _ask_assistants(handed_out.parent, choices[name].assistants)
        course.release({name: notebook})
        if choices[name].per_student:
            for student in students:
                keep(course, name, student, _personal(root, catalogue, name, str(secret), choices[name], student))
            many = f"{len(students)} notebooks" if len(students) != 1 else "1 notebook"
            click.echo(f"made {many} for single students: {folder / 'release' / name / FOR_EACH}")
        released.note(name, notebook, choices[name], secret, book)
        left_out = f" (without {', '.join(choices[name].drop)})" if choices[name].drop else ""
        click.echo(f"released {name}: {folder / 'release' / name / (name + '.ipynb')}{left_out}")
        if task_file:
            click.echo(f"with your own tasks: hand out {BAKED} in the same folder together with the notebook")
    if made and not book:
        click.echo(
            "note: links to the book lead to ../../_build/html, which students have who work in a clone with a built "
            "book (make lab). For others, set book under softlookup_launch in _config.yml, and release again."
        )


def _ask_assistants(folder: Path, mode: str) -> None:
    """Put the page for coding assistants beside a source, or take it away: nbgrader copies what is there."""
    from softlookup.progress.assistants import add_assistants, assistants_files, remove_assistants

    if mode == "tutor":
        folder.mkdir(parents=True, exist_ok=True)
        add_assistants(folder)
        click.echo(f"for coding assistants, hand out in the same folder: {', '.join(assistants_files())}")
    else:
        for file in remove_assistants(folder):
            click.echo(f"kept {folder / file}, because it was changed: delete it to hand out none")


def _for_students(catalogue: "Catalogue", notebook: "NotebookNode", name: str) -> bytes:
    from softlookup.authoring.choosing import chosen_tasks

    return catalogue.for_students(int(name.partition("_")[0]), chosen_tasks(notebook))


def _made(
    root: Path, catalogue: "Catalogue", name: str, secret: str | None, choices: "Choices", student: str = ""
) -> "NotebookNode":
    from softlookup.authoring import draw_variants, read_solution
    from softlookup.authoring.choosing import BadChoice, choose

    variants = draw_variants(secret, student, catalogue)
    notebook = read_solution(root / "solutions" / f"{name}.py", variants, choices.last_help, catalogue)
    try:
        return choose(notebook, choices.drop, choices.points)
    except BadChoice as error:
        refuse(f"{name}: {error}")


def _personal(
    root: Path, catalogue: "Catalogue", name: str, secret: str, choices: "Choices", student: str
) -> "NotebookNode":
    """The notebook that one student gets."""
    from softlookup.authoring import make_release
    from softlookup.grading.course.personal import bind

    notebook = make_release(_made(root, catalogue, name, secret, choices, student))
    bind(notebook, name, student, secret)
    return notebook


def _chosen(
    released: "Released",
    name: str,
    last_help: str | None,
    drop: Sequence[str],
    points: Mapping[str, float],
    all_tasks: bool,
    per_student: bool,
    assistants: str | None,
) -> "Choices":
    """What is chosen for one assignment: what the options say, else what was chosen before."""
    from softlookup.grading.course.releasing import Choices

    before = Choices() if all_tasks else released.choices(name)
    chapter = name.partition("_")[0]
    chapter_tasks = tuple(task for task in drop if task.partition(".")[0] == chapter)
    worth = {task: number for task, number in points.items() if task.partition(".")[0] == chapter}
    left_out = tuple(task for task in dict.fromkeys((*before.drop, *chapter_tasks)) if task not in worth)
    chosen_points = {task: number for task, number in {**before.points, **worth}.items() if task not in left_out}
    step = released.choices(name).last_help if last_help is None else "" if last_help == HELP_STEPS[-1] else last_help
    both = [task for task in chapter_tasks if task in worth]
    if both:
        refuse(f"{', '.join(both)} cannot be left out and have points")
    asks = before.assistants if assistants is None else "tutor" if assistants == "tutor" else ""
    return Choices(left_out, chosen_points, step, per_student or before.per_student, asks)


def _points(words: Sequence[str]) -> dict[str, float]:
    """``04.head=6`` as a task and its points."""
    task_points = {}
    for word in words:
        task, sign, number = word.partition("=")
        try:
            task_points[task] = float(number)
        except ValueError:
            sign = ""
        if not sign:
            refuse(f"--points takes TASK=NUMBER, such as 04.head=6, and got {word}")
    return task_points
