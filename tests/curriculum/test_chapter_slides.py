"""Slides hold a page's headings, formulas, tables and figures, and nothing of the book's own markup."""

import copy
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from softlookup_command.commands import main
from softlookup_course.curriculum import export
from softlookup_course.curriculum.slides import cleaned, said_values, slides_notebook
from softlookup_course.curriculum.vendored import checkout, copy_parts, vendored

FIGURE = (
    '<figure class="slk-figure"><img class="only-light dark-light" src="data:,l" alt="A line.">'
    '<img class="only-dark dark-light" src="data:,d" alt="A line."><figcaption>It rises.</figcaption></figure>'
)
PAGE = new_notebook(
    cells=[
        new_markdown_cell(
            "# Heads\n\n*Who attends to whom?* Read [on](05_many_heads.md).\n\n**Reading time** about 9 minutes."
        ),
        new_code_cell(
            "say(a=1.234)",
            outputs=[
                new_output(
                    "display_data",
                    {"application/papermill.record/text/plain": "1.234"},
                    metadata={"scrapbook": {"name": "a", "mime_prefix": "application/papermill.record/"}},
                )
            ],
        ),
        new_markdown_cell("(heads-plain)=\n## Only words\n\nNo formula here."),
        new_markdown_cell(
            "(heads-scale)=\n## Scale\n\nIt is {glue:text}`a:.1f`. The {term}`score` is scaled, by the root:\n\n"
            "$$u = q \\cdot k / \\sqrt{H}$$ (scale-eq)\n\nThen more words.\n\n| a | b |\n|---|---|\n| 1 | $x$ |\n\n"
            "```{note}\n## not a heading\n$$no$$\n```\n"
        ),
        new_code_cell("show(figure)", outputs=[new_output("display_data", {"text/html": FIGURE})]),
        new_code_cell("print(1)", outputs=[new_output("stream", text="1")]),
        new_markdown_cell("### Try it\n\nMove the slider."),
        new_code_cell(
            "Widget()",
            outputs=[new_output("display_data", {"application/vnd.jupyter.widget-view+json": {"model_id": "m"}})],
        ),
        new_markdown_cell("## Summary\n\n$$s$$\n\n### Smaller\n\n$$t$$"),
    ]
)


@pytest.fixture
def made() -> nbformat.NotebookNode:
    return slides_notebook(PAGE, "05_heads")


def test_interactive_figure_is_shown_as_a_picture_if_there_is_one():
    with_picture = slides_notebook(copy.deepcopy(PAGE), "05_heads", [b"a picture"])
    shown = [out["data"]["text/html"] for cell in with_picture.cells for out in cell.get("outputs", ())]
    assert any("data:image/png;base64,YSBwaWN0dXJl" in html and "05_heads.html" in html for html in shown)
    # Pictures that are not as many as the figures would stand in wrong places.
    without = slides_notebook(copy.deepcopy(PAGE), "05_heads", [b"one", b"two"])
    assert nbformat.writes(without) == nbformat.writes(slides_notebook(PAGE, "05_heads"))


def kinds(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    return [(cell.metadata.slideshow.slide_type, cell.source.split("\n")[0]) for cell in notebook.cells]


def test_slides_follow_the_page(made):
    assert [slide for slide in kinds(made) if slide[0] in ("slide", "subslide")] == [
        ("slide", "# Heads"),
        ("slide", "## Scale"),
        ("subslide", "## Scale"),
        ("subslide", "## Scale"),
        ("subslide", "### Try it"),
    ]
    nbformat.validate(made)


def test_title_has_the_readers_question(made):
    assert made.cells[0].source == "# Heads\n\n*Who attends to whom?* Read on."


def test_formula_comes_with_its_sentence_and_table_after_it(made):
    scale = next(cell.source for cell in made.cells if cell.source.startswith("## Scale"))
    assert "The score is scaled, by the root:\n\n$$u = q \\cdot k / \\sqrt{H}$$" in scale
    table = [cell.source for cell in made.cells if cell.source.startswith("## Scale")][1]
    assert table.rstrip().endswith("| 1 | $x$ |") and "scale-eq" not in scale + table


def test_long_table_is_cut_and_keeps_its_heading():
    rows = "\n".join(f"| {i} | x |" for i in range(19))
    page = new_notebook(cells=[new_markdown_cell(f"# A\n\n## B\n\n| n | what |\n|---|---|\n{rows}\n")])
    tables = [cell.source for cell in slides_notebook(page, "x").cells[1:] if "| n | what |" in cell.source]
    assert len(tables) == 3 and sum(table.count(" | x |") for table in tables) == 19


def test_figure_is_shown_light_alone_with_its_caption(made):
    figure = next(cell for cell in made.cells if cell.cell_type == "code")
    html = figure.outputs[0].data["text/html"]
    assert "data:,l" in html and "data:,d" not in html and "It rises." in html and not figure.source


def test_prose_becomes_notes_with_its_numbers(made):
    notes = next(cell.source for cell in made.cells if cell.metadata.slideshow.slide_type == "notes")
    assert notes.startswith("It is 1.2. The score") and "Then more words." in notes and "$$" not in notes


def test_interactive_figure_is_pointed_to(made):
    assert "show it on the page `05_heads.html`" in made.cells[-1].source or any(
        "show it on the page `05_heads.html`" in cell.source for cell in made.cells
    )


def test_no_markup_of_the_book_is_left(made):
    text = "\n".join(cell.source for cell in made.cells)
    for mark in ("{glue", "{term", ")=", "{note}", "not a heading", "Summary", "$$s$$", "$$t$$", "Only words"):
        assert mark not in text


def test_same_page_gives_the_same_slides():
    assert nbformat.writes(slides_notebook(PAGE, "x")) == nbformat.writes(slides_notebook(PAGE, "x"))


def test_values_are_numbers_and_words():
    assert said_values(PAGE) == {"a": 1.234}
    assert cleaned("{glue:text}`w` {cite:t}`lee2017` [a](#b) {ref}`text <label>` {cite}`b2000`:", {"w": "here"}) == (
        "here Lee 2017 a text:"
    )


def test_page_exports_without_a_request_to_another_host(made):
    html = export.as_html(made)
    for address in ("https://", "http://"):
        loads = [line for line in html.splitlines() if address in line and ("src=" in line or "<link" in line)]
        assert loads == []
    assert (
        'src="mathjax/tex-chtml.js"' in html and 'src="reveal/dist/reveal.js"' in html and html.count("<section") >= 5
    )


def test_outputs_come_from_the_book_or_from_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = tmp_path / "04_small.md"
    page.write_text(
        "---\nkernelspec:\n  name: python3\n  display_name: x\n---\n# A\n\n```{code-cell} python3\n1 + 1\n```\n"
    )
    monkeypatch.setattr(export, "_cached", lambda notebook, root: notebook)
    assert export.executed(page, tmp_path).cells[1].source == "1 + 1"
    ran = []
    monkeypatch.setattr(export, "_cached", lambda notebook, root: None)
    monkeypatch.setattr(export, "_run", lambda notebook, file: ran.append(file) or notebook)
    export.executed(page, tmp_path)
    assert ran == [page]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["44", "--out", "x"], "no chapter 44: choose from 0, 1"),
        (["4"], "Missing option '--out'"),
        (["four", "--out", "x"], "four"),
    ],
)
def test_command_says_what_is_wrong(words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["slides", *words])
    assert result.exit_code != 0 and says in result.output and not list(tmp_path.iterdir())


def test_package_that_is_not_fetched_is_said(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="'make setup' fetches it"):
        vendored(Path("reveal.js"), "dist/reveal.js", tmp_path)


def test_parts_are_copied_once(tmp_path: Path):
    (tmp_path / "a" / "in").mkdir(parents=True)
    (tmp_path / "a" / "in" / "x.js").write_text("1")
    (tmp_path / "a" / "y.js").write_text("2")
    copy_parts(tmp_path / "a", ("in", "y.js"), tmp_path / "b")
    first = (tmp_path / "b" / "in" / "x.js").stat().st_mtime_ns
    copy_parts(tmp_path / "a", ("in", "y.js"), tmp_path / "b")
    assert (tmp_path / "b" / "in" / "x.js").stat().st_mtime_ns == first and (tmp_path / "b" / "y.js").read_text() == "2"


def test_checkout_is_found_from_inside_it():
    root = Path(__file__).resolve().parents[2]
    assert checkout(root / "book") == root
