"""A sheet and its key as files: Markdown to edit, HTML to print."""

import html
from pathlib import Path

from softlookup.exam.sheet import Sheet
from softlookup.exam.written import key_markdown, sheet_markdown

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1.05rem/1.5 serif; color: #111; background: #fff }}
h1 {{ font-size: 1.5rem }}
h2 {{ font-size: 1.1rem; margin-top: {gap}; break-after: avoid }}
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


def as_html(markdown: str, title: str, *, gap: str = "1.5rem") -> str:
    """Write Markdown with formulas as a page that MathJax in the folder beside it typesets.

    Args:
        markdown: A sheet or a key.
        title: The page's title.
        gap: The space before each question.

    Returns:
        The page.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(content: str, options: dict) -> str:
        text = html.escape(content)
        return rf"\[{text}\]" if options["display_mode"] else rf"\({text}\)"

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.use(dollarmath_plugin, renderer=formula, double_inline=True)
    return _PAGE.format(title=html.escape(title), body=reader.render(markdown), gap=gap)


def write_exam(sheet: Sheet, folder: Path) -> list[Path]:
    """Write sheet and key into a folder, as Markdown and as HTML that needs no network.

    Args:
        sheet: The sheet.
        folder: Made if it is not there.

    Returns:
        The four files.

    Raises:
        FileNotFoundError: If MathJax is not there; the message says what fetches it.
    """
    from softlookup.curriculum.vendored import copy_mathjax

    copy_mathjax(folder / "mathjax")
    written = []
    for name, text, gap in (("sheet", sheet_markdown(sheet), "8rem"), ("key", key_markdown(sheet), "1.5rem")):
        for ending, content in ((".md", text), (".html", as_html(text, f"Exam: {name}", gap=gap))):
            path = folder / f"exam-{sheet.seed}-{name}{ending}"
            path.write_text(content, encoding="utf-8")
            written.append(path)
    return written
