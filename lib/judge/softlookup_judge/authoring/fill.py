"""Filling a solution's text in: task headings, the table of tasks, the constants of a variant."""

import re
from collections.abc import Iterable, Mapping

from softlookup_inside import OURS
from softlookup_inside.asking.candidates import INSIDES
from softlookup_judge.authoring.variants import constants
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.data.published import CONSTANT, in_variant
from softlookup_judge.data.ranges import in_words
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import variant_of

PLACE = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_AUTOGRAD = ("torch.autograd.", "torch.func.", "torch.Tensor.backward")
"""How names begin that are listed by one word."""
_TABLE = "tasks-table"
_INPUTS = (
    "**Inputs.** An answer that changes its inputs in place (tensors, arrays, lists, dictionaries) is not right: work "
    "on a copy."
)
"""Stands below the table of tasks in every notebook."""
BOOK = "../../_build/html/"
"""From an exercise's folder to the rendered book of the same checkout."""


def stars(difficulty: int) -> str:
    """Difficulty as three dots."""
    return "●" * difficulty + "○" * (3 - difficulty)


def _count(value: float, unit: str) -> str:
    """A number with its unit: "1 point", "2 points"."""
    return f"{value:g} {unit}" if value == 1 else f"{value:g} {unit}s"


def heading(task: Task) -> str:
    """The heading of a task: title, difficulty, minutes, points, and where to read."""
    return (
        f"### Task {task.id} · {task.title}\n\n"
        f"Difficulty {stars(task.difficulty)} · about {_count(task.minutes, 'minute')} · "
        f"{_count(task.points, 'point')} · "
        f"[read in the book]({BOOK}{task.book_url})"
    )


def barred(task: Task) -> str:
    """A sentence on what an answer must not call, empty where the task bars nothing but parts of this library."""
    public = [name for name in task.forbids if name not in INSIDES and not name.startswith(OURS)]
    modules = tuple(f"{name}." for name in public)
    names: dict[str, str] = {}
    for dotted in public:
        if dotted.startswith(_AUTOGRAD):
            names["autograd"] = "autograd (`backward`, `grad`, `torch.func`)"
        elif "._" not in dotted and not dotted.startswith(modules):
            last = dotted.rpartition(".")[2].lower().replace("_", "").removesuffix("loss").removesuffix("2d")
            short = dotted.removeprefix("torch.nn.functional.").replace("torch.nn.", "nn.")
            names.setdefault(last, f"`{short}`")
    phrases = list(names.values())
    if len(phrases) > 1:
        phrases[-2:] = [f"{phrases[-2]} and {phrases[-1]}"]
    return f"Not allowed here, from whatever library: {', '.join(phrases)}." if phrases else ""


def table(tasks: Iterable[Task]) -> str:
    """The rows of the table of tasks."""
    return "\n".join(
        f"| [{t.id}](#cell-id={cell_of(t.id)}) | {t.title} | {t.minutes} | {stars(t.difficulty)} | {t.points:g} |"
        for t in tasks
    )


def task_of(text: str) -> str:
    """The task whose heading stands in a Markdown cell, before it is filled in; empty if there is none."""
    headings = [match[1] for match in PLACE.finditer(text) if match[1].startswith("task ")]
    return headings[0].removeprefix("task ") if headings else ""


def cell_of(task_id: str) -> str:
    """The id of the cell that holds a task's text; JupyterLab finds it by a link to ``#cell-id=``."""
    return f"task-{task_id.replace('.', '-')}"


def markdown(text: str, chapter: int, chosen: Mapping[str, int], catalogue: Catalogue, book: str = "") -> str:
    """Fill the places in a Markdown cell; ``book`` is the rendered book on the web, empty for the checkout's."""
    values = constants(chosen, catalogue)

    def fill(match: re.Match[str]) -> str:
        what = match.group(1)
        if what == _TABLE:
            return table(catalogue.tasks(chapter))
        if what.startswith("task "):
            return heading(catalogue.task(what.removeprefix("task ")))
        task_id, _, key = what.partition(":")
        if task_id in values and key in values[task_id]:
            value = values[task_id][key]
            return f"{value:g}" if isinstance(value, float) else str(value)
        raise ValueError(f"[[{what}]] names neither a task nor a constant of one's variants")

    task = task_of(text)
    behind = [_INPUTS] if f"[[{_TABLE}]]" in text else []
    if task:
        variant = catalogue.variant(task, chosen.get(task, 0))
        behind += [in_words(variant.task.ranges), barred(variant.task), variant.in_words()]
    text = PLACE.sub(fill, text)
    for sentences in filter(None, behind):
        text = f"{text.rstrip()}\n\n{sentences}"
    return text.replace(f"]({BOOK}", f"]({book.rstrip('/')}/") if book else text


def code(text: str, chosen: Mapping[str, int], catalogue: Catalogue, task: Task | None = None) -> str:
    """Set the constants of the variant on lines ``# variant TASK:NAME``; the answer to ``task`` gets its convention."""
    values = constants(chosen, catalogue)

    def fill(match: re.Match[str]) -> str:
        task_id, key = match.group("task"), match.group("key")
        if key not in values.get(task_id, {}):
            raise ValueError(f"# variant {task_id}:{key} names no constant of a task's variants")
        return f"{match.group('name')} = {values[task_id][key]!r}"

    text = CONSTANT.sub(fill, text)
    if task is not None:
        text = in_variant(variant_of(task, chosen.get(task.id, 0)), text)
    for task_id, index in chosen.items():
        if index:
            text = re.sub(
                rf'^check\("{re.escape(task_id)}", (\w+)\)$',
                rf'check("{task_id}", \1, variant={index})',
                text,
                flags=re.MULTILINE,
            )
    return text
