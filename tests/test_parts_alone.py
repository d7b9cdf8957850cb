"""Each part installed alone, with what its metadata require and nothing else, does what it is for."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from parts_alone import PARTS, ROOT, Alone, Wheels, build_wheels, count, package_of

from softlookup_grader import Course
from softlookup_grader.sandbox.bubble import trouble

WHY_NOT = trouble()
Install = Callable[..., Alone]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Wheels:
    """All parts' wheels, which the test processes of a run share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "parts-alone"
    build_wheels(folder)
    return Wheels(folder)


@pytest.fixture
def install(wheels: Wheels, tmp_path: Path) -> Iterator[Install]:
    """Make the environment of a part with some extras; it is gone after the test."""
    folder = tmp_path / "alone"

    def make(part: str, *extras: str, linked: bool = True) -> Alone:
        alone = wheels.install(folder, part, extras, linked=linked)
        assert alone.installed() == set(alone.closure)
        return alone

    yield make
    shutil.rmtree(folder)


INSIDE = """
import numpy as np
import softlookup_inside.tiles.language as tl
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import run

def doubled(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at))

x = np.arange(8, dtype=np.float32)
kernel = run(doubled, Case("two programs", (x, np.zeros_like(x), 4), frame="numpy", grid=(2,), outputs=(1,)), 2)
assert kernel.failure is None, kernel.failure
rows, constants = kernel.arrays
assert set(rows[:, 0]) == {0, 1} and 2.0 in constants

answer = run(lambda x: x + x, Case("eight", (x,), frame="numpy"))
assert answer.failure is None and answer.arrays[0].tolist() == (2 * x).tolist()
print(run(lambda x: x[9], Case("eight", (x,), frame="numpy")).failure.message)
"""


def test_inside_imports_with_numpy_alone_and_asks_a_kernel_and_an_answer(install: Install) -> None:
    alone = install("inside")
    assert set(alone.closure) == {"numpy", "softlookup-inside"}
    sandbox = "softlookup_inside.sandbox"
    lacking = {f"{sandbox}.{name}": "IPython" for name in ("kernel_shell", "shell", "submission")}
    assert alone.missing("softlookup_inside") == lacking, "what the extra `notebook` is for"
    assert alone.python(INSIDE) == "IndexError: index 9 is out of bounds for axis 0 with size 8"


@pytest.mark.slow
def test_notebook_is_the_extra_of_inside_that_runs_cells(install: Install) -> None:
    alone = install("inside", "notebook")
    code = "from softlookup_inside.sandbox import shell, submission\nprint(shell.CellShell().run('1 + 1', 10, 1000))"
    assert "'text/plain': '2'" in alone.python(code)


CHECK_WITHOUT_JUDGE = """
try:
    from softlookup import check
except ModuleNotFoundError as error:
    print(error.name)
"""

TRANSLATE = """
from softlookup.model import load_translator

print(load_translator().translate("A red house near the river.").text)
"""

LLAMA = {
    **{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "rms_norm_eps": 1e-5},
    **{"vocab_size": 1000, "hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 2},
    **{"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 2048},
    **{"rope_theta": 10000.0, "tie_word_embeddings": False},
}


@pytest.mark.slow
def test_library_translates_and_counts_a_config_without_the_others(install: Install, tmp_path: Path) -> None:
    alone = install("library")
    assert alone.importable("softlookup_judge", "softlookup_grader", "nbgrader", "matplotlib", "IPython") == ""
    assert alone.python(CHECK_WITHOUT_JUDGE) == "softlookup_judge"
    assert re.search(r"maison rouge .*rivière", alone.python(TRANSLATE))
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    read = json.loads(alone.run("softlookup", "read", tmp_path / "config.json", "--json"))
    d, keys, hidden = 64, 32, 160
    layer = 2 * d * d + 2 * d * keys + 3 * d * hidden + 2 * d
    assert read["total"] == 2 * 1000 * d + 2 * layer + d, read


OWN_TASK = {
    "99_mine.py": """# %% 99-setup
import numpy as np

# %% [markdown]
# [[task 99.row-means]]

# %% 99-row-means
def row_means(x):
    ### BEGIN SOLUTION
    return x.mean(axis=-1)
    ### END SOLUTION
""",
    "99_mine.toml": """[tasks]
"99.row-means" = { name = "row_means", title = "Means", points = 3, minutes = 5, difficulty = 1, returns = ["means"] }

["99.row-means"]
over-columns = ["axis=-1", "axis=0"]

[says]
over-columns = "These are means of columns: take axis -1."
""",
    "99_mine_tasks.py": '''"""Means."""

from softlookup_inside.asking.case import Case
from softlookup_judge.data.published import described


def _cases(rng):
    return [Case("numbers", (rng.normal(size=shape),), frame="numpy") for shape in ((3, 5), (4, 4))]


TASKS = (described("99.row-means", cases=_cases, oracle=lambda x: x.sum(axis=-1) / x.shape[-1], frame="numpy"),)
''',
}

JUDGE = """
import sys
import numpy as np
from softlookup_judge import Case, CheckResult, Task
from softlookup_judge.checking.catalogue import catalogue_with
from softlookup_judge.data.compare import first_difference
from softlookup_judge.data.own import OwnTasks
from softlookup_judge.data.words import difference_text
from softlookup_judge.home import Checker

case = Case("three", (np.ones(3),), frame="numpy")
difference = first_difference((np.array([1.0, 2.0, 3.0]),), (np.array([1.0, 2.0, 4.0]),), case)
assert difference.index == (2,) and "cell [2] is 3" in difference_text(case, difference, ("means",), True)

checker = Checker(catalogue_with(OwnTasks(tuple({files!r}.items()))))
assert isinstance(checker.catalogue.task("99.row-means"), Task)
for answer in (lambda x: x.sum(-1) / x.shape[-1], lambda x: x.mean(0)):
    result = checker.check("99.row-means", answer)
    assert isinstance(result, CheckResult)
    print(result.verdict, *result.diagnosis)
assert not {{"torch", "softlookup"}} & set(sys.modules)
"""


def test_judge_judges_a_task_in_numpy_and_names_the_mistake_with_numpy_and_inside_alone(install: Install) -> None:
    alone = install("judge")
    assert set(alone.closure) == {"numpy", "softlookup-inside", "softlookup-judge"}
    rooms = ("softlookup_judge.chapters.", "softlookup_judge.authoring")  # what its extras are for
    assert [name for name in alone.missing("softlookup_judge") if not name.startswith(rooms)] == []
    assert alone.python(JUDGE.format(files=OWN_TASK)).splitlines() == ["pass", "wrong over-columns"]


WITHOUT_TASKS = """
from softlookup_judge import check

for task_id in ("04.scale", "18.add", "99.none"):
    print(check(task_id, lambda scores, d: scores).message)
"""


def test_judge_without_its_extra_says_what_to_install(install: Install) -> None:
    needs = 'which is not installed here: run `pip install "softlookup-judge[tasks]"`, then restart Python.'
    messages = install("judge").python(WITHOUT_TASKS).splitlines()
    assert messages == [f"This task is judged with {name}, {needs}" for name in ("torch", "softlookup", "softlookup")]


SCALE = """
from softlookup_judge import check

for answer in (lambda scores, d: scores / d**0.5, lambda scores, d: scores):
    result = check("04.scale", answer)
    print(result.verdict, *result.diagnosis)
"""


@pytest.mark.slow
def test_judge_with_the_courses_tasks_checks_them_without_grader(install: Install) -> None:
    alone = install("judge", "tasks")
    assert alone.importable("softlookup_grader", "nbgrader", "matplotlib", "IPython") == ""
    assert alone.python(SCALE).splitlines() == ["pass", "wrong no-sqrt"]


@pytest.mark.slow
@pytest.mark.skipif(bool(WHY_NOT) and "SOFTLOOKUP_SANDBOX_REQUIRED" not in os.environ, reason=WHY_NOT)
def test_commands_of_the_graders_readme_grade_nbgraders_own_course_without_torch(
    install: Install, tmp_path: Path
) -> None:
    alone, folder = install("grader", linked=False), tmp_path / "course101"
    assert alone.importable("torch", "softlookup", "softlookup_course", "matplotlib", "jupytext") == ""
    assert alone.missing("softlookup_grader") == {"softlookup_grader.workers.dask_worker": "distributed"}
    readme = (ROOT / "lib" / "grader" / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    ((?:nbgrader|softlookup) .*)$", readme, re.M)
    assert len(commands) == 3
    (tmp_path / "commands").write_text("\n".join(["set -e", *commands]))
    (alone.folder / "bin" / "sh").symlink_to(shutil.which("bash") or "/bin/bash")
    alone.run("sh", tmp_path / "commands", folder=tmp_path)
    ada = json.loads((folder / "reports/ps1.json").read_text())["submissions"]["ada"]
    assert {name: (task["points"], task["max"]) for name, task in ada["tasks"].items()} == {
        "problem1/correct_squares": (1, 1),
        "problem1/squares_invalid_input": (1, 1),
        "problem1/correct_sum_of_squares": (0.5, 0.5),
        "problem1/sum_of_squares_uses_squares": (0.5, 0.5),
    }
    assert (ada["score"], ada["max"]) == (3, 13) and all(line["waiting"] for line in ada["by_hand"].values())
    with Course.at(folder).gradebook() as book:
        submission = book.find_submission("ps1", "ada")
        assert submission.score == 3 and submission.needs_manual_grade
    assert sorted(path.name for path in (folder / "feedback/ada/ps1").glob("*.html")) == [
        "problem1.html",
        "problem2.html",
    ]


PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
  display_name: Python 3
---

# Distances

```{code-cell} ipython3
from softlookup_course import figures
from softlookup_course.figures.show import show

show(figures.distance_curve, {8: [8.0, 6.0, 3.0, 1.0]}, caption="Nearer rows are more alike.")
```
"""


@pytest.mark.slow
def test_course_builds_a_page_with_a_figure(install: Install, tmp_path: Path) -> None:
    alone, book = install("course", "book"), tmp_path / "book"
    book.mkdir()
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (book / "_config.yml").write_text("title: A page\nexecute: { execute_notebooks: force, raise_on_error: true }\n")
    (book / "page.md").write_text(PAGE)
    alone.run("jupyter-book", "build", "-W", ".", folder=book)
    page = (book / "_build/html/page.html").read_text()
    assert page.count('src="data:image/svg+xml') == 2, "the figure, light and dark"
    assert "The dot product of two rows of sinusoids" in page and "Nearer rows are more alike." in page


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the tables count the packages of Python 3.11")
def test_readme_of_a_part_says_how_many_packages_it_brings(wheels: Wheels, part: str) -> None:
    text = (ROOT / "lib" / part / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z`\[\] ]+) \| ([\d,]+) \| [\d,.]+ \|$", text, re.M))
    computed = {"alone": count(wheels.closure(part)), "the whole course": count(wheels.course())}
    for extra in re.findall(r"^\| with `\[(\w+)\]`", text, re.M):
        computed[f"with `[{extra}]`"] = count(wheels.closure(part, (extra,)))
    assert {name: int(number.replace(",", "")) for name, number in rows.items()} == computed, package_of(part)
