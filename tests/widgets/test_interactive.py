"""Every interactive figure: one frame and one set of colours, and nothing that dresses its neighbours."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.colors import to_rgb

import softlookup_course.widgets as widgets
from softlookup.roofline import hardware
from softlookup.serving import Guest, timeline, timelines
from softlookup.text import BytePairTokenizer
from softlookup_course.figures import PALETTES
from softlookup_course.widgets import Learned, rate_explorer, tokenizer
from softlookup_course.widgets.interactive import HERE, InteractiveFigure, without_comments

SHARED = without_comments((HERE / "shared.css").read_text("utf-8"))
FIGURES = sorted(
    (figure_class for name in widgets.__all__ if issubclass(figure_class := getattr(widgets, name), InteractiveFigure)),
    key=str,
)
each_figure = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)


def own_style(figure: type[InteractiveFigure]) -> str:
    style = str(figure._css)
    assert style.startswith(SHARED)
    return style.removeprefix(SHARED)


def class_of(figure: type[InteractiveFigure]) -> str:
    """The class of the figure's own outermost element."""
    return re.search(r'class: "slf (?:slf-buttons )?(\w+)", role: "group"', str(figure._esm))[1]


def test_every_figure_in_the_folder_is_among_them():
    scripts = {path.stem for path in HERE.glob("*.js")} - {"shared"}
    assert {Path(figure.__module__.replace(".", "/")).name for figure in FIGURES} == scripts


@pytest.mark.parametrize("name", ["query", "key", "value", "mixed", "alarm"])
def test_colours_are_those_of_the_figures(name):
    expected = [" ".join(str(round(255 * part)) for part in to_rgb(getattr(palette, name))) for palette in PALETTES]
    assert re.findall(rf"--slf-{name}: ([\d ]+);", SHARED) == expected


@pytest.mark.parametrize("name", ["ink", "muted", "faint", "mesh"])
def test_greys_are_those_of_the_figures(name):
    assert re.findall(rf"--slf-{name}: (#\w+);", SHARED) == [getattr(palette, name) for palette in PALETTES]


def selectors_in(text: str) -> list[str]:
    """Parted at the commas that stand in no parentheses."""
    parted, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        parted = [*parted, ""] if letter == "," and not depth else [*parted[:-1], parted[-1] + letter]
    return parted


@each_figure
def test_rules_of_a_figure_reach_no_other(figure):
    css_class = class_of(figure)
    plain = re.sub(r"/\*.*?\*/", "", own_style(figure), flags=re.S)
    for selectors in re.findall(r"([^{}]+)\{", plain):
        if selectors.strip().startswith("@"):
            continue
        for selector in selectors_in(selectors):
            assert re.search(rf"\.{css_class}(?![a-z])", selector), (
                f"{selector.strip()} would dress more than {css_class}"
            )
    assert not re.findall(rf"--(?!slf-|{css_class}-)[\w-]+:", plain)


@each_figure
def test_what_a_figure_changes_of_a_shared_look_is_stronger_than_that(figure):
    """A neighbour brings the shared rules once more, behind this figure's own: equal strength would lose to them."""
    css_class, style, script = class_of(figure), own_style(figure), str(figure._esm)
    begins = [line.strip() for line in style.splitlines() if line.strip().startswith(".")]
    if "slf-buttons" in script:
        assert not [
            line for line in begins if line.startswith((f".{css_class} :is(select, button)", f".{css_class} select"))
        ]
    for table in re.findall(r"slf-table (\w+-table)", script):
        rules = [line for line in begins if f".{table}" in line]
        assert rules and all(line.startswith(f".slf.{css_class} ") for line in rules)


def test_no_two_figures_have_the_same_class():
    assert len({class_of(figure) for figure in FIGURES}) == len(FIGURES)


@each_figure
def test_script_has_what_is_shared_and_declares_nothing_twice(figure):
    script = str(figure._esm)
    names = re.findall(r"^(?:export )?(?:const|let|function) (\w+)", script, flags=re.M)
    assert "nextId" in names and len(names) == len(set(names))


@pytest.mark.parametrize("module", ["", ".machine_map", ".tokenizer"])
def test_importing_figures_loads_neither_torch_nor_matplotlib(module):
    code = f"import sys, softlookup_course.widgets{module}; print(sys.modules.keys() & {{'torch', 'matplotlib'}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


CARD, MODEL = "A100 80GB SXM", "Llama 3 8B"
REFUSED = {
    "no data sheet for 'A900'": [
        lambda: widgets.CooksAndVan([MODEL], ["A900"]),
        lambda: widgets.BatchingExplorer([MODEL], ["A900"]),
        lambda: widgets.MemoryExplorer([MODEL], ["A900"]),
    ],
    "GPT-9": [
        lambda: widgets.CooksAndVan(["GPT-9"], [CARD]),
        lambda: widgets.BatchingExplorer(["GPT-9"], [CARD]),
        lambda: widgets.MemoryExplorer(["GPT-9"], [CARD]),
    ],
    "luck": [
        lambda: widgets.KernelPlayer(("luck",)),
        lambda: widgets.RankPlayer(("luck",)),
        lambda: timeline.describe([Guest("Ada", 0, 300, 6)], MODEL, CARD, "luck", 3, 512),
    ],
    "float4": [lambda: widgets.KernelPlayer(("softmax",), dtype="float4")],
    "no dense rate for float8": [lambda: widgets.RooflineExplorer([hardware(CARD)], dtype="float8")],
    "at least one guest": [lambda: timelines([], MODEL, CARD)],
    "step is 0": [lambda: rate_explorer.describe(512, 4000, 0)],
    "no cut 'syllables'; wanted one of characters, words, byte pairs": [
        lambda: tokenizer.tokens_of(Learned("bare", "", BytePairTokenizer("ab▁", [])), "a", "syllables", 0)
    ],
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_no_figure_can_show_is_refused(message):
    for make in REFUSED[message]:
        with pytest.raises((KeyError, ValueError), match=message):
            make()


def test_figure_may_bring_a_script_of_its_own():
    class Bare(InteractiveFigure):
        _esm = "export default { render() {} };"

    assert Bare()._esm == "export default { render() {} };" and not hasattr(Bare, "_css")
