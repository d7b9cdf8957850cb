"""Chapters' questions in the page: options to press, beside an answer that can be unfolded without any script.

A chapter writes a question as one paragraph, ``**1. Question?** (a) one option, (b) another``, and an ``Answer`` to
unfold, which begins with the right letter and has a line for each wrong one. Here the options become a list whose
items ``quiz.js`` turns into buttons, and the letters are told to it as classes.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

TITLE = "Questions with answers"
OPTION = re.compile(r"(?:,\s*)?\((?P<letter>[a-h])\)\s+")
RIGHT = re.compile(r"\((?P<letter>[a-h])\)")


def split_options(parts: list[nodes.Node]) -> dict[str, list[nodes.Node]]:
    """The options that stand in a paragraph, by letter; what comes before the first has the key "".

    Args:
        parts: The paragraph's children.
    """
    found: dict[str, list[nodes.Node]] = {"": []}
    now = ""
    for part in parts:
        if not isinstance(part, nodes.Text):
            found[now].append(part)
            continue
        text, at = part.astext(), 0
        for sign in OPTION.finditer(text):
            if sign["letter"] != chr(ord("a") + len(found) - 1):
                continue  # a letter in brackets that is no option
            if text[at : sign.start()]:
                found[now].append(nodes.Text(text[at : sign.start()]))
            now, at = sign["letter"], sign.end()
            found[now] = []
        if text[at:]:
            found[now].append(nodes.Text(text[at:]))
    return found


def right_letter(answer: nodes.Element) -> str:
    """The letter that an answer begins with.

    Raises:
        ExtensionError: If it begins with none.
    """
    first = next(iter(answer.findall(nodes.strong)), None)
    told = RIGHT.match(first.astext()) if first is not None else None
    if told is None:
        raise ExtensionError(f"an answer begins with its letter, **(a)**, but this one says {answer.astext()[:60]!r}")
    return told["letter"]


def choices(section: nodes.section, docname: str) -> None:
    """Put a list of options in place of each question's paragraph.

    Raises:
        ExtensionError: If an option is not answered, or the right letter is no option.
    """
    number = 0
    for answer in [node for node in section.children if _is_dropdown(node)]:
        at = section.index(answer)
        question = section[at - 1]
        if not isinstance(question, nodes.paragraph):
            continue
        options = split_options(question.children)
        asked = options.pop("")
        if len(options) < 2:
            continue
        number += 1
        right = right_letter(answer)
        explained = {one["letter"] for item in answer.findall(nodes.list_item) if (one := RIGHT.match(item.astext()))}
        if right not in options or explained != set(options) - {right}:
            raise ExtensionError(
                f"{docname}, question {number}: options {sorted(options)}, right {right}, explained {sorted(explained)}"
            )
        listed = nodes.enumerated_list(enumtype="loweralpha", prefix="(", suffix=")", classes=["slq-options"])
        for parts in options.values():
            listed += nodes.list_item("", nodes.paragraph("", "", *parts))
        box = nodes.container(classes=["slq-choice", f"slq-right-{right}"], ids=[f"question-{number}"])
        box += nodes.paragraph("", "", *asked)
        box += listed
        section[at - 1] = box
        section.remove(answer)
        box += answer


def _is_dropdown(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("design_component") == "dropdown"


def find_questions(app: Sphinx, doctree: nodes.document) -> None:
    """Look for the section of questions."""
    for section in doctree.findall(nodes.section):
        if section and isinstance(section[0], nodes.title) and section[0].astext() == TITLE:
            choices(section, app.env.docname)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.connect("doctree-read", find_questions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
