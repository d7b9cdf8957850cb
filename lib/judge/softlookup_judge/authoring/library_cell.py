"""The first code cell of every notebook: it sees that the library is there, fetches it, or says how it gets there."""

from pathlib import Path
from urllib.parse import urlsplit

import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

NEEDS = (0, 3)
"""The oldest library that the notebooks work with. Raise it only when they need something newer: each one changes."""

SAYS = """\
# `check` comes from the library softlookup. `make setup` installs it, and `make lab` opens notebooks where it is.
try:
    from softlookup import __version__, check
except ModuleNotFoundError as missing:
    if not str(missing.name).startswith("softlookup"):
        raise
    raise ModuleNotFoundError(
        "softlookup is not installed where this notebook runs: in the course's folder, run `make setup` and then "
        "`make lab`; anywhere else, run `%pip install --no-deps` with the path of a copy of that folder, "
        "then this cell once more."
    ) from None
"""

FETCHES = """\
# `check` comes from the library softlookup. Where it is missing, as on Colab, this cell installs it.
try:
    from softlookup import __version__, check
except ModuleNotFoundError:
    get_ipython().run_line_magic("pip", {command!r})
    from softlookup import __version__, check
"""

RENEWS = (
    "in the course's folder, run `git pull` and `make setup`; elsewhere, install a new copy of that folder with pip"
)

OLDER = """
if tuple(map(int, __version__.split(".")[:2])) < {needs}:
    print(
        f"softlookup {{__version__}} is older than this notebook, which needs {least} or newer:",
        {command!r},
        "and restart the kernel.",
    )
"""

HELPS = """
import os

os.environ["SOFTLOOKUP_HELP"] = {last!r}  # the last step of help that `hint` gives in this course
"""

LEADS = """
import os

_ = os.environ.setdefault("SOFTLOOKUP_BOOK", {book!r})  # where the checks' links to the book lead
"""


PLACES = ("install", "book")


class BadSetting(ValueError):
    """An address in ``_config.yml`` is of no use; the message names it."""


def addresses(root: Path, course: Path | None = None) -> dict[str, str]:
    """Where pip finds the library ("install") and the web the book ("book"), in the checkout or over it in a course."""
    settings = dict.fromkeys(PLACES, "")
    for folder in filter(None, (root, course)):
        settings |= _addresses_in(folder / "_config.yml")
    return settings


def _addresses_in(path: Path) -> dict[str, str]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path} cannot be read as YAML: {' '.join(str(error).split())}") from error
    try:
        launch = (((content or {}).get("sphinx") or {}).get("config") or {}).get("softlookup_launch") or {}
        settings = {key: str(address or "").strip() for key, address in launch.items() if key in PLACES}
    except AttributeError as error:
        raise BadSetting(f"{path}: softlookup_launch is no list of `name: address`") from error
    for key, address in settings.items():
        # A command line is made of it, and a line of Python.
        if address and (any(sign.isspace() for sign in address) or not urlsplit(address).scheme):
            raise BadSetting(f"{path}: softlookup_launch has {key}: {address!r}, wanted an address such as https://…")
    return settings


def library_cell(chapter: int, install: str = "", book: str = "", last_help: str = "") -> NotebookNode:
    """Make the cell; an ``install`` that is empty says what to do, an empty ``book`` links into the checkout."""
    command = f"install --quiet --no-deps {install}"
    newer = f"run `%pip install --upgrade --no-deps {install}`" if install else RENEWS
    source = FETCHES.format(command=command) if install else SAYS
    source += OLDER.format(needs=NEEDS, least=".".join(map(str, NEEDS)), command=newer)
    if book:
        source += LEADS.format(book=book)
    if last_help:
        source += HELPS.format(last=last_help)
    name = f"{chapter:02d}-library"
    cell = new_code_cell(source.rstrip("\n"), metadata=NotebookNode(nbgrader=nbgrader_marks(name)))
    cell.id = name
    return cell


def nbgrader_marks(name: str, points: float | None = None, grade: bool = False, solution: bool = False) -> NotebookNode:
    """What nbgrader notes at a cell; one that holds no answer is locked."""
    marks = {"grade": grade, "grade_id": name, "locked": not solution, "schema_version": 3, "solution": solution}
    return NotebookNode({**marks, "task": False, **({"points": points} if grade else {})})
