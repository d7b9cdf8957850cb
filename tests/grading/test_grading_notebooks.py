"""Reading what people hand in: each kind of bad file has its own sentence."""

import json
from pathlib import Path

import nbformat
import pytest

from softlookup_grader.course.notebooks import BadNotebook, NoNotebook, error_of, read_notebook, task_id, verdict_of
from softlookup_judge.data.result import MIME

GOOD = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("a = 1\nb = 2")]))


def bad(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(BadNotebook) as caught:
        read_notebook(path)
    assert "\n" not in str(caught.value) and str(caught.value).startswith("x.ipynb")
    return str(caught.value)


def test_a_good_notebook_is_read_with_its_lines_joined(tmp_path: Path) -> None:
    (tmp_path / "x.ipynb").write_text(GOOD)
    assert read_notebook(tmp_path / "x.ipynb").cells[0].source == "a = 1\nb = 2"


def test_an_old_notebook_is_brought_up_to_date(tmp_path: Path) -> None:
    old = nbformat.v3.new_notebook(worksheets=[nbformat.v3.new_worksheet(cells=[nbformat.v3.new_code_cell("a = 1")])])
    (tmp_path / "x.ipynb").write_text(json.dumps(old))
    assert read_notebook(tmp_path / "x.ipynb").nbformat == 4


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"def f(): pass", "not JSON, or its JSON breaks off (line 1, column 1)"),
        (GOOD[:-40].encode(), "not JSON, or its JSON breaks off"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"[" * 100_000, "not JSON, or its JSON breaks off"),
        (b"[1, 2]", "it has no cells"),
        (b'{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "not a sound notebook"),
        (b'{"cells": [], "nbformat": "four", "nbformat_minor": 5, "metadata": {}}', "not a sound notebook"),
        (b'{"cells": [{}], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "not a sound notebook"),
    ],
)
def test_a_bad_file_has_its_own_sentence(tmp_path: Path, content: bytes, says: str) -> None:
    assert says in bad(tmp_path, content)


def test_a_missing_file_names_what_lies_there_instead(tmp_path: Path) -> None:
    (tmp_path / "04 (1).ipynb").write_text(GOOD)
    with pytest.raises(NoNotebook, match=r"there is no file x.ipynb \(there is '04 \(1\).ipynb'\)"):
        read_notebook(tmp_path / "x.ipynb")


def test_links_and_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "y.ipynb").write_text(GOOD)
    (tmp_path / "x.ipynb").symlink_to(tmp_path / "y.ipynb")
    with pytest.raises(BadNotebook, match="is a link"):
        read_notebook(tmp_path / "x.ipynb")
    with pytest.raises(BadNotebook, match="is not a file"):
        read_notebook(tmp_path)


def cell_with(data: object) -> nbformat.NotebookNode:
    output = nbformat.v4.new_output("execute_result", data={MIME: data, "text/plain": "2.0"})
    return nbformat.v4.new_code_cell("check()", outputs=[output])


def test_a_verdict_is_found_and_its_diagnosis_is_a_list() -> None:
    verdict = verdict_of(
        cell_with({"task": "04.scale", "verdict": "wrong", "diagnosis": ["no-sqrt"], "points": 0, "max": 2})
    )
    assert verdict is not None and verdict["diagnosis"] == ["no-sqrt"] and verdict["message"] == ""


@pytest.mark.parametrize(
    "data", [None, 3, [], {"task": 3, "verdict": "pass"}, {"task": "04.scale", "verdict": "perfect"}]
)
def test_what_is_no_verdict_is_not_taken_for_one(data: object) -> None:
    assert verdict_of(cell_with(data)) is None


def test_an_error_is_one_line_without_colours() -> None:
    output = nbformat.v4.new_output("error", ename="\x1b[31mValueError", evalue="no\nnot this", traceback=[])
    assert error_of(nbformat.v4.new_code_cell("x", outputs=[output])) == "ValueError: no"


def test_task_ids_come_from_grade_ids() -> None:
    assert task_id("04-softmax-backward-check") == "04.softmax-backward"
