"""What commands of all audiences need: the course that is meant, the checkout, and refusals in one sentence."""

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from softlookup.checking.catalogue import Catalogue
    from softlookup.grading.course.folder import Course


def keep_private(ctx: click.Context, _: click.Parameter, folder: Path | None) -> Path | None:
    """Keep what the command writes into its course from other accounts, until the command ends."""
    if not ctx.resilient_parsing:
        from softlookup.grading.data.disk import private

        # The outermost context is closed even where a later option is refused.
        ctx.find_root().with_resource(private(folder or default_course()))
    return folder


PATH = click.Path(path_type=Path)
FILE, EXISTING_FILE = (click.Path(exists, dir_okay=False, path_type=Path) for exists in (False, True))
FOLDER, EXISTING_FOLDER = (click.Path(exists, file_okay=False, path_type=Path) for exists in (False, True))
COURSE = click.option(
    "--course",
    "folder",
    type=PATH,
    callback=keep_private,
    help="Folder of the course. Default: course, if it exists, else the current folder.",
)
HELP_STEPS = ("nudge", "formula", "example", "solution")
"""The steps of help on a task (``checking.result.HELP_STEPS``, which takes long to import)."""


class Refusal(click.ClickException):
    """Something the user can mend: one sentence on stderr, exit status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        """Print the sentence."""
        click.echo(f"softlookup: {self.format_message()}", file=file or sys.stderr)


def refuse(sentence: str) -> NoReturn:
    """Stop with one sentence for the user."""
    from softlookup.grading.data.plain_text import plain

    # A sentence may hold what a student chose: an id, a file's name.
    sentence = plain(sentence, 4000)
    raise Refusal(sentence if sentence.endswith((".", "?")) else sentence + ".") from None


def default_course() -> Path:
    """Where a course is looked for if none is named."""
    return Path("course") if Path("course").is_dir() else Path(".")


def course_in(folder: Path | None) -> "Course":
    """The course that is meant."""
    from softlookup.grading.course.folder import Course

    return Course.at(folder or default_course())


def checkout() -> Path:
    """The course's checkout."""
    from softlookup.authoring import find_root

    try:
        return Path(find_root()).resolve()
    except FileNotFoundError as error:
        refuse(str(error))


def beside(name: str) -> ModuleType:
    """Import a module that a checkout has beside the library: one of ``benchmarks`` or ``attacks``.

    Nothing else puts the checkout on Python's path. First in it, since other packages install folders of such names.
    """
    from softlookup.authoring.build import NoCheckout, find_root

    package = name.partition(".")[0]
    try:
        root = find_root().resolve()
    except NoCheckout:
        root = Path.cwd()
    if not (root / package / "__init__.py").is_file():
        refuse(
            f"{root} has no {package}/, which is a part of the course's repository and not of the installed library: "
            "run this in a clone of the repository"
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return import_module(name)


def sources(root: Path, catalogue: "Catalogue | None" = None) -> dict[str, Any]:
    """The checkout's assignments and those of own tasks, with solutions, by name: the public variants."""
    from softlookup.authoring import read_solution, with_own
    from softlookup.checking.catalogue import STANDARD

    catalogue = catalogue or STANDARD
    names = with_own(root, catalogue)
    return {name: read_solution(root / "solutions" / f"{name}.py", catalogue=catalogue) for name in names}


def show_notes(sentences: Iterable[str]) -> None:
    """Show what else is to be said; a sentence may hold what a student chose."""
    from softlookup.grading.data.plain_text import plain

    for sentence in sentences:
        click.echo(f"note: {plain(sentence, 4000)}")
