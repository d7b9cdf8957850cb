"""What the exercises' notebooks say of themselves, and how one becomes the text of a page.

A notebook is read as it is handed to students; nothing of it is typed a second time. Its links lead from its own
folder to the rendered book; on a page they become links of the book.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = "exercises"
OWN = "my_work"

ROW = re.compile(
    r"^\| \[?(?P<id>\d\d[.-][a-z0-9-]+)(?:\]\(#[^)]+\))? \| (?P<title>.+?) \| (?P<minutes>\d+) "
    r"\| (?P<dots>[●○]{3}) \| (?P<points>[\d.]+) \|$",
    re.MULTILINE,
)
"""A row of the table of tasks, as ``softlookup exercises`` writes it."""

HEADER = re.compile(r"^\| task \| what you write \| minutes \| difficulty \| points \|\n\|(?:-+\|)+$", re.MULTILINE)
LINK = re.compile(r"\[(?P<text>[^]]+)\]\(\.\./\.\./_build/html/book/(?P<page>\w+)\.html#(?P<label>[a-z0-9-]+)\)")
TITLE = re.compile(r"^# (?:(?P<number>\d+)|(?P<name>[^·\n]+?)) · (?P<title>.+)$", re.MULTILINE)
TASK = re.compile(r"^### Task (?P<id>\d\d\.[a-z0-9-]+) · .+$", re.MULTILINE)
WRITTEN = re.compile(r"^(?:## .+\n\n)?Task (?P<id>\d\d-[a-z0-9-]+) · ", re.MULTILINE)
LIBRARY = "The first cell: is the library here?"
"""What is folded on a page says what it is."""

HEADING = re.compile(r"^(#{2,6}) (.+)$", re.MULTILINE)


class BadExercise(ValueError):
    """A notebook is not made as ``softlookup exercises`` makes them; the message names it."""


@dataclass(frozen=True)
class Row:
    """One task of a notebook's table.

    Attributes:
        id: "04.scale", or "04-uniform" where a person reads the answer.
        title: A few words.
        minutes: How long it takes, about.
        dots: Its difficulty, as dots.
        points: What it is worth.
        page: The page of the book to read; its name without folder and ending.
        label: The section there.
        under: That section's heading, where the label is not the heading's own.
    """

    id: str
    title: str
    minutes: int
    dots: str
    points: float
    page: str
    label: str
    under: str = ""

    @property
    def anchor(self) -> str:
        """The label of the task on the notebook's page."""
        return f"exercise-{self.id.replace('.', '-')}"


@dataclass(frozen=True)
class Exercise:
    """A notebook of exercises.

    Attributes:
        name: "04_one_head".
        title: Its page's heading.
        rows: Its tasks, in their order.
        flat: Whether it has tasks under no heading but its own: then their headings are a step larger on the page.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    flat: bool = False

    @property
    def docname(self) -> str:
        """The page that shows it."""
        return f"{FOLDER}/{self.name}/{self.name}"

    @property
    def path(self) -> str:
        """The notebook, from the checkout's folder."""
        return f"{self.docname}.ipynb"

    @property
    def minutes(self) -> int:
        """How long all tasks take, about."""
        return sum(row.minutes for row in self.rows)

    @property
    def points(self) -> float:
        """What all tasks are worth."""
        return sum(row.points for row in self.rows)


def page_title(heading: str) -> str:
    """Make a page's heading from a notebook's, which reads like its chapter's.

    Such as "4 · One head of self-attention", or "Capstone · Your own mini-transformer".
    """
    match = TITLE.match(f"# {heading}")
    if match is None:
        raise BadExercise(f"the heading {heading!r} is not NUMBER · TITLE")
    return f"Exercises {match['number']} · {match['title']}" if match["number"] else f"Exercises · {match['title']}"


def read_exercise(name: str, text: str, pages: Mapping[str, str]) -> Exercise:
    """Take from a notebook what its table and headings say.

    ``name`` is without its ending; ``pages`` is the text of the book's pages, by name. BadExercise if it has no heading
    or no table, or a task of the table has no link to a section.
    """
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    prose = "\n\n".join(_source(cell) for cell in cells)
    heading = re.search(r"^# (.+)$", prose, re.MULTILINE)
    if heading is None:
        raise BadExercise(f"{name} has no heading")
    places: dict[str, tuple[str, str]] = {}
    for task in [*TASK.finditer(prose), *WRITTEN.finditer(prose)]:
        link = LINK.search(prose, task.end())
        if link is None:
            raise BadExercise(f"{name}: nothing to read is named for {task['id']}")
        places[task["id"]] = (link["page"], link["label"])
    rows = []
    for row in ROW.finditer(prose):
        if row["id"] not in places:
            raise BadExercise(f"{name}: the table has {row['id']}, which no heading of the notebook has")
        page, label = places.pop(row["id"])
        under = untitled(pages.get(page, ""), label)
        numbers = (int(row["minutes"]), row["dots"], float(row["points"]))
        rows.append(Row(row["id"], row["title"], *numbers, page, label, under))
    if places or not rows:
        raise BadExercise(f"{name}: its table of tasks lacks {', '.join(places) or 'every row'}")
    second = HEADING.search(prose)
    return Exercise(name, page_title(heading[1]), tuple(rows), flat=bool(second and second[1] == "###"))


def untitled(page: str, label: str) -> str:
    """The heading that a label stands under which is not itself a heading's; empty where it is one's."""
    place = re.search(rf"^\({re.escape(label)}\)=\n+(?P<after>.*)$", page, re.MULTILINE)
    if place is None or place["after"].startswith("#"):
        return ""
    above = HEADING.findall(page, 0, place.start())
    return above[-1][1] if above else ""


@cache
def exercises(root: Path) -> dict[str, Exercise]:
    """Read all notebooks of a checkout, by their pages' names."""
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (root / "book").glob("*.md")}
    paths = sorted((root / FOLDER).glob("[0-9][0-9]_*/*.ipynb"))
    every = [read_exercise(path.stem, path.read_text(encoding="utf-8"), pages) for path in paths]
    return {exercise.docname: exercise for exercise in every}


def page_text(exercise: Exercise, text: str) -> str:
    """Turn a notebook into the one (JSON) that its page is made from: a head, labels, links that stay in the book."""
    notebook: dict[str, Any] = json.loads(text)
    for cell in notebook["cells"]:
        grader = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "code":
            library = grader.get("grade_id", "").endswith("-library")
            kinds = {
                "answer-cell": grader.get("solution"),
                "check-cell": grader.get("grade"),
                "hide-input": library,  # the page's head says what it does
            }
            cell["metadata"]["tags"] = [kind for kind, applies in kinds.items() if applies]
            if library:
                cell["metadata"]["mystnb"] = {"code_prompt_show": LIBRARY, "code_prompt_hide": LIBRARY}
        elif grader.get("solution"):
            cell["source"] = "```{div} answer-place\nYour answer, in words.\n```"
        else:
            cell["source"] = _markdown(exercise, _source(cell))
    return json.dumps(notebook)


def _markdown(exercise: Exercise, text: str) -> str:
    text = LINK.sub(r"{ref}`\g<text> <\g<label>>`", text)
    text = TITLE.sub(f"# {exercise.title}\n\n```{{exercise-head}} {exercise.name}\n```", text, count=1)
    text = HEADER.sub("| task | minutes | difficulty | points |\n|---|---|---|---|", text)
    by_id = {row.id: row for row in exercise.rows}

    def row(match: re.Match[str]) -> str:
        entry = by_id[match["id"]]
        read = f"{entry.under} <{entry.label}>" if entry.under else entry.label
        return (
            f"| `{entry.id}` {{ref}}`{entry.title} <{entry.anchor}>`<br>to read: {{ref}}`{read}` "
            f"| {entry.minutes} | {entry.dots} | {entry.points:g} |"
        )

    text = ROW.sub(row, text)
    task = "##" if exercise.flat else "###"
    text = TASK.sub(lambda match: f"({by_id[match['id']].anchor})=\n{task}{match[0].removeprefix('###')}", text)
    return WRITTEN.sub(lambda match: f"({by_id[match['id']].anchor})=\n{match[0]}", text)


def _source(cell: dict[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
