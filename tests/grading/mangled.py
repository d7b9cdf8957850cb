"""Notebooks as editors, tools and accidents leave them: each mangling changes a notebook and says what it may cost."""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

Notebook = dict[str, Any]


def code(text: str, **more: Any) -> dict[str, Any]:
    """A code cell of the student's own."""
    return {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None, **more}


def named(cell: dict[str, Any]) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def answers(notebook: Notebook) -> list[dict[str, Any]]:
    """The cells that answer tasks with code."""
    code_cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    return [cell for cell in code_cells if cell["metadata"].get("nbgrader", {}).get("solution")]


def set_up(notebook: Notebook) -> dict[str, Any]:
    return next(cell for cell in notebook["cells"] if named(cell).endswith("-setup"))


def pick(notebook: Notebook, rng: random.Random) -> tuple[int, dict[str, Any]]:
    """One of the answers, and its place."""
    cell = rng.choice(answers(notebook))
    return notebook["cells"].index(cell), cell


def no_metadata(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def no_metadata_and_no_ids(notebook: Notebook, rng: random.Random) -> None:
    no_metadata(notebook, rng)
    no_ids(notebook, rng)


def no_metadata_of_one(notebook: Notebook, rng: random.Random) -> None:
    _, cell = pick(notebook, rng)
    cell["metadata"] = {}
    del cell["id"]


def metadata_as_a_list(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {"nbgrader": []}


def no_ids(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        cell.pop("id", None)
    notebook["nbformat_minor"] = 4


def new_ids(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["id"] = f"{rng.getrandbits(32):08x}"
        cell["metadata"] |= {"id": cell["id"], "outputId": "x", "vscode": {"languageId": "python"}}


def old_minor(notebook: Notebook, rng: random.Random) -> None:
    notebook["nbformat_minor"] = rng.choice([0, 1, 2, 99])


def split(notebook: Notebook, rng: random.Random, marks: bool = False) -> None:
    """An import and a helper come first, the function behind them, in two cells."""
    at, cell = pick(notebook, rng)
    behind = code(cell["source"], id="behind")
    behind["metadata"] = copy.deepcopy(cell["metadata"]) if marks else {}
    cell["source"] = "import itertools\n\nSPARE = list(itertools.repeat(0, 3))"
    notebook["cells"].insert(at + 1, behind)


def split_with_both_marks(notebook: Notebook, rng: random.Random) -> None:
    split(notebook, rng, marks=True)


def merged_with_the_next(notebook: Notebook, rng: random.Random) -> None:
    cells = notebook["cells"]
    places = [at for at, cell in enumerate(cells) if cell in answers(notebook)]
    first, second = rng.choice(list(zip(places, places[1:], strict=False)))
    cells[first]["source"] += "\n\n\n" + cells[second]["source"]
    del cells[second]


def merged_with_its_check(notebook: Notebook, rng: random.Random) -> None:
    at, cell = pick(notebook, rng)
    cell["source"] += "\n\n" + notebook["cells"].pop(at + 1)["source"]


def merged_into_the_check(notebook: Notebook, rng: random.Random) -> None:
    at, cell = pick(notebook, rng)
    check = notebook["cells"][at + 1]
    check["source"] = cell["source"] + "\n\n" + check["source"]
    del notebook["cells"][at]


def swapped(notebook: Notebook, rng: random.Random) -> None:
    cells = notebook["cells"]
    first, other = rng.sample([at for at, cell in enumerate(cells) if cell in answers(notebook)], 2)
    cells[first], cells[other] = cells[other], cells[first]


def shuffled(notebook: Notebook, rng: random.Random) -> None:
    rng.shuffle(notebook["cells"])


def doubled(notebook: Notebook, rng: random.Random) -> None:
    at, cell = pick(notebook, rng)
    notebook["cells"].insert(at, copy.deepcopy(cell) | {"id": "twin"})


def doubled_and_broken_first(notebook: Notebook, rng: random.Random) -> None:
    doubled(notebook, rng)
    twin = next(cell for cell in notebook["cells"] if cell.get("id") == "twin")
    twin["source"] = twin["source"].partition("\n")[0] + "\n    return None"


def import_in_the_set_up(notebook: Notebook, rng: random.Random) -> None:
    set_up(notebook)["source"] += "\nimport statistics as stats"
    used_in(notebook, rng, "stats.mean([1])")


def import_in_a_cell_of_ones_own(notebook: Notebook, rng: random.Random) -> None:
    notebook["cells"].insert(3, code("import statistics as stats", id="own"))
    used_in(notebook, rng, "stats.mean([1])")


def constant_in_a_cell_of_ones_own(notebook: Notebook, rng: random.Random) -> None:
    notebook["cells"].insert(3, code("WHOLE = 4 / 2\nHALF = WHOLE / 4", id="own"))
    used_in(notebook, rng, "HALF")


def helper_in_a_cell_of_ones_own(notebook: Notebook, rng: random.Random) -> None:
    at = used_in(notebook, rng, "spare(3)")
    notebook["cells"].insert(at, code("def spare(n):\n    return [n] * n\n\n\nspare(2)", id="own"))


def used_in(notebook: Notebook, rng: random.Random, expression: str) -> int:
    """Have one answer use something before it returns its own result."""
    at, cell = pick(notebook, rng)
    lines = cell["source"].split("\n")
    if not lines[0].startswith("def "):
        lines[:0] = [f"_used = {expression}", ""]
    else:  # behind the docstring, which is none behind a statement
        lines.insert(2 if lines[1].lstrip().startswith('"""') else 1, f"    _used = {expression}")
    cell["source"] = "\n".join(lines)
    return at


def answer_in_a_new_cell(notebook: Notebook, rng: random.Random, blank: Callable[[str], str]) -> None:
    at, cell = pick(notebook, rng)
    notebook["cells"].insert(at + 1, code(cell["source"], id="new"))
    cell["source"] = blank(named(cell))


def answer_below_the_check(notebook: Notebook, rng: random.Random, blank: Callable[[str], str]) -> None:
    at, cell = pick(notebook, rng)
    notebook["cells"].insert(at + 2, code(cell["source"], id="new"))
    cell["source"] = blank(named(cell))


def given_cells_edited(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("locked"):
            cell["source"] = f"{cell['source']}\n# read"


def check_cells_replaced(notebook: Notebook, rng: random.Random) -> None:
    for cell in rng.sample(notebook["cells"], len(notebook["cells"])):
        if named(cell).endswith("-check"):
            cell["source"] = f"result = {cell['source']}\nresult"


def formatted(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace("'", '"') if cell in answers(notebook) else cell["source"]
        cell["source"] += "\n"


def trailing_space(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["source"] = "\n".join(f"{line}  " for line in cell["source"].split("\n"))


def carriage_returns(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\n")


def sources_as_lines(notebook: Notebook, rng: random.Random) -> None:
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)


def answers_as_text(notebook: Notebook, rng: random.Random) -> None:
    _, cell = pick(notebook, rng)
    cell["cell_type"] = "markdown"


def other_editors(notebook: Notebook, rng: random.Random) -> None:
    notebook["metadata"] |= {"colab": {"provenance": []}, "deepnote": {"x": 1}, "accelerator": "GPU"}
    for cell in notebook["cells"]:
        cell["metadata"] |= {"deepnote_cell_type": cell["cell_type"], "source_hash": "1", "tags": ["skip-execution"]}
        cell["metadata"].pop("nbgrader", None)


def shell_lines(notebook: Notebook, rng: random.Random) -> None:
    notebook["cells"].insert(1, code("!echo pip install einops\n%matplotlib inline", id="own"))
    _, cell = pick(notebook, rng)
    cell["source"] = f"%%time\n{cell['source']}"


def experiments(notebook: Notebook, rng: random.Random) -> None:
    at, cell = pick(notebook, rng)
    notebook["cells"].insert(at + 2, code("q = 3\nfor n in range(3):\n    q = q + n\nq", id="try"))
    notebook["cells"].append(code("raise ValueError('an experiment')", id="end"))


def merge_in_a_cell(notebook: Notebook, rng: random.Random) -> None:
    _, cell = pick(notebook, rng)
    cell["source"] = f"<<<<<<< HEAD\n{cell['source']}\n=======\npass\n>>>>>>> theirs"


def deleted(notebook: Notebook, rng: random.Random) -> None:
    at, _ = pick(notebook, rng)
    del notebook["cells"][at]


def checks_deleted(notebook: Notebook, rng: random.Random) -> None:
    at, _ = pick(notebook, rng)
    del notebook["cells"][at + 1]


def nothing(notebook: Notebook, rng: random.Random) -> None:
    """Left as it is."""


def with_bom(raw: bytes) -> bytes:
    return b"\xef\xbb\xbf" + raw


def in_utf_16(raw: bytes) -> bytes:
    return raw.decode().encode("utf-16")


def with_crlf(raw: bytes) -> bytes:
    return raw.replace(b"\n", b"\r\n")


def merge_in_the_file(raw: bytes) -> bytes:
    lines = raw.split(b"\n")
    at = len(lines) // 2
    lines[at : at + 1] = [b"<<<<<<< HEAD", lines[at], b"=======", lines[at], b">>>>>>> theirs"]
    return b"\n".join(lines)


HARMLESS = (
    *(no_metadata, no_metadata_and_no_ids, no_metadata_of_one, metadata_as_a_list, no_ids, new_ids, old_minor),
    *(split, split_with_both_marks, merged_with_the_next, merged_with_its_check, merged_into_the_check),
    *(swapped, shuffled, doubled, doubled_and_broken_first, checks_deleted),
    *(import_in_the_set_up, import_in_a_cell_of_ones_own, constant_in_a_cell_of_ones_own, helper_in_a_cell_of_ones_own),
    *(answer_in_a_new_cell, answer_below_the_check, given_cells_edited, check_cells_replaced),
    *(formatted, trailing_space, carriage_returns, sources_as_lines, answers_as_text),
    *(other_editors, shell_lines, experiments, nothing),
)
"""A right notebook stays right."""

UNSEEN = (
    *(no_metadata, no_ids, new_ids, old_minor, nothing),
    *(formatted, trailing_space, carriage_returns, sources_as_lines),
)
"""Of those, what no student need read about."""

COSTS = (merge_in_a_cell, deleted)
"""An answer is gone, and a sentence names it."""

AS_FILES = (with_bom, in_utf_16, with_crlf)
"""What is done to the file itself; a right notebook stays right."""


def mangled(notebook: Notebook, how: Callable[..., None], rng: random.Random, blank: Callable[[str], str]) -> bytes:
    """A notebook after one accident."""
    spoiled = copy.deepcopy(notebook)
    how(spoiled, rng, *((blank,) if "blank" in how.__code__.co_varnames[: how.__code__.co_argcount] else ()))
    return json.dumps(spoiled, indent=1).encode()
