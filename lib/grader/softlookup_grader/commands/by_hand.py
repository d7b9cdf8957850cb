"""Commands for written answers: who reads which, and comments that are used again."""

from pathlib import Path

import click

from softlookup_command.shared import refuse
from softlookup_grader.commands.shared import COURSE, course_in


@click.command()
@click.argument("assignment", metavar="NN_topic")
@COURSE
@click.option("--between", "names", required=True, metavar="ANA,BEN", help="Names of those who grade.")
def share(assignment: str, folder: Path | None, names: str) -> None:
    """Share out written answers among graders.

    Everybody keeps what they have when more submissions come in. The table is reports/NN_topic-shares.csv; its last
    column is the page of the formgrader that shows a submission.
    """
    from softlookup_grader.course.by_hand import share_out

    course = course_in(folder)
    graders = [name.strip() for name in names.split(",")]
    allotments = share_out(course, assignment, graders)
    for name in graders:
        # Of several notebooks of a student, each has a page in the formgrader.
        allotted = [allotment for allotment in allotments if allotment.grader == name]
        students = {allotment.student for allotment in allotted}
        waiting = dict.fromkeys(allotment.student for allotment in allotted if allotment.waits)
        click.echo(f"{name}: {len(students)} submissions, {len(waiting)} to read: {', '.join(waiting) or 'none'}")
    click.echo(f"with links: {course.root / 'reports' / (assignment + '-shares.csv')}")


@click.command()
@click.argument("assignment", metavar="NN_topic")
@click.argument("student", required=False)
@click.argument("task", required=False)
@click.argument("text", required=False)
@COURSE
@click.option("--use", "name", metavar="NAME", help="The comment that was saved under this name.")
@click.option("--save", metavar="NAME", help="Save the text under this name, to use it again.")
def comment(
    assignment: str,
    student: str | None,
    task: str | None,
    text: str | None,
    folder: Path | None,
    name: str | None,
    save: str | None,
) -> None:
    """Comment on the answer of STUDENT to TASK, such as 04.uniform.

    The comment goes into the gradebook, behind those that stand there. Without STUDENT, the saved comments are listed.
    """
    from softlookup_grader.course import by_hand

    course = course_in(folder)
    saved = by_hand.saved_comments(course)
    if student is None:
        for about, every in sorted(saved.items()):
            for comment_name, says in sorted(every.items()):
                click.echo(f"{about}  {comment_name}: {says}")
        if not saved:
            click.echo("no comments are saved yet: --save NAME saves one")
        return
    if task is None or (text is None) == (name is None):
        refuse("a comment needs a student, a task, and either a text or --use NAME")
    if name is not None:
        text = saved.get(task, {}).get(name)
        if text is None:
            refuse(
                f"no comment {name} is saved for {task}; there are: {', '.join(sorted(saved.get(task, {}))) or 'none'}"
            )
    assert text is not None
    by_hand.comment(course, assignment, student, task, text)
    if save is not None:
        by_hand.save_comment(course, task, save, text)
    click.echo(f"{student}, {task}: {text}")


COMMANDS = (share, comment)
