"""The graph, the routes and their sessions agree with the chapters, the notebooks and each other."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from softlookup_course import widgets
from softlookup_course.curriculum import (
    EDGES,
    LENGTHS,
    NAMES,
    ROUTES,
    PageError,
    Route,
    at_home,
    edges_table,
    needed,
    read_page,
    route_table,
    sessions,
    sessions_table,
    shortest_edges,
)
from softlookup_course.curriculum.graph import PLACES
from softlookup_course.curriculum.pages import chapter_files
from softlookup_course.curriculum.sessions import OUTSIDE, START_MINUTES, taught_minutes, taught_sections
from softlookup_course.curriculum.tables import FIGURE_SAYS
from softlookup_judge.checking.catalogue import CHAPTERS, get_task, tasks

BOOK = Path(__file__).resolve().parents[2] / "book"
LABELS = {
    number: set(re.findall(r"(?m)^\(([a-z0-9-]+)\)=", file.read_text(encoding="utf-8")))
    for number, file in chapter_files(BOOK).items()
}
PAGES = {number: read_page(BOOK, number) for number in (*range(14), 15, 16, 17, 18, 19, 20)}

every_route = pytest.mark.parametrize("route", ROUTES.values(), ids=lambda route: route.name)
every_length = pytest.mark.parametrize("length", LENGTHS)


@pytest.mark.parametrize("chapter", PAGES)
def test_edges_are_what_the_page_says_that_it_needs(chapter: int):
    assert {edge.needs for edge in EDGES if edge.chapter == chapter and edge.strict} == set(_needs(chapter))


def _needs(chapter: int) -> Iterator[int]:
    """The chapters that the sentence *You need* leads to."""
    text = chapter_files(BOOK)[chapter].read_text(encoding="utf-8")
    sentence = re.search(r"\*\*You need\*\*.*|$", text)[0]
    sentence = re.split(r"(?:Other w|W)ords (?:are|can)|Letters of|Where to run", sentence)[0]
    for label, page in re.findall(r"\]\((?:#([^)\s]+)|(\d\d)_[^)\s]*)\)", sentence):
        yield from [int(page)] if page else (number for number, labels in LABELS.items() if label in labels)
    if "the chapter before" in sentence:
        yield chapter - 1


def test_graph_has_every_chapter_once_and_no_circle():
    assert set(NAMES) == set(CHAPTERS) == set(PLACES) and len(set(PLACES.values())) == len(PLACES)
    pairs = [(edge.chapter, edge.needs) for edge in EDGES]
    assert len(set(pairs)) == len(pairs) and {n for pair in pairs for n in pair} <= set(NAMES)
    assert all(chapter not in needed(chapter, strict=False) for chapter in NAMES)
    assert all(edge.why and edge.chapter > edge.needs for edge in EDGES)


def test_short_edges_say_as_much_as_all():
    def reached(edges, chapter):
        direct = {edge.needs for edge in edges if edge.chapter == chapter}
        return direct.union(*(reached(edges, other) for other in direct)) if direct else direct

    for chapter in NAMES:
        assert reached(shortest_edges(), chapter) == reached(EDGES, chapter)
    assert len(shortest_edges()) < len(EDGES)


def test_arrows_lead_downwards():
    for edge in EDGES:
        (x0, y0), (x1, y1) = PLACES[edge.needs], PLACES[edge.chapter]
        assert x0 < x1 or (x0 == x1 and y0 < y1)


def test_needed_names_what_there_is():
    with pytest.raises(KeyError, match="no chapter 21; there are 0, 1"):
        needed(21)
    assert needed(8) == {4, 5, 7} and 3 in needed(8, strict=False)


@pytest.mark.parametrize("chapter", PAGES)
def test_page_gives_every_task_to_one_section(chapter: int):
    page = PAGES[chapter]
    task_ids = [task.id for section in page.sections for task in section.tasks]
    assert sorted(task_ids) == sorted(task.id for task in tasks(chapter))
    labels = [section.label for section in page.sections if section.label]
    assert len(labels) == len(set(labels)) and all(section.minutes >= 1 for section in page.sections)
    assert sum(section.minutes for section in page.sections) <= page.minutes + len(page.sections)


def test_task_of_a_side_page_belongs_to_the_first_section_that_links_there():
    homes = {task.id: section.label for section in PAGES[15].sections for task in section.tasks}
    assert get_task("15.indexer").page != PAGES[15].name
    assert (homes["15.quantise"], homes["15.indexer"]) == ("what-changed-memory", "what-changed-computation")
    assert homes["15.muon"] == "what-changed-training"


def test_every_interactive_figure_is_found_on_a_page_and_has_its_words():
    classes = {
        name for name in widgets.__all__ if issubclass(getattr(widgets, name), widgets.interactive.InteractiveFigure)
    }
    figure_names = [name for page in PAGES.values() for section in page.sections for name in section.figures]
    first_page_alone = {"BenchmarkLuck", "SlideDetective"}  # no session shows them
    side_pages_alone = {"ConfigReader", "ModelDots"}
    assert set(figure_names) == classes - first_page_alone - side_pages_alone == set(FIGURE_SAYS)


@every_route
def test_route_respects_the_graph(route: Route):
    for place, chapter in enumerate(route.chapters):
        assert needed(chapter) <= set(route.chapters[:place]), chapter
    assert len(set(route.chapters)) == len(route.chapters)


@every_route
def test_route_names_sections_that_exist(route: Route):
    for chapter in {*route.only, *route.without}:
        assert chapter in route.chapters and taught_sections(route, PAGES[chapter])
    assert not set(route.only) & set(route.without)


def test_section_that_does_not_exist_is_refused():
    route = Route("odd", "Odd", "For nobody.", (4,), only={4: ("one-head-scale", "no-such")})
    with pytest.raises(KeyError, match="route odd: 04_one_head has no section no-such"):
        sessions(BOOK, route, 50)


@every_route
@every_length
def test_sessions_never_exceed_their_length(route: Route, length: int):
    cut = sessions(BOOK, route, length)
    for session in cut:
        tasks_minutes = sum(task.minutes for task in session.tasks)
        assert START_MINUTES + sum(map(taught_minutes, session.sections)) + tasks_minutes == session.minutes <= length
        assert session.sections and len(cut) >= 5
        assert session.minutes >= 0.6 * length or session is cut[-1], "a session that is nearly empty"


@every_route
@every_length
def test_sessions_hold_every_told_section_and_its_tasks_once_and_in_order(route: Route, length: int):
    cut = sessions(BOOK, route, length)
    taught = [section for session in cut for section in session.sections]
    expected = [section for n in route.chapters if n not in OUTSIDE for section in taught_sections(route, PAGES[n])]
    assert taught == expected
    for session in cut:
        task_ids = [task.id for section in session.sections for task in section.tasks]
        assert sorted(task_ids) == sorted(task.id for task in (*session.tasks, *session.homework))
    planned_ids = {task.id for session in cut for task in (*session.tasks, *session.homework)}
    every = {task.id for n in route.chapters if n not in OUTSIDE for task in tasks(n)}
    assert planned_ids | {task.id for task in at_home(BOOK, route)} == every


def test_longer_sessions_are_fewer():
    assert all(len(sessions(BOOK, route, 75)) < len(sessions(BOOK, route, 50)) for route in ROUTES.values())


def test_section_that_fits_no_session_is_refused():
    with pytest.raises(ValueError, match="minutes, and a session of 10 minutes teaches 6 at most"):
        sessions(BOOK, ROUTES["systems"], 10)


@every_route
@every_length
def test_tables_have_a_row_for_each(route: Route, length: int):
    rows = sessions_table(BOOK, route, length).splitlines()
    assert len(rows) == 2 + len(sessions(BOOK, route, length)) and all(row.count(" | ") == 4 for row in rows[2:])
    assert len(route_table(BOOK, route).splitlines()) == 2 + len(route.chapters)
    assert len(edges_table().splitlines()) == 2 + len(EDGES)


def test_page_without_a_reading_time_is_refused(tmp_path: Path):
    (tmp_path / "04_one_head.md").write_text("# One head\n\nNo time.\n")
    with pytest.raises(PageError, match="04_one_head.md does not say"):
        read_page(tmp_path, 4)
    with pytest.raises(PageError, match="no page of chapter 5"):
        read_page(tmp_path, 5)


def test_figure_on_the_first_screen_belongs_to_the_first_section(tmp_path: Path):
    (tmp_path / "04_one_head.md").write_text(
        "# One head\n\n**Reading time** about 9 minutes.\n\n```python\n"
        "from softlookup_course.widgets import MachineMap, Store\nMachineMap(translator, [Store()])\n```\n\n"
        "## First\n\nwords\n\n## Second\n\nwords\n"
    )
    assert [section.figures for section in read_page(tmp_path, 4).sections] == [("MachineMap",), ()]


def test_page_is_read_as_it_stands(tmp_path: Path):
    (tmp_path / "04_one_head.md").write_text(
        "---\ntitle: x\n---\n# One head\n\n**Reading time** about 30 minutes.\n\n(one-head-scale)=\n"
        "## First\n\n"
        "````{note}\n```python\n# no heading\n```\n## nor this\n````\n\n(one-head-inner)=\n### Inner\n\nwords words\n\n"
        "## Summary\n\nall\n"
    )
    page = read_page(tmp_path, 4)
    assert [section.title for section in page.sections] == ["First"] and page.sections[0].label == "one-head-scale"
    assert page.minutes == 30
