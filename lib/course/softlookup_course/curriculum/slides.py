"""Slides of a chapter, made from its page: headings, formulas, tables and figures; the prose becomes notes."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

_LABEL = re.compile(r"^\([a-z0-9-]+\)= *$", re.MULTILINE)
_HEADING = re.compile(r"^(#{1,3}) +(.+?) *$")
_FORMULA = re.compile(r"\$\$(.+?)\$\$(?: *\([a-z0-9-]+\))?", re.DOTALL)
_FENCE = re.compile(r"^(`{3,}|~{3,}|:{3,}).*?^\1 *$", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\|\s*$\n?){3,}", re.MULTILINE)
_ROLE = re.compile(r"\{([a-z:]+)\}`([^`]*)`")
_CITED = re.compile(r" *\{cite(?::p)?\}`[^`]*`")
_SOURCE = re.compile(r"([a-z]+)(\d{4})")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\([^)]*\)")
_DARK_IMAGE = re.compile(r'<img class="only-dark[^>]*>')
_NOT_SHOWN = ("Summary", "Questions with answers", "Sources")
_WIDGET = "application/vnd.jupyter.widget-view+json"
_PICTURE = "image/png"
LONG_FORMULA = 180
"""Characters from which a formula is set smaller, and from which two do not stand on one slide."""
MOST_ROWS = 8
"""Rows of a table on one slide."""


def said_values(notebook: NotebookNode) -> dict[str, Any]:
    """The numbers and words that an executed page keeps for its sentences."""
    values: dict[str, Any] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            for mime_type, text in output.get("data", {}).items() if name else ():
                if mime_type.endswith("text/plain"):
                    values[name] = _plain(str(text))
    return values


def _plain(text: str) -> Any:
    for number_type in (int, float):
        try:
            return number_type(text)
        except ValueError:
            continue
    return text[1:-1] if text[:1] in "'\"" else text


def cleaned(text: str, values: Mapping[str, Any]) -> str:
    """Prose of a page without the book's own markup: numbers (by name) put in, links and roles as their words."""

    def role(match: re.Match[str]) -> str:
        role_name, content = match[1], match[2]
        if role_name.startswith("glue"):
            name, _, form = content.partition(":")
            value = values.get(name, "…")
            return format(value, form) if form and not isinstance(value, str) else str(value)
        if role_name.startswith("cite"):
            return ", ".join(f"{name.title()} {year}" for name, year in _SOURCE.findall(content))
        return re.sub(r" *<[^>]*>$", "", content)

    text = _CITED.sub("", _FENCE.sub("", _LABEL.sub("", text)))
    text = _LINK.sub(lambda match: match[1], _ROLE.sub(role, text))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def slides_notebook(notebook: NotebookNode, page: str, live: Sequence[bytes] = ()) -> NotebookNode:
    """Make a notebook of slides from an executed page; prose becomes notes, ``live`` are pictures of its figures."""
    values = said_values(notebook)
    interactive = [out for cell in notebook.cells for out in cell.get("outputs", ()) if _WIDGET in out.get("data", {})]
    if len(live) == len(interactive):
        for output, picture in zip(interactive, live, strict=True):
            output["data"][_PICTURE] = base64.b64encode(picture).decode("ascii")
    slides = nbformat.v4.new_notebook()
    slides.metadata.title = page
    for section in _sections(notebook):
        slides.cells += _slides(section, values, page)
    for index, cell in enumerate(slides.cells):
        cell.id = f"slide-{index}"
    return slides


class _Section:
    def __init__(self, level: int, title: str) -> None:
        self.level, self.title = level, title
        self.parts: list[tuple[str, Any]] = []


def _sections(notebook: NotebookNode) -> Iterator[_Section]:
    """The page's sections, small ones too, without summary, questions and sources."""
    current = _Section(1, "")
    is_shown = True
    for cell in notebook.cells:
        if cell.cell_type == "code":
            if is_shown:
                current.parts += [("output", output) for output in cell.get("outputs", ()) if _is_figure(output)]
            continue
        for heading, body in _pieces(cell.source):
            if heading:
                if is_shown:
                    yield current
                level, title = len(heading[1]), heading[2]
                is_shown = not title.startswith(_NOT_SHOWN) if level == 2 else is_shown
                current = _Section(level, title)
            if is_shown and body.strip():
                current.parts.append(("text", body))
    if is_shown:
        yield current


def _pieces(source: str) -> Iterator[tuple[re.Match[str] | None, str]]:
    """Cut Markdown at its headings, but not at a comment in code."""
    lines: list[str] = []
    heading, fence = None, ""
    for line in source.splitlines():
        mark = re.match(r"(`{3,}|~{3,}|:{3,})", line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        match = None if fence else _HEADING.match(line)
        if match:
            yield heading, "\n".join(lines)
            heading, lines = match, []
        else:
            lines.append(line)
    yield heading, "\n".join(lines)


def _is_figure(output: Any) -> bool:
    data = output.get("data", {})
    return "slk-figure" in "".join(data.get("text/html", "")) or _WIDGET in data


def _slides(section: _Section, values: Mapping[str, Any], page: str) -> list[NotebookNode]:
    mark = "#" * section.level
    title = f"{mark} {cleaned(section.title, values)}"
    if section.level == 1:
        first = next((body for part_type, body in section.parts if part_type == "text"), "")
        question = cleaned(first, values).split("\n\n")[0] if section.title else ""
        return [_cell(f"{title}\n\n{question}", "slide")] if section.title else []
    blocks: list[str] = []
    figures: list[NotebookNode] = []
    notes: list[str] = []
    for part_type, part in section.parts:
        if part_type == "output":
            figures.append(part)
            continue
        blocks += _formulas_and_tables(part, values)
        notes.append(_FORMULA.sub("", _TABLE.sub("", cleaned(part, values))))
    first_kind = "slide" if section.level == 2 else "subslide"
    cells: list[NotebookNode] = []
    for several in _together(blocks):
        cells.append(_cell(f"{title}\n\n" + "\n\n".join(several), "subslide" if cells else first_kind))
    for figure in figures:
        cells.append(_cell(title, "subslide" if cells else first_kind))
        cells.append(_figure(figure, page))
    notes_text = re.sub(r"\n{3,}", "\n\n", "\n\n".join(notes)).strip()
    if cells and notes_text:
        cells.insert(1 if cells[0].cell_type == "markdown" and not figures else len(cells), _cell(notes_text, "notes"))
    return cells


def _formulas_and_tables(text: str, values: Mapping[str, Any]) -> list[str]:
    """Each displayed formula with the sentence before it, and each table, in the order of the page."""
    body = cleaned(text, values)
    blocks = []
    for match in sorted([*_FORMULA.finditer(body), *_TABLE.finditer(body)], key=lambda match: match.start()):
        if match.re is _TABLE:
            blocks += _cut_table(match[0].strip())
            continue
        before = body[: match.start()].rstrip().split("\n\n")[-1]
        sentence = re.split(r"(?<=[.?!]) +(?=[A-Z$*])", before)[-1].strip()
        lead = sentence if sentence.endswith((":", ",")) and "$$" not in sentence and len(sentence) < 240 else ""
        formula = f"$${match[1].strip()}$$"
        if len(formula) > LONG_FORMULA:
            formula = f'<div class="long">\n\n{formula}\n\n</div>'
        blocks.append(f"{lead}\n\n{formula}" if lead else formula)
    return blocks


def _cut_table(table: str) -> list[str]:
    """A long table as several, each with the heading."""
    head, rule, *rows = table.splitlines()
    parts = -(-len(rows) // MOST_ROWS)
    each = -(-len(rows) // parts)
    return ["\n".join([head, rule, *rows[i : i + each]]) for i in range(0, len(rows), each)]


def _together(blocks: list[str]) -> Iterator[list[str]]:
    """What stands on one slide: a table alone, or two formulas."""
    waiting: list[str] = []
    for block in blocks:
        table = block.startswith("|")
        if waiting and (table or len(waiting) == 2 or LONG_FORMULA < len(block) + len(waiting[0])):
            yield waiting
            waiting = []
        if table:
            yield [block]
        else:
            waiting.append(block)
    if waiting:
        yield waiting


def _cell(source: str, slide_type: str) -> NotebookNode:
    cell = nbformat.v4.new_markdown_cell(source)
    cell.metadata["slideshow"] = {"slide_type": slide_type}
    return cell


def _figure(output: Any, page: str) -> NotebookNode:
    """A drawn figure as it is, light alone; of one to be operated, where it is to be found."""
    if _PICTURE in output["data"]:
        says = f"The figure as it opens; operate it on the page {page}.html of the book."
        image = f'<img src="data:image/png;base64,{output["data"][_PICTURE]}" alt="{says}">'
        return _shown(f'<figure class="slk-figure">{image}<figcaption>{says}</figcaption></figure>')
    if _WIDGET in output["data"]:
        return _cell(f"An interactive figure: show it on the page `{page}.html` of the book.", "-")
    return _shown(_DARK_IMAGE.sub("", "".join(output["data"]["text/html"])))


def _shown(html: str) -> NotebookNode:
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("display_data", {"text/html": html})])
    cell.metadata["slideshow"] = {"slide_type": "-"}
    return cell
