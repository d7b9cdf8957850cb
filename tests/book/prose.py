"""The sentences of the book's pages, without code, formulas and what a cell fills in."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "book").rglob("*.md"))
PAGES = [page for page in PAGES if not {"_vendor", "_static"} & set(page.parts)]

HEADER = re.compile(r"\A---\n.*?\n---\n", re.S)
FENCE = re.compile(r"^ *(?P<marks>`{3,}|:{3,})(?:\{(?P<kind>[\w-]+)\}|(?P<language>\w*) *$)")
OPTION = re.compile(r"^ *:[\w-]+:")
CODE = {"code-cell", "code-block", "eval-rst", "raw", "bibliography"}
"""Directives whose content no reader reads as sentences; what stands in others is prose."""

FILLED = "\N{LOZENGE}"
"""Stands where a cell fills in a number or a formula stands."""


def without_code(text: str) -> str:
    """Drop the header, blocks of code, and the lines that open, close and set up the others."""
    lines: list[str] = []
    open_fences: list[str] = []
    code = fresh = False
    for line in HEADER.sub("", text).splitlines():
        fence = FENCE.match(line)
        if open_fences and line.strip() == open_fences[-1]:
            open_fences.pop()
            code = False
        elif fence and not code:
            open_fences.append(fence["marks"])
            code = fence["kind"] in CODE if fence["kind"] else True
            title = line[fence.end() :].strip()
            lines += ["", *([title] if title and not code else [])]
            fresh = True
            continue
        elif not code and not (fresh and OPTION.match(line)):
            lines.append(line)
        fresh = fresh and bool(OPTION.match(line))
    return "\n".join(lines)


def prose(text: str) -> str:
    """Leave the words of a page that a reader sees."""
    text = re.sub(r"<!--.*?-->|^% .*$|^\([\w-]+\)=$", "", without_code(text), flags=re.S | re.M)
    text = re.sub(r"\$\$.*?\$\$", FILLED, text, flags=re.S)
    text = re.sub(r"(?<!\\)\$[^$\n]+?\$", FILLED, text)
    text = re.sub(r"\{glue:?\w*\}`[^`]*`|\{eval\}`[^`]*`|\{\{.*?\}\}", FILLED, text)
    text = re.sub(r"\{cite:?\w*\}`[^`]*`", "", text)
    text = re.sub(r"\{(?:term|ref|doc|download|abbr)\}`([^`<]*)(?:<[^`]*>)?`", r"\1", text)
    text = re.sub(r"``[^`]+``|`[^`]*`", FILLED, text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^(\S.*)\n(?= {4})", r"\1\n\n", text, flags=re.M)  # a word of the glossary and what it means
    return re.sub(r"<[^>\n]+>|https?://\S+", "", text)


def paragraphs(text: str) -> list[str]:
    """Cut prose into paragraphs, items, cells of tables and headings, each in one line."""
    made: list[str] = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |#|\|))", prose(text)):
        cells = block.split("|") if block.lstrip().startswith("|") else [block]
        made += [" ".join(cell.replace("*", "").lstrip(" #->").split()) for cell in cells]
    return [paragraph for paragraph in made if paragraph and not re.fullmatch(r"[-: ]+", paragraph)]


def sentences(text: str) -> list[str]:
    """Cut prose into sentences."""
    return [
        sentence
        for whole in paragraphs(text)
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z(\"'◊])", whole)
        if sentence
    ]
