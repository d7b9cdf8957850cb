"""A sheet and its key as files: Markdown to edit, HTML to print."""

import html
import re
from collections.abc import Callable
from pathlib import Path

from softlookup_course.exam.sheet import Sheet
from softlookup_course.exam.written import key_markdown, sheet_markdown

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
@page {{ size: A4; margin: 2cm; @bottom-center {{ content: counter(page) " / " counter(pages); font: 10pt serif }} }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1.05rem/1.5 serif; color: #111; background: #fff }}
h1 {{ font-size: 1.5rem }}
h2 {{ font-size: 1.1rem; margin-top: 1.5rem; break-after: avoid }}
section:has(.space), table, .formula {{ break-inside: avoid }}
.space {{ border-left: 1px solid #ccc }}
table {{ border-collapse: collapse }}
td, th {{ border: 1px solid #666; padding: .1rem .7rem; text-align: left }}
blockquote {{ margin: 0; padding-left: 1rem; border-left: 3px solid #999 }}
.formula {{ overflow-x: auto }}
@media print {{ body {{ margin: 0 }} }}
</style>
<script>MathJax = {{ options: {{ enableMenu: false }} }}</script>
<script src="mathjax/tex-chtml.js" defer></script>
</head>
<body>
{body}
</body>
</html>
"""


_SPACE = re.compile(r"<!-- *space: *(\d{1,2}(?:\.\d)?) *cm *-->")


def as_html(markdown: str, title: str) -> str:
    """Write Markdown as a page with MathJax beside it; ``<!-- space: 5 cm -->`` leaves room for an answer."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(content: str, options: dict) -> str:
        text = html.escape(content)
        return rf"\[{text}\]" if options["display_mode"] else rf"\({text}\)"

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.use(dollarmath_plugin, renderer=formula, double_inline=True)
    sections = [_with_room(part, reader.render) for part in re.split(r"(?m)^(?=## )", markdown)]
    body = sections[0] + "".join(f"<section>\n{part}</section>\n" for part in sections[1:])
    return _PAGE.format(title=html.escape(title), body=body)


def _with_room(markdown: str, render: Callable[[str], str]) -> str:
    """One part of a sheet, rendered, with the room for answers in it."""
    parts = _SPACE.split(markdown)  # text and centimetres in turns
    return "".join(
        f'<div class="space" style="height: {part}cm"></div>\n' if at % 2 else render(part)
        for at, part in enumerate(parts)
    )


def write_exam(exam_sheet: Sheet, folder: Path) -> list[Path]:
    """Write sheet and key into a folder, as Markdown and as HTML that needs no network; no name holds the seed."""
    from softlookup_course.curriculum.vendored import copy_mathjax

    copy_mathjax(folder / "mathjax")
    written = []
    letter = f"-{exam_sheet.version}" if exam_sheet.version else ""
    for name, text in (("sheet", sheet_markdown(exam_sheet)), ("key", key_markdown(exam_sheet))):
        path = folder / f"{name}{letter}.md"
        path.write_text(text, encoding="utf-8")
        written += [path, write_page(path, folder)]
    return written


def write_page(markdown: Path, folder: Path) -> Path:
    """Write a sheet or key, whose Markdown may have been edited, as a page to print with MathJax beside it."""
    from softlookup_course.curriculum.vendored import copy_mathjax

    copy_mathjax(folder / "mathjax")
    text = markdown.read_text(encoding="utf-8")
    heading = re.search(r"(?m)^# +(.+)$", text)
    path = folder / f"{markdown.stem}.html"
    path.write_text(as_html(text, heading[1].strip() if heading else markdown.stem), encoding="utf-8")
    return path
