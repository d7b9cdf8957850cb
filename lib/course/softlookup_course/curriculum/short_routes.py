"""Short routes for readers: a few sections in order, with their minutes, and the sections that answer a question."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from softlookup_course.curriculum.pages import PageError, Section, chapter_files, read_page
from softlookup_course.curriculum.routes import labels
from softlookup_course.curriculum.tables import link_to


class Stop(NamedTuple):
    """A part of a route: sections of a chapter, and what the reader can say ``after`` it."""

    chapter: int
    labels: tuple[str, ...]
    after: str


TWO_HOURS = (
    Stop(
        2,
        labels("soft-lookup", "hard mix store roles temperature"),
        "how a lookup that mixes values differs from a dictionary",
    ),
    Stop(
        4,
        labels("one-head", "column softmax scale project weights mask mix attention"),
        "what queries, keys, values, scores and weights are, and compute them for a sentence",
    ),
    Stop(6, ("positions-rotary",), "how rotary embeddings bring word order into queries and keys"),
    Stop(8, ("decoder-causal", "decoder-polarity"), "how the causal mask keeps the future out"),
    Stop(10, ("inference-growing", "inference-cache"), "how text is generated, and what a KV cache saves"),
)
"""From the lookup to the next token."""

QUESTIONS = (
    ("Why are scores divided by the square root of the head width?", 4, "one-head-scale"),
    ("What do several heads do that one cannot?", 5, "many-heads-why"),
    ("How do rotary embeddings work?", 6, "positions-rotary"),
    ("What happens beyond the length a model was trained on?", 6, "positions-beyond"),
    ("Pre-norm or post-norm, LayerNorm or RMSNorm?", 7, "encoder-norm"),
    ("How do I build a causal mask and a padding mask, and combine them?", 8, "decoder-combine"),
    ("My loss falls, but the model is useless: which mistake is it?", 9, "training-wrong"),
    ("Which learning rate, and why warm up?", 9, "training-warmup"),
    ("What do temperature, top-k and top-p change?", 10, "inference-temperature"),
    ("How large does a KV cache become?", 10, "inference-memory"),
    ("Is my computation bandwidth-bound or compute-bound?", 11, "roofline-bound"),
    ("How many parameters does a transformer have?", 12, "counting-parameters"),
    ("How much memory does training take?", 12, "counting-memory"),
    ("How does FlashAttention save memory?", 13, "beyond-text-cost"),
)
"""What readers come with, and the section that answers it."""


def find_section(book: Path, chapter: int, label: str) -> Section:
    """Look up a section of a chapter's page, in the folder ``book``, by its label; PageError if there is none."""
    for section in read_page(book, chapter).sections:
        if section.label == label:
            return section
    raise PageError(f"chapter {chapter} has no section {label!r}")


def stops_table(book: Path, stops: Iterable[Stop]) -> str:
    """Write a route as a table in Markdown: linked sections, minutes, and what a reader can say afterwards."""
    lines = ["| read | minutes | then you can say |", "| --- | ---: | --- |"]
    for stop in stops:
        sections = [find_section(book, stop.chapter, label) for label in stop.labels]
        title = read_page(book, stop.chapter).title
        links = ", ".join(map(link_to, sections))
        lines.append(f"| **{title}**: {links} | {sum(section.minutes for section in sections)} | {stop.after} |")
    return "\n".join(lines)


def minutes_of(book: Path, stops: Iterable[Stop]) -> int:
    """Add up the reading time of a route, in minutes."""
    return sum(find_section(book, stop.chapter, label).minutes for stop in stops for label in stop.labels)


def questions_table(book: Path, questions: Iterable[tuple[str, int, str]]) -> str:
    """Write questions on the chapters that are there as a table, each with a link to the section that answers it."""
    lines = ["| you ask | read | minutes |", "| --- | --- | ---: |"]
    here = chapter_files(book)
    for question, chapter, label in questions:
        if chapter not in here:
            continue
        section = find_section(book, chapter, label)
        lines.append(f"| {question} | {link_to(section)} | {section.minutes} |")
    return "\n".join(lines)
