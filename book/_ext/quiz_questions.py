"""Chapters' questions in the page: options to press, beside an answer that can be unfolded without any script.

A chapter writes a question as one paragraph, ``**1. Question?** (a) one option, (b) another``, and an ``Answer`` to
unfold, which begins with the right letter and has a line for each wrong one. Here the options become a list whose
items ``quiz.js`` turns into buttons, and the letters are told to it as classes.

The order of the options is drawn anew for the page, with its name as the seed: authors may write the right option
where they like, and on each page it stands equally often at each place. The answers get the new letters, so they speak
of other options by what those say. Browsers keep which questions are answered, by their numbers, and no letters.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

TITLE = "Questions with answers"
OPTION = re.compile(r"(?:,\s*)?\((?P<letter>[a-h])\)\s+")
RIGHT = re.compile(r"\((?P<letter>[a-h])\)")
#: Options that make sense behind all others alone.
LAST = re.compile(r"((on )?both|neither|all( \w+)* together|(all|none) of (these|them))$")


@dataclass(frozen=True)
class Options:
    """What the order of a question's options depends on.

    Attributes:
        count: How many there are.
        right: Which one is right, counted from 0.
        last: Whether the last one has to stay the last.
    """

    count: int
    right: int
    last: bool = False


def drawn_orders(seed: str, questions: Sequence[Options]) -> list[list[int]]:
    """Draw, by the page's name, an order of the options for each question of a page.

    The numbers of a question's options stand in the order in which they are shown. Over the page, the right option
    stands at each place as often as at any other, or once more, as far as options that stay last allow.
    """
    rng = Random(seed)
    drawn = list(range(len(questions)))
    rng.shuffle(drawn)  # so that the place of one question's answer does not tell the next one's

    def places(number: int) -> range:
        question = questions[number]
        if not question.last:
            return range(question.count)
        return (
            range(question.count - 1, question.count)
            if question.right == question.count - 1
            else range(question.count - 1)
        )

    often: Counter[int] = Counter()
    orders: dict[int, list[int]] = {}
    for number in sorted(drawn, key=lambda number: len(places(number))):
        question = questions[number]
        place = min(places(number), key=lambda place: (often[place], rng.random()))
        often[place] += 1
        others = [option for option in range(question.count) if option != question.right]
        moving = others[:-1] if question.last and question.right != question.count - 1 else others
        rng.shuffle(moving)
        orders[number] = moving + others[len(moving) :]
        orders[number].insert(place, question.right)
    return [orders[number] for number in range(len(questions))]


def split_options(parts: list[nodes.Node]) -> dict[str, list[nodes.Node]]:
    """The options that stand in a paragraph, by letter; what comes before the first has the key ""."""
    options: dict[str, list[nodes.Node]] = {"": []}
    now = ""
    for part in parts:
        if not isinstance(part, nodes.Text):
            options[now].append(part)
            continue
        text, at = part.astext(), 0
        for sign in OPTION.finditer(text):
            if sign["letter"] != chr(ord("a") + len(options) - 1):
                continue  # a letter in brackets that is no option
            if text[at : sign.start()]:
                options[now].append(nodes.Text(text[at : sign.start()]))
            now, at = sign["letter"], sign.end()
            options[now] = []
        if text[at:]:
            options[now].append(nodes.Text(text[at:]))
    return options


def right_letter(answer: nodes.Element) -> str:
    """The letter that an answer begins with; ExtensionError if it begins with none."""
    first = next(iter(answer.findall(nodes.strong)), None)
    match = RIGHT.match(first.astext()) if first is not None else None
    if match is None:
        raise ExtensionError(f"an answer begins with its letter, **(a)**, but this one says {answer.astext()[:60]!r}")
    return match["letter"]


def reletter(answer: nodes.Element, new: dict[str, str]) -> None:
    """Give an answer the letters under which its options are shown, and its lines the options' order.

    ``new`` is the letter that is shown, by the one that the author wrote. ExtensionError if the answer names an option
    by its letter in the middle of a sentence.
    """
    lines = [item for item in answer.findall(nodes.list_item) if RIGHT.match(item.astext())]
    begins = [next(iter(part.findall(nodes.Text))) for part in (next(iter(answer.findall(nodes.strong))), *lines)]
    for text in list(answer.findall(nodes.Text)):
        if isinstance(text.parent, nodes.math | nodes.literal):
            continue
        inside = text.astext()
        if any(text is begin for begin in begins):
            match = RIGHT.match(inside)
            assert match is not None, inside
            rest = inside[match.end() :]
            text.parent.replace(text, nodes.Text(f"({new[match['letter']]}){rest}"))
            inside = rest
        if named := RIGHT.search(inside):
            raise ExtensionError(f"an answer calls an option {named[0]}, but letters are drawn: {inside[:60]!r}")
    for listed in {id(item.parent): item.parent for item in lines}.values():
        listed.children = sorted(listed.children, key=lambda item: item.astext())


def choices(section: nodes.section, docname: str) -> None:
    """Put a list of options, in the order that is drawn, in place of each question's paragraph.

    ExtensionError if an option is not answered, the right letter is no option, or an answer names a letter.
    """
    questions: list[tuple[list[nodes.Node], dict[str, list[nodes.Node]], str, nodes.Element]] = []
    for answer in [node for node in section.children if _is_dropdown(node)]:
        at = section.index(answer)
        question = section[at - 1]
        if not isinstance(question, nodes.paragraph):
            continue
        options = split_options(question.children)
        stem = options.pop("")
        if len(options) < 2:
            continue
        number = len(questions) + 1
        right = right_letter(answer)
        explained = {
            match["letter"] for item in answer.findall(nodes.list_item) if (match := RIGHT.match(item.astext()))
        }
        if right not in options or explained != set(options) - {right}:
            raise ExtensionError(
                f"{docname}, question {number}: options {sorted(options)}, right {right}, explained {sorted(explained)}"
            )
        questions.append((stem, options, right, answer))
    orders = drawn_orders(docname, [_facts(options, right) for _, options, right, _ in questions])
    for number, ((stem, options, right, answer), order) in enumerate(zip(questions, orders, strict=True), 1):
        letters = list(options)
        new = {letters[option]: letters[place] for place, option in enumerate(order)}
        reletter(answer, new)
        listed = nodes.enumerated_list(enumtype="loweralpha", prefix="(", suffix=")", classes=["slq-options"])
        for option in order:
            listed += nodes.list_item("", nodes.paragraph("", "", *options[letters[option]]))
        box = nodes.container(classes=["slq-choice", f"slq-right-{new[right]}"], ids=[f"question-{number}"])
        box += nodes.paragraph("", "", *stem)
        box += listed
        at = section.index(answer)
        section[at - 1] = box
        section.remove(answer)
        box += answer


def _facts(options: dict[str, list[nodes.Node]], right: str) -> Options:
    last = "".join(part.astext() for part in list(options.values())[-1]).strip()
    return Options(len(options), list(options).index(right), LAST.fullmatch(last) is not None)


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
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
