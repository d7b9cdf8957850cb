"""The command that fills the capstone with a student's own parts."""

import shutil

import nbformat
import pytest
from click.testing import CliRunner

from softlookup_command.commands import main
from softlookup_judge.authoring import find_root, make_release, read_solution
from softlookup_judge.authoring.assemble import BLANK, CAPSTONE, AssembleError, assemble, origins

ROOT = find_root()


@pytest.fixture
def folder(tmp_path):
    """The capstone as released, chapter 5 solved, chapter 8 solved but for one cell."""
    for name in (CAPSTONE, "05_many_heads", "08_decoder_and_masks"):
        notebook = read_solution(ROOT / "solutions" / f"{name}.py")
        blank = make_release(notebook)
        if name == CAPSTONE:
            notebook = blank
        if name.startswith("08"):
            left = {cell.id: cell for cell in blank.cells}
            for cell in notebook.cells:
                if cell.id == "08-padding":
                    cell.source = left[cell.id].source
        (tmp_path / name).mkdir()
        nbformat.write(notebook, tmp_path / name / f"{name}.ipynb")
    return tmp_path


def cells(folder):
    notebook = nbformat.read(folder / CAPSTONE / f"{CAPSTONE}.ipynb", as_version=4)
    return {cell.id: cell.source for cell in notebook.cells}


def test_parts_are_brought_and_what_is_blank_stays_so(folder):
    before = cells(folder)
    outcomes = {part.cell: part.what for part in assemble(folder)}
    assert outcomes == {cell: "blank" if cell == "90-padding" else "brought" for cell in origins()}
    after = cells(folder)
    for cell in origins():
        assert (BLANK in after[cell]) == (cell == "90-padding")
    assert {name for name in after if after[name] != before[name]} == set(origins()) - {"90-padding"}


def test_an_answer_that_stands_there_is_kept_unless_asked_otherwise(folder):
    path = folder / CAPSTONE / f"{CAPSTONE}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    answer_cell = next(cell for cell in notebook.cells if cell.id == "90-split")
    answer_cell.source = "def split_heads(x, n_heads):\n    return x  # mine"
    nbformat.write(notebook, path)
    assert assemble(folder)[0].what == "kept" and cells(folder)["90-split"].endswith("# mine")
    assert assemble(folder, again=True)[0].what == "brought" and "# mine" not in cells(folder)["90-split"]


def test_missing_and_broken_notebooks_are_named(folder, tmp_path):
    shutil.rmtree(folder / "05_many_heads")
    assert [part.what for part in assemble(folder)][:2] == ["missing", "missing"]
    (folder / "08_decoder_and_masks" / "08_decoder_and_masks.ipynb").write_text("no notebook")
    with pytest.raises(AssembleError, match="08_decoder_and_masks.ipynb cannot be read"):
        assemble(folder)
    with pytest.raises(AssembleError, match="there is no capstone at"):
        assemble(folder / "05_many_heads")


def test_the_command_says_what_became_of_each_part(folder):
    done = CliRunner().invoke(main, ["assemble", str(folder)])
    assert done.exit_code == 0 and done.output.count("brought") == len(origins()) - 1
    assert "90-padding" in done.output and "still blank there" in done.output
    lost = CliRunner().invoke(main, ["assemble", str(folder / CAPSTONE)])
    assert lost.exit_code != 0 and "there is no capstone" in lost.output
