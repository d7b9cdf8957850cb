"""The figures of chapter 19 on bare pages: playing, without motion, with a reader's program."""

import numpy as np
import pytest
from bare_page import BarePages
from chromium_hands import Hands
from figure_ways import ORACLES
from ipywidgets.embed import embed_data
from playwright.sync_api import expect
from working import read

from softlookup_course.widgets import PipelineChart, RankPlayer, ShardedMemory

pytestmark = pytest.mark.browser

FIGURES = {"rpl": RankPlayer, "ppl": PipelineChart, "shm": ShardedMemory}
FLIGHTS = "() => document.getAnimations().length"


@pytest.fixture(scope="module")
def figures():
    return {name: embed_data([figure()], drop_defaults=False) for name, figure in FIGURES.items()}


@pytest.fixture
def show(chromium, tmp_path, figures):
    pages = BarePages(chromium, tmp_path)
    yield lambda name, data=None, **options: pages.show(data or figures[name], f".{name}", **options)
    pages.close()


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
