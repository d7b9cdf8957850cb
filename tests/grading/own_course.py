"""A course with tasks of its own: one among those of chapter 4, and an assignment with one."""

from pathlib import Path

import nbformat
from small_class import lay

from softlookup_course.commands.releasing import release_into
from softlookup_course.samples.handins import answers, filled
from softlookup_grader import Course
from softlookup_judge.authoring import find_root, read_solution
from softlookup_judge.checking.catalogue import catalogue_of
from softlookup_judge.data.own import OwnTasks

ROOT = find_root()
TEXTS = {
    "04_one_head.py": '''# after: 04.scale
# %% [markdown]
# [[task 04.colder]]
#
# Divide the scores by a temperature `tau` before the softmax.

# %% 04-colder
def colder(scores, tau):
    """scores (..., S), tau > 0 -> weights, same shape."""
    ### BEGIN SOLUTION
    return torch.softmax(scores / tau, dim=-1)
    ### END SOLUTION
''',
    "04_one_head.toml": """[tasks."04.colder"]
name = "colder"
title = "Temperature"
points = 2
minutes = 5
difficulty = 1
anchor = "one-head-scale"
returns = ["weights"]

["04.colder"]
multiplied = ["scores / tau", "scores * tau"]
forgotten = ["scores / tau", "scores"]

[says]
multiplied = "The scores are multiplied by the temperature: divide by it."
forgotten = "The temperature changes nothing: divide the scores by it before the softmax."
""",
    "04_one_head.help.toml": """["04.colder"]
formula = "weights = softmax(scores / tau)"
explained = "An explanation that gives the answer away."
""",
    "04_one_head_tasks.py": '''"""Temperature."""

import torch

from softlookup_inside.asking.case import Case
from softlookup_judge.data.published import described
from softlookup_judge.chapters.draws import normal


def _cases(rng):
    return [Case("unequal", (normal(rng, 3, 5), 0.5)), Case("equal", (normal(rng, 4, 4), 2.0))]


def _oracle(scores, tau: float):
    return torch.exp(torch.log_softmax(scores / tau, dim=-1))


TASKS = (described("04.colder", cases=_cases, oracle=_oracle),)
''',
    "99_mine.py": """# %% 99-setup
import torch

from softlookup import check

# %% [markdown]
# [[task 99.row-means]]

# %% 99-row-means
def row_means(x):
    ### BEGIN SOLUTION
    return x.mean(dim=-1)
    ### END SOLUTION
""",
    "99_mine.toml": """[tasks]
"99.row-means" = { name = "row_means", title = "Means", points = 3, minutes = 5, difficulty = 1, returns = ["means"] }

["99.row-means"]
over-columns = ["dim=-1", "dim=0"]

[says]
over-columns = "These are means of columns: take axis -1."
""",
    "99_mine_tasks.py": '''"""Means."""

from softlookup_inside.asking.case import Case
from softlookup_judge.data.published import described
from softlookup_judge.chapters.draws import normal

TASKS = (
    described(
        "99.row-means",
        cases=lambda rng: [Case("unequal", (normal(rng, 3, 5),)), Case("equal", (normal(rng, 4, 4),))],
        oracle=lambda x: x.sum(dim=-1) / x.shape[-1],
    ),
)
''',
}
WRONG = {
    "04_one_head": ("04-colder", "04.colder", "scores / tau", "scores * tau", "multiplied"),
    "99_mine": ("99-row-means", "99.row-means", "dim=-1", "dim=0", "over-columns"),
}


def own_texts(**changed: str | None) -> OwnTasks:
    """The files, some of them changed or left out: ``f99_mine_py`` is 99_mine.py."""
    named = {f"{name[1:].rpartition('_')[0]}.{name.rpartition('_')[2]}": text for name, text in changed.items()}
    return OwnTasks(tuple((name, text) for name, text in {**TEXTS, **named}.items() if text is not None))


def released(folder: Path, *names: str) -> Course:
    """A course with these assignments released, and two students: ada is right, ben makes a known mistake."""
    (folder / "tasks").mkdir(parents=True)
    for name, text in TEXTS.items():
        (folder / "tasks" / name).write_text(text)
    options = {"secret": None, "last_help": None, "drop": (), "points": (), "all_tasks": False, "force": False}
    release_into(ROOT, folder, names, **options)
    course = Course.at(folder)
    catalogue = catalogue_of(course.root)
    for name in names:
        slug, _, old, new, _ = WRONG[name]
        right = answers(read_solution(ROOT / "solutions" / f"{name}.py", catalogue=catalogue))
        release = nbformat.read(course.notebook("release", ".", name), as_version=4)
        for student, texts in (("ada", right), ("ben", {**right, slug: right[slug].replace(old, new)})):
            lay(course.notebook("submitted", student, name), filled(release, texts))
    return course
