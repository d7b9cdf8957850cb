"""Routes, sessions and edges as Markdown tables, for the page for lecturers."""

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from softlookup_course.curriculum.graph import EDGES, NAMES
from softlookup_course.curriculum.pages import Section, read_page
from softlookup_course.curriculum.routes import Route
from softlookup_course.curriculum.sessions import OUTSIDE, sessions, taught_sections
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.data.task import Task

FIGURE_SAYS = {
    "AttentionSteps": "one head, step by step",
    "BatchingExplorer": "who travels",
    "BeamTree": "a search, followed",
    "CacheGrowth": "the cache grows",
    "CooksAndVan": "which step waits for which",
    "CostSwitches": "one model, its parts changed",
    "EncoderStepper": "an encoder layer, step by step",
    "ExpertRouting": "a token, routed through experts",
    "FirstLookup": "a dictionary turned soft",
    "HeadShapes": "shapes of heads",
    "KernelPlayer": "a kernel, played",
    "LayerComparison": "a layer of 2017 beside one of today",
    "LookupPlane": "a lookup in the plane",
    "LossDetective": "which fault made this curve?",
    "MachineMap": "the map of the machine",
    "MaskBuilder": "masks, built",
    "MemoryExplorer": "does it fit?",
    "PatchExplorer": "inside a vision transformer",
    "PatchingGrid": "vectors and heads patched, in SmolLM2",
    "PipelineChart": "a pipeline, its bubbles",
    "PositionExplorer": "the clock of positions",
    "ProductShapes": "shapes of a product",
    "RankPlayer": "a parallel program, played",
    "RateExplorer": "learning rates",
    "RooflineExplorer": "a layer under the roof",
    "SamplingExplorer": "temperature, top-k, top-p",
    "ServingTimeline": "a batch, served",
    "ShardedMemory": "who holds what",
    "TensorParallelCut": "columns or rows, and what is sent",
    "AnswerShift": "how rewards move answers",
    "TokenizerFigure": "a tokenizer to type into",
    "TrainingWatch": "a training run, step by step",
    "ScoreSpread": "random scores by head width",
    "WhisperRow": "a change whispered along a row",
    "WorkAndBytes": "work against bytes",
}
"""What each interactive figure shows, in a few words."""


def edges_table() -> str:
    """Every edge of the graph, with its reason."""
    lines = ["| chapter | needs | for |", "|---|---|---|"]
    for edge in EDGES:
        helps = "" if edge.strict else " *(helps)*"
        lines.append(f"| {_name(edge.chapter)} | {_name(edge.needs)}{helps} | {edge.why} |")
    return "\n".join(lines)


def route_table(book: Path, route: Route) -> str:
    """A route's chapters, with the minutes of what is taught and of its tasks."""
    lines = [
        "| chapter | reading, whole | taught in class | tasks | of them in these sections |",
        "|---|--:|--:|--:|--:|",
    ]
    for chapter in route.chapters:
        every = STANDARD.tasks(chapter)
        if chapter in OUTSIDE:
            reading = f"{read_page(book, chapter).minutes} min" if chapter == 0 else ""
            lines.append(f"| {_name(chapter)} | {reading} | at home | {_minutes(every)} | |")
            continue
        page = read_page(book, chapter)
        taught = taught_sections(route, page)
        of_these = [task for section in taught for task in section.tasks]
        parts = "all" if len(taught) == len(page.sections) else f"{len(taught)} of {len(page.sections)} sections"
        minutes = sum(section.minutes for section in taught)
        cells = (_name(chapter), f"{page.minutes} min", f"{minutes} min, {parts}", _minutes(every), _minutes(of_these))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def sessions_table(book: Path, route: Route, length: int) -> str:
    """A route's sessions: what is taught, shown, done in class and at home."""
    lines = ["| session | taught | shown | tasks in class | homework |", "|--:|---|---|---|---|"]
    for session in sessions(book, route, length):
        taught = "<br>".join(
            f"**{chapter}** " + ", ".join(link_to(section) for section in group)
            for chapter, group in ((n, list(g)) for n, g in groupby(session.sections, lambda s: s.chapter))
        )
        figures = ", ".join(FIGURE_SAYS[name] for name in session.figures)
        taught += f" ({session.taught_minutes} min)"
        lines.append(
            f"| {session.index} | {taught} | {figures} | {_listed(session.tasks)} | {_listed(session.homework)} |"
        )
    return "\n".join(lines)


def _name(chapter: int) -> str:
    return f"{chapter} {NAMES[chapter]}" if chapter < 90 else NAMES[chapter]


def link_to(section: Section) -> str:
    """Write a section's heading in Markdown, linked where it has a label."""
    return f"[{section.title}](#{section.label})" if section.label else section.title


def _minutes(several: Iterable[Task]) -> str:
    several = list(several)
    return f"{len(several)}, {sum(task.minutes for task in several)} min"


def _listed(several: tuple[Task, ...]) -> str:
    if not several:
        return ""
    return ", ".join(f"`{task.id}`" for task in several) + f" ({sum(task.minutes for task in several)} min)"
