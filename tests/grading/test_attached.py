"""Pictures in a text answer come along to whoever gives its points, and nothing else that is attached does."""

import copy
import json

import nbformat
import pytest
from small_class import ROOT, picture_of

from softlookup_grader.judging.cleaning import NOT_SHOWN
from softlookup_grader.judging.outputs import MAX_ATTACHED, MAX_PICTURE, MAX_TOGETHER, attached
from softlookup_grader.judging.rebuild import rebuild

NAME = "90_capstone"
PNG, JPEG = picture_of("png", 3, 2), picture_of("jpeg", 3, 2)


@pytest.fixture(scope="module")
def release():
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


def answered(release, attachments, text="My curve: ![curve](attachment:curve.png)"):
    content = json.loads(nbformat.writes(copy.deepcopy(release)))
    cell = next(c for c in content["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "90-run")
    cell["source"], cell["attachments"] = text, attachments
    got = rebuild(release, json.dumps(content).encode(), "x.ipynb")
    return next(c for c in got.notebook.cells if c.id == "90-run"), got


def test_plot_of_a_run_comes_along_with_its_text(release):
    cell, got = answered(release, {"curve.png": {"image/png": PNG}, "other.jpg": {"image/jpeg": JPEG}})
    assert cell.attachments == {"curve.png": {"image/png": PNG}, "other.jpg": {"image/jpeg": JPEG}}
    assert got.remarks == () and "90-run" not in got.untouched
    nbformat.validate(got.notebook)


def test_plot_of_a_run_shows_on_a_page(release):
    from nbconvert import HTMLExporter

    _, got = answered(release, {"curve.png": {"image/png": PNG}})
    page, _ = HTMLExporter().from_notebook_node(got.notebook)
    assert f"data:image/png;base64,{PNG}" in page


@pytest.mark.parametrize(
    "kinds",
    [
        {"image/svg+xml": "<svg onload='alert(1)'/>"},
        {"text/html": "<script>alert(1)</script>"},
        {"image/png": JPEG},
        {"image/png": "no base64"},
        {"image/png": "A" * (MAX_PICTURE + 1)},
        {"image/png": [PNG]},
        [PNG],
    ],
)
def test_what_is_no_picture_is_left_out_and_said(release, kinds):
    cell, got = answered(release, {"curve.png": kinds})
    assert "attachments" not in cell
    assert got.remarks == (
        "1 attachment of 90.run left out: only PNG and JPEG pictures below 1.5 MB are taken.",
        f"The answer to 90.run held {NOT_SHOWN}: they stand there as plain text.",
    )


def test_attachments_of_any_shape_are_read():
    for attachments in (None, [], "x", 3):
        assert attached({"attachments": attachments}) == ({}, 0)
    many = {f"{i}.png": {"image/png": PNG} for i in range(MAX_ATTACHED + 5)}
    pictures, left_out = attached({"attachments": many})
    assert (len(pictures), left_out) == (MAX_ATTACHED, 5)
    assert attached({"attachments": {"a\nb": {"image/png": PNG}, 7: {"image/png": PNG}}}) == ({}, 2)


def test_attachments_of_a_cell_of_code_are_left_where_they_are(release):
    content = json.loads(nbformat.writes(copy.deepcopy(release)))
    cell = next(c for c in content["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "90-split")
    cell["source"], cell["attachments"] = "def split_heads(x, n): return x", {"a.png": {"image/png": PNG}}
    got = rebuild(release, json.dumps(content).encode(), "x.ipynb")
    assert all("attachments" not in rebuilt_cell for rebuilt_cell in got.notebook.cells)


def test_attachments_of_one_cell_are_no_more_than_a_page_can_hold():
    pictures, left_out = attached({"attachments": {f"{i}.png": {"image/png": PNG} for i in range(5)}}, 3 * len(PNG))
    assert (len(pictures), left_out) == (3, 2) and MAX_TOGETHER < 5_000_000
