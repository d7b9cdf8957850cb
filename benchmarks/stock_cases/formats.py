"""Formats of notebooks and of nbgrader's metadata, and files that are no notebooks."""

import json
from typing import Any

import nbformat
from nbformat import NotebookNode

from benchmarks.stock_cases.case import (
    Edit,
    Files,
    StockCase,
    answers,
    both,
    cell,
    find,
    marked,
    notebook,
    of_nbgrader,
    unchanged,
)

CELLS = (
    cell("# YOUR CODE HERE\nraise NotImplementedError()", "answer", solution=True),
    cell("assert x == 1", "test1", 1),
    cell("x / 2", "test2", 2),
    cell("YOUR ANSWER HERE", "essay", 3, solution=True, markdown=True),
)
SOURCE: Files = {"p1.ipynb": notebook(*CELLS)}
ANSWERED = (
    cell("x = 1", "answer", solution=True),
    *CELLS[1:3],
    cell("A text.", "essay", 3, solution=True, markdown=True),
)


def of_minor(minor: int) -> bytes:
    """An answered notebook of format 4 and this minor version."""
    return notebook(*ANSWERED, minor=minor)


def of_format_3() -> bytes:
    """An answered notebook of format 3, where code is ``input`` and cells stand in worksheets."""
    cells = [{"metadata": {}, "cell_type": entry.cell_type, **_of_format_3(entry)} for entry in ANSWERED]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()


def _of_format_3(entry: NotebookNode) -> dict[str, Any]:
    if entry.cell_type == "markdown":
        return {"source": entry.source, "metadata": entry.metadata}
    return {"input": entry.source, "metadata": entry.metadata, "language": "python", "outputs": []}


def changed(content: bytes, *edits: Edit) -> bytes:
    """A notebook's file with changes that nbformat would not write."""
    node = nbformat.from_dict(json.loads(content))
    both(*edits)(node)
    return json.dumps(node).encode()


def same_cell_ids(node: NotebookNode) -> None:
    """Give all cells one id."""
    for entry in node.cells:
        entry["id"] = "same"


def no_cell_ids(node: NotebookNode) -> None:
    """Take the ids off all cells."""
    for entry in node.cells:
        del entry["id"]


def no_outputs(node: NotebookNode) -> None:
    """Take the outputs off a cell, which nbformat does not allow."""
    del find(node, "answer")["outputs"]


def whole_sources(node: NotebookNode) -> None:
    """Sources in one piece, not as lists of lines."""
    for entry in node.cells:
        entry["source"] = "".join(entry["source"])


def with_attachment(node: NotebookNode) -> None:
    """A picture in a written answer, and a raw cell."""
    find(node, "essay")["attachments"] = {"a.png": {"image/png": "iVBORw0KGgo="}}
    node.cells.append(NotebookNode(cell_type="raw", metadata={}, source="raw"))


def newer(node: NotebookNode) -> None:
    """A minor version that does not exist yet."""
    node["nbformat_minor"] = 9


def version(number: int | None) -> Edit:
    """Say that nbgrader's metadata of all cells have this version."""

    def edit(node: NotebookNode) -> None:
        for entry in node.cells:
            about = entry.metadata["nbgrader"]
            about.pop("schema_version")
            if number is not None:
                about["schema_version"] = number

    return edit


def no_field(name: str, key: str) -> Edit:
    """Take a field off nbgrader's metadata of a cell."""

    def edit(node: NotebookNode) -> None:
        find(node, name).metadata["nbgrader"].pop(key)

    return edit


def old(*files: str) -> dict[str, Files]:
    """Submissions with old metadata of nbgrader's, between two with those of today."""
    today: Files = {"p1.ipynb": of_nbgrader("test-with-output.ipynb")}
    return {"a": today, **{f"b-{file}": {"p1.ipynb": of_nbgrader(f"{file}.ipynb")} for file in files}, "c": today}


FORMATS = (
    StockCase(
        "formats",
        "Submissions of formats 4.0 to 4.5 and 3, with sources in one piece, ids missing or repeated, and raw cells.",
        SOURCE,
        {
            **{f"minor-{minor}": {"p1.ipynb": of_minor(minor)} for minor in range(6)},
            "format-3": {"p1.ipynb": of_format_3()},
            "whole-sources": {"p1.ipynb": changed(of_minor(4), whole_sources)},
            "same-ids": {"p1.ipynb": changed(of_minor(5), same_cell_ids)},
            "no-ids": {"p1.ipynb": changed(of_minor(5), no_cell_ids)},
            "attachment": {"p1.ipynb": changed(of_minor(4), with_attachment)},
            "newer": {"p1.ipynb": changed(of_minor(4), newer)},
            "bom": {"p1.ipynb": b"\xef\xbb\xbf" + of_minor(4)},
        },
    ),
    *(
        StockCase(
            f"source_of_format_{name}",
            f"A source of format {name.replace('_', '.')}.",
            {"p1.ipynb": content},
            {"right": {"p1.ipynb": answers(answer="x = 1")}, "same": {"p1.ipynb": unchanged}},
        )
        for name, content in (
            ("4_0", notebook(*CELLS, minor=0)),
            ("4_5", notebook(*CELLS, minor=5)),
        )
    ),
    StockCase(
        "no_notebooks",
        "Files that are no notebooks, or none that nbformat can read.",
        SOURCE,
        {
            "a-empty": {"p1.ipynb": b""},
            "b-text": {"p1.ipynb": "x = 1"},
            "c-json": {"p1.ipynb": "{}"},
            "d-list": {"p1.ipynb": "[]"},
            "e-half": {"p1.ipynb": of_minor(4)[:400]},
            "f-latin": {"p1.ipynb": of_minor(4).replace(b"A text.", "Ä".encode("latin-1"))},
            "g-no-outputs": {"p1.ipynb": changed(of_minor(4), no_outputs)},
            "h-binary": {"p1.ipynb": bytes(range(256))},
            "i-format-5": {"p1.ipynb": of_minor(4).replace(b'"nbformat": 4', b'"nbformat": 5')},
            "z-honest": {"p1.ipynb": of_minor(4)},
        },
    ),
    StockCase(
        "kernels",
        "Submissions that name another kernel, another language, or none.",
        SOURCE,
        {
            "none": {"p1.ipynb": notebook(*ANSWERED, kernel=None)},
            "python": {"p1.ipynb": notebook(*ANSWERED, kernel="python")},
            "r": {"p1.ipynb": notebook(*ANSWERED, kernel="ir")},
        },
    ),
    StockCase(
        "source_without_kernel",
        "A source that names no kernel.",
        {"p1.ipynb": notebook(*CELLS, kernel=None)},
        {
            "none": {"p1.ipynb": notebook(*ANSWERED, kernel=None)},
            "python": {"p1.ipynb": notebook(*ANSWERED, kernel="python3")},
        },
    ),
    StockCase(
        "metadata_old",
        "A submission with metadata of version 1, at which stock nbgrader stops for all who follow.",
        {"p1.ipynb": of_nbgrader("test.ipynb")},
        old("test-v1"),
    ),
    StockCase(
        "metadata_versions_0_and_2",
        "Submissions with metadata of version 0, valid and not, and of version 2.",
        {"p1.ipynb": of_nbgrader("test.ipynb")},
        old("test-v0", "test-v0-invalid", "test-v2"),
    ),
    StockCase(
        "metadata_too_new",
        "A submission with metadata of a version to come.",
        SOURCE,
        {
            "a": {"p1.ipynb": of_minor(4)},
            "b": {"p1.ipynb": of_nbgrader("too-new.ipynb")},
            "c": {"p1.ipynb": of_minor(4)},
        },
    ),
    StockCase(
        "metadata_broken",
        "Submissions whose metadata lack fields, or have some of another kind.",
        SOURCE,
        {
            "a-no-points": {"p1.ipynb": changed(of_minor(4), no_field("test1", "points"))},
            "b-no-id": {"p1.ipynb": changed(of_minor(4), no_field("test1", "grade_id"))},
            "c-no-locked": {"p1.ipynb": changed(of_minor(4), no_field("test1", "locked"))},
            "d-no-solution": {"p1.ipynb": changed(of_minor(4), no_field("answer", "solution"))},
            "e-points-text": {"p1.ipynb": changed(of_minor(4), marked("test1", points="many"))},
            "f-id-number": {"p1.ipynb": changed(of_minor(4), marked("test1", grade_id=7))},
            "g-more": {"p1.ipynb": changed(of_minor(4), marked("test1", more="so"))},
            "z-honest": {"p1.ipynb": of_minor(4)},
        },
    ),
    StockCase(
        "metadata_without_version",
        "A submission whose metadata say no version.",
        SOURCE,
        {
            "a": {"p1.ipynb": of_minor(4)},
            "b": {"p1.ipynb": changed(of_minor(4), version(None))},
            "c": {"p1.ipynb": of_minor(4)},
        },
    ),
)
