"""Words of the glossary, where chapters use them: the first use on a page leads there, and its definition comes along.

``book/glossary.md`` is the only place where a definition is written. A chapter may link a word by hand, with MyST's
role ``term``; a word that it does not link so is linked here, at its first use in plain text. The definitions of all
words that a page links travel in it as a ``<template>``, which ``glossary.js`` shows where one points, tabs or taps.
"""

import html
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.matching import Matcher

GLOSSARY = "book/glossary"
PAGES = Matcher(["book/[0-9][0-9]_*"])
"""Pages whose words are linked without being marked: the chapters."""

ORDINARY = frozenset(
    "activation,advantage,batch,batch size,bucket,cache,chain rule,context,depth,frame,gradient,hyperparameter,"
    "inference,key,latency,leak,memory,operation,packing,patch,projection,ridge,score,sequence,throughput,tile,transpose,value,"
    "variance,vocabulary".split(",")
)
"""Entries that are everyday words too, or words of other trades: linked only where an author says so."""

LEFT_ALONE = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.table,
    nodes.figure,
    nodes.raw,
    nodes.term,
    nodes.Admonition,
    addnodes.pending_xref,
)
"""What no word is linked in."""

NO_PROSE = {"cell", "slq-choice", "section-line", "sd-card", "sd-dropdown", "lead"}
"""Classes of what holds other things than running text."""


def terms(source: str) -> list[str]:
    r"""The entries of the glossary's page, ``glossary.md``, in its order.

    Examples:
        >>> terms("Words.\n\n```{glossary}\nquery\n    Asks.\n\ntop-k\n    Draws.\n```\n")
        ['query', 'top-k']
    """
    inside = source.split("```{glossary}\n", 1)[1].split("\n```", 1)[0]
    return [line.strip() for line in inside.splitlines() if line[:1].strip()]


@cache
def pattern(*words: str) -> re.Pattern[str]:
    """What finds any of these words, longer ones first: whole, singular or plural, at a sentence's beginning too."""
    longest = sorted(words, key=lambda word: (-len(word), word))
    either = "|".join(f"(?:{_first(word)}{re.escape(word[1:])}{_plural(word)})" for word in longest)
    return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])")


def _first(word: str) -> str:
    return f"[{word[0]}{word[0].upper()}]" if word[0].islower() else re.escape(word[0])


def _plural(word: str) -> str:
    return "" if word.endswith("s") else "(?:es)?" if word.endswith(("x", "sh")) else "s?"


def entry(text: str, words: list[str]) -> str:
    """The entry that a found word belongs to.

    Examples:
        >>> entry("Causal masks", ["mask", "causal mask"])
        'causal mask'
    """
    return next(word for word in words if pattern(word).fullmatch(text))


def running_text(doctree: nodes.document) -> Iterator[nodes.Text]:
    """The texts of a page's paragraphs, without headings, code, formulas, links, tables and boxes."""
    for text in list(doctree.findall(nodes.Text)):
        above, paragraph = text.parent, False
        while above is not None and not isinstance(above, LEFT_ALONE):
            if NO_PROSE.intersection(above.get("classes", ())):
                break
            paragraph = paragraph or isinstance(above, nodes.paragraph)
            above = above.parent
        if above is None and paragraph:
            yield text


def link_first_uses(doctree: nodes.document, words: list[str]) -> None:
    """Link the first use of each word that the page does not link by itself."""
    by_hand = {
        node["reftarget"].lower() for node in doctree.findall(addnodes.pending_xref) if node.get("reftype") == "term"
    }
    left = [word for word in words if word not in ORDINARY and "(" not in word and word.lower() not in by_hand]
    every = sorted(words, key=len, reverse=True)
    anything = pattern(*every)
    for text in running_text(doctree):
        parts: list[nodes.Node] = []
        at = 0
        for match in anything.finditer(text.astext()):
            word = entry(match[0], every)
            if word not in left:
                continue
            left.remove(word)
            parts += [nodes.Text(text.astext()[at : match.start()]), _link(match[0], word)]
            at = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text.astext()[at:])])


def _link(shown: str, word: str) -> addnodes.pending_xref:
    inner = nodes.inline("", shown, classes=["xref", "std", "std-term"])
    return addnodes.pending_xref(
        "", inner, refdomain="std", reftype="term", reftarget=word, refexplicit=True, refwarn=True, refdoc=""
    )


def link_words(app: Sphinx, doctree: nodes.document) -> None:
    """Link a chapter's words, and have the page read again when the glossary changes."""
    source = Path(app.srcdir) / f"{GLOSSARY}.md"
    if not source.exists():
        return
    app.env.note_dependency(str(source))
    if PAGES(app.env.docname):
        link_first_uses(doctree, terms(source.read_text("utf-8")))
        for link in doctree.findall(addnodes.pending_xref):
            if link.get("refdoc") == "":
                link["refdoc"] = app.env.docname


def definitions(glossary: nodes.document) -> dict[str, str]:
    """What the glossary says of each entry, as HTML without links, by the anchor of the entry."""
    by_name = {}
    for item in glossary.findall(nodes.definition_list_item):
        text = "".join(f"<p>{_plain(part)}</p>" for part in item[-1].children if isinstance(part, nodes.paragraph))
        for term in item.findall(nodes.term):
            for name in term["ids"]:
                by_name[name] = f"<p><strong>{html.escape(term.astext())}</strong></p>{text}"
    return by_name


def _plain(node: nodes.Node) -> str:
    if isinstance(node, nodes.math):
        return f'<span class="math notranslate nohighlight">\\({html.escape(node.astext())}\\)</span>'
    if isinstance(node, nodes.Text):
        return html.escape(node.astext())
    inside = "".join(map(_plain, node.children))
    name = {nodes.emphasis: "em", nodes.strong: "strong", nodes.literal: "code"}.get(type(node))
    return f"<{name}>{inside}</{name}>" if name else inside


def bring_definitions(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the definitions of the words that a page links to at its end, in a template that nothing shows by itself."""
    if doctree is None or GLOSSARY not in app.env.found_docs:
        return
    prefix = f"{app.builder.get_relative_uri(pagename, GLOSSARY)}#" if pagename != GLOSSARY else ""
    links = [link for link in doctree.findall(nodes.reference) if any(map(_is_term, link.children))]
    names = dict.fromkeys(link.get("refuri", "").removeprefix(prefix) or link.get("refid", "") for link in links)
    if not names:
        return
    texts = definitions(app.env.get_doctree(GLOSSARY))
    entries = "".join(f'<div data-term="{name}">{texts[name]}</div>' for name in names if name in texts)
    context["body"] += f'<template id="glossary-words">{entries}</template>'


def _is_term(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and "std-term" in node.get("classes", ())


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook them in: links once a page is read, definitions when it is written."""
    # After the questions have become lists, and the lines of other kinds stand under their headings.
    app.connect("doctree-read", link_words, priority=900)
    app.connect("html-page-context", bring_definitions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
