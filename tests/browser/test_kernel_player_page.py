"""The figure that plays a kernel, on a bare page: playing, without motion, with a reader's kernel."""

import numpy as np
import pytest
from bare_page import BarePages
from chromium_hands import Hands
from figure_ways import ORACLES
from ipywidgets.embed import embed_data
from playwright.sync_api import expect
from working import read

from softlookup.tiles import jit, tl
from softlookup_course.widgets import KernelPlayer

pytestmark = pytest.mark.browser

FLIGHTS = "() => document.getAnimations().length"


@jit
def doubled(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@pytest.fixture(scope="module")
def figure_of_the_chapter():
    return embed_data([KernelPlayer()], drop_defaults=False)


@pytest.fixture
def show(chromium, tmp_path, figure_of_the_chapter):
    pages = BarePages(chromium, tmp_path)
    yield lambda data=None, **options: pages.show(data or figure_of_the_chapter, ".kpl", **options)
    pages.close()


def test_playing_ends_with_the_launch_and_says_only_the_last_step(show):
    page = show(clock=True)
    page.locator("input[id$=tile]").fill("3")
    page.locator("input[id$=step]").fill("0")
    page.locator(".kpl-play").click()
    expect(page.locator(".kpl-now")).to_have_attribute("aria-live", "off")
    expect(page.locator(".kpl-play")).to_have_text("Pause")
    page.clock.run_for(20_000)
    shown = read(Hands(page), "kpl")
    assert shown["step"] == shown["steps"]
    ORACLES["kpl"].agrees(shown)
    expect(page.locator(".kpl-now")).to_have_attribute("aria-live", "polite")
    page.locator(".kpl-play").click()  # begins again
    expect(page.locator(".kpl-play")).to_have_text("Pause")
    page.locator(".kpl-play").click()
    shown = read(Hands(page), "kpl")
    assert shown["step"] < shown["steps"] and shown["play"] == "Play"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_tiles_fly_unless_the_reader_wants_no_motion(show, motion):
    page = show(reduced_motion=motion)
    flights = page.evaluate(f"() => {{ document.querySelector('.kpl-on').click(); return ({FLIGHTS})(); }}")
    assert flights == (1 if motion == "no-preference" else 0)
    ORACLES["kpl"].agrees(read(Hands(page), "kpl"))


def test_readers_kernel_has_no_choice_of_kernels_and_its_text(show):
    x = np.arange(100, dtype=np.float32)
    figure = KernelPlayer.of(doubled, (4,), x, np.zeros_like(x), 100, BLOCK=32)
    page = show(embed_data([figure], drop_defaults=False))
    assert not page.locator("select").is_visible() and not page.locator("input[id$=tile]").is_visible()
    expect(page.locator(".kpl-words")).to_contain_text("Kernel doubled. It reads 400 bytes, 1.00 times the least (400)")
    page.locator("input[id$=step]").fill("12")
    expect(page.locator(".kpl-now")).to_have_text("Program 3 of 0–3 writes 16 bytes to y.")
    page.locator("summary").click()
    expect(page.locator(".kpl-text")).to_contain_text("tl.store(y + at, 2 * tl.load(x + at, mask=at < n)")
