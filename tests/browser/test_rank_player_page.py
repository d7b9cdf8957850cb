"""The figures of chapter 19 on bare pages: by hand, playing, without motion, small, with a reader's program."""

import numpy as np
import pytest
from bare_page import BarePages
from book_browser import axe_findings
from chromium_hands import Hands
from figure_ways import ORACLES
from ipywidgets.embed import embed_data
from playwright.sync_api import expect
from working import drag_all, press_all, read, strike_all

from softlookup_course.widgets import PipelineChart, RankPlayer, ShardedMemory
from softlookup_course.widgets.played_programs import PROGRAMS

pytestmark = pytest.mark.browser

FIGURES = {"rpl": RankPlayer, "ppl": PipelineChart, "shm": ShardedMemory}
PHONE = {"viewport": {"width": 360, "height": 800}, "has_touch": True, "is_mobile": True}
FLIGHTS = "() => document.getAnimations().length"


@pytest.fixture(scope="module")
def figures():
    return {name: embed_data([figure()], drop_defaults=False) for name, figure in FIGURES.items()}


@pytest.fixture
def show(chromium, tmp_path, figures):
    pages = BarePages(chromium, tmp_path)
    yield lambda name, data=None, **options: pages.show(data or figures[name], f".{name}", **options)
    pages.close()


@pytest.mark.parametrize("name", FIGURES)
def test_figure_obeys_mouse_and_keys_and_shows_the_librarys_numbers(show, name):
    hands = Hands(show(name, hurried=True))
    press_all(hands, name)
    drag_all(hands, name)
    strike_all(Hands(show(name, hurried=True)), name)


@pytest.mark.parametrize("name", FIGURES)
def test_figure_obeys_a_finger_on_a_narrow_phone(show, name):
    page = show(name, hurried=True, **PHONE)
    hands = Hands(page, finger=True)
    press_all(hands, name)
    drag_all(hands, name)
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_is_right_at_its_first_and_last_steps(show, name):
    page = show("rpl", reduced_motion="reduce")
    hands = Hands(page)
    page.locator("select").first.select_option(name)
    for world in ("0", "1", "2"):
        page.locator("input[id$=world]").fill(world)
        last = page.locator("input[id$=step]").get_attribute("max")
        for step in {"0", "1", last}:
            page.locator("input[id$=step]").fill(step)
            ORACLES["rpl"].agrees(read(hands, "rpl"))
        page.locator("input[id$=step]").fill(last)
        assert page.locator(".rpl-on").is_disabled()


@pytest.mark.parametrize("name", ["GPipe", "1F1B"])
def test_every_schedule_is_right_at_its_beginning_middle_and_end(show, name):
    page = show("ppl")
    hands = Hands(page)
    page.locator("select").select_option(name)
    for stages, micro in (("0", "0"), ("1", "3"), ("2", "4")):
        page.locator("input[id$=stages]").fill(stages)
        page.locator("input[id$=micro]").fill(micro)
        last = int(page.locator("input[id$=time]").get_attribute("max"))
        for time in (last, 0, last // 2, last - 1):
            page.locator("input[id$=time]").fill(str(time))
            ORACLES["ppl"].agrees(read(hands, "ppl"))


def test_first_screen_plays_by_itself_and_says_only_the_last_step(show):
    page = show("rpl", clock=True)
    expect(page.locator(".rpl")).to_have_attribute("data-playing", "true")
    expect(page.locator(".rpl-now")).to_have_attribute("aria-live", "off")
    page.clock.run_for(20_000)
    shown = read(Hands(page), "rpl")
    assert int(shown["step"]) == shown["steps"]
    ORACLES["rpl"].agrees(shown)
    expect(page.locator(".rpl-now")).to_have_attribute("aria-live", "polite")
    page.locator(".rpl-play").click()  # begins again
    expect(page.locator(".rpl-play")).to_have_text("Pause")
    page.locator(".rpl-play").click()
    shown = read(Hands(page), "rpl")
    assert int(shown["step"]) < shown["steps"] and shown["play"] == "Play"


def test_reader_who_touches_a_control_stops_the_playing(show):
    page = show("rpl")
    expect(page.locator(".rpl")).to_have_attribute("data-playing", "true")
    page.locator(".rpl-back").click()
    expect(page.locator(".rpl")).not_to_have_attribute("data-playing", "true")
    ORACLES["rpl"].agrees(read(Hands(page), "rpl"))


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_messages_fly_unless_the_reader_wants_no_motion(show, motion):
    page = show("rpl", address="?set=step:2#figure", reduced_motion=motion)
    flights = page.evaluate(f"() => {{ document.querySelector('.rpl-on').click(); return ({FLIGHTS})(); }}")
    assert flights == (4 if motion == "no-preference" else 0)
    shown = read(Hands(page), "rpl")
    assert shown["step"] == "3", "it does not play by itself after a link, nor without motion"
    ORACLES["rpl"].agrees(shown)


def test_pipeline_plays_to_its_end(show):
    page = show("ppl", clock=True)
    page.locator("input[id$=micro]").fill("0")
    page.locator(".ppl-play").click()
    expect(page.locator(".ppl-play")).to_have_text("Pause")
    page.clock.run_for(20_000)
    shown = read(Hands(page), "ppl")
    assert int(shown["time"]) == shown["length"]
    ORACLES["ppl"].agrees(shown)


@pytest.mark.parametrize(
    ("name", "link", "expected"),
    [
        ("rpl", "?set=program:tree,link:1,world:2,size:3,step:2", {"program": "tree", "world": "8", "step": "2"}),
        ("ppl", "?set=schedule:GPipe,stages:2,micro:1,time:9", {"schedule": "GPipe", "stages": "8", "time": "9"}),
        ("shm", "?set=stage:3,world:6", {"stage": "3", "world": "64"}),
    ],
)
def test_link_sets_every_control(show, name, link, expected):
    page = show(name, address=f"{link}#figure")
    shown = read(Hands(page), name)
    assert {key: shown[key] for key in expected} == expected
    ORACLES[name].agrees(shown)
    assert page.evaluate(f"softlookupSettings(document.querySelector('.{name}').parentElement)") == link


def swap(x, dist):
    other, part = 1 - dist.get_rank(), np.empty_like(x)
    sent = dist.isend(x, other)
    dist.recv(part, other)
    sent.wait()
    return x + part


def test_readers_program_has_no_choice_of_programs_and_its_bytes(show):
    figure = RankPlayer.of(swap, [(np.ones(3, np.float32),), (np.zeros(3, np.float32),)])
    page = show("rpl", embed_data([figure], drop_defaults=False), reduced_motion="reduce")
    assert [page.locator(css).is_visible() for css in ("select >> nth=0", "input[id$=world]", "input[id$=size]")] == [
        False
    ] * 3
    expect(page.locator(".rpl-words")).to_contain_text("Program swap, on 2 ranks.")
    expect(page.locator(".rpl-now")).to_have_text("Step 1: 2 messages of 12 bytes each, from rank 0 to 1, 1 to 0.")
    assert page.locator(".rpl-new").count() == 6 and page.locator(".rpl-own").count() == 6


def test_what_a_message_brings_is_not_shown_where_it_cannot_be_told(show):
    figure = RankPlayer.of(lambda x, y, dist: swap(x + y, dist), [(np.ones(3), np.ones(3))] * 2)
    page = show("rpl", embed_data([figure], drop_defaults=False))
    expect(page.locator(".rpl-key")).to_have_text("whose numbers a message brings cannot be told here")
    assert page.locator(".rpl-cell").count() == 0 and page.locator(".rpl-rank").count() == 2


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figure_passes_axe(show, theme, name):
    page = show(name, theme=theme, reduced_motion="reduce")
    assert axe_findings(page, f".{name}") == []
