"""How long a page takes to read: its words, its visible code, its figures; what is folded is counted apart."""

import re
from dataclasses import dataclass
from math import ceil

WORDS_A_MINUTE = 200
"""Silent reading of plain non-fiction goes at about 240 (Brysbaert 2019); formulas and terms slow it down."""
CODE_LINES_A_MINUTE = 12
PICTURE_MINUTES = 0.5
LIVE_FIGURE_MINUTES = 2
STEP_MINUTES = 5
"""Pages state their time in steps of so many minutes."""

STATED = re.compile(r"\*\*Reading time\*\* about (\d+) minutes")
"""Where a page states its time."""

_FENCE = re.compile(r" *(`{3,}|:{3,})(?:\{([\w-]+)\})?")
_TAGS = re.compile(r":tags: *\[(.*)\]")
_ONE_WORD = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$|\{glue:\w+\}`[^`]*`", re.DOTALL)
_NO_WORDS = re.compile(r"\{[\w:]+\}(?=`)|\]\([^)]*\)|^\([\w-]+\)=$|^\|[ :|-]+\|$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z0-9][\w'-]*")
_WIDGETS = re.compile(r"^from softlookup_course\.widgets import (\([^)]*\)|.*)$", re.MULTILINE)
_MATERIAL = {"Choice", "Example", "LayerExample", "Learned", "Look", "Picture", "Sizes", "Store"}
"""Names of ``softlookup_course.widgets`` that figures are made of."""


@dataclass(frozen=True)
class Reading:
    """What a page asks of its reader; a formula or a computed number counts as one word."""

    words: int = 0
    code_lines: int = 0
    pictures: int = 0
    live: int = 0

    @property
    def minutes(self) -> int:
        """The time to read all of it, rounded up to a step."""
        exact = self.words / WORDS_A_MINUTE + self.code_lines / CODE_LINES_A_MINUTE
        exact += PICTURE_MINUTES * self.pictures + LIVE_FIGURE_MINUTES * self.live
        return STEP_MINUTES * ceil(exact / STEP_MINUTES)

    def __add__(self, other: "Reading") -> "Reading":
        """Both, one after the other."""
        first, second = vars(self).values(), vars(other).values()
        return Reading(*(a + b for a, b in zip(first, second, strict=True)))


def figures_to_operate(text: str) -> set[str]:
    """Name the interactive figures that a page imports."""
    return {name.strip(" \n()") for line in _WIDGETS.findall(text) for name in line.split(",")} - {"", *_MATERIAL}


def reading(text: str) -> tuple[Reading, Reading]:
    """Count a page's main line, and what stands in its folds; what no reader has to see is in neither."""
    live = figures_to_operate(text)
    prose: dict[bool, list[str]] = {False: [], True: []}
    counted = {False: Reading(), True: Reading()}
    open_fences: list[tuple[str, str]] = []
    cell: list[str] | None = None
    for line in re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S).splitlines():
        fence = _FENCE.match(line)
        if open_fences and line.strip() == open_fences[-1][0]:
            _, fence_type = open_fences.pop()
            if fence_type == "code-cell" and cell is not None:
                for folded, part in _cell(cell, live).items():
                    counted[folded] += part
            cell = None
        elif fence and cell is None:
            open_fences.append((fence[1], fence[2] or ""))
            if not fence[2] or fence[2] in {"code-cell", "code-block", "raw", "bibliography"}:
                cell = []
        elif cell is not None:
            cell.append(line)
        else:
            folded = any(fence_type == "dropdown" for _, fence_type in open_fences)
            prose[folded].append(line)
    for folded, lines in prose.items():
        words = len(_WORD.findall(_NO_WORDS.sub(" ", _ONE_WORD.sub(" x ", "\n".join(lines)))))
        counted[folded] += Reading(words=words)
    return counted[False], counted[True]


def _cell(lines: list[str], live: set[str]) -> dict[bool, Reading]:
    """Count a cell's code and its figures, by whether they are folded."""
    source = "\n".join(lines)
    match = _TAGS.search(source)
    tags = {tag.strip() for tag in match[1].split(",")} if match else set()
    visible = Reading()
    if not {"remove-cell", "remove-output"} & tags:
        operated = sum(bool(re.search(rf"\b{name}\(", source)) for name in live)
        visible = Reading(pictures=source.count("show("), live=operated)
    code = Reading(code_lines=sum(bool(line.strip()) and not line.startswith(":") for line in lines))
    if {"remove-cell", "remove-input", "hide-input"} & tags:  # hidden code draws and formats
        return {False: visible}
    if "hide-cell" in tags:
        return {True: visible + code}
    return {False: visible + code}
