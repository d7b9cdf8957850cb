"""The learning-rate explorer in its chapter: whatever is chosen, its numbers are the library's and the record's."""

import json
from pathlib import Path

import pytest
from book_browser import axe_findings

from softlookup_course.widgets.rate_explorer import curves, describe

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/09_training.html"
RECORD = json.loads((Path(__file__).resolve().parents[2] / "book/measured/schedules.json").read_text(encoding="utf-8"))


@pytest.fixture
def explorer(stands):
    return stands.page.locator(".lrx").first


def rate_and_peak(explorer):
    shown = explorer.locator(".lrx-words").evaluate("one => ({...one.dataset})")
    return float(shown["rate"]), float(shown["peak"])


def test_every_schedule_shows_the_librarys_rate(explorer):
    width, warmup, step = explorer.locator("select").first, explorer.locator("select").last, explorer.locator("input")
    for d, w, at in ((512, 4000, 4000), (64, 250, 1), (4096, 16000, 19_999), (1024, 8000, 123)):
        width.select_option(str(d))
        warmup.select_option(str(w))
        step.evaluate("(one, at) => { one.value = at; one.dispatchEvent(new Event('input')); }", at)
        expected = describe(d, w, at)
        assert rate_and_peak(explorer) == pytest.approx((expected["rate"], expected["peak"]), rel=1e-12)


def test_explorer_opens_where_a_warmup_helps_most(explorer):
    assert explorer.locator("button[aria-pressed=true]").inner_text() == f"{RECORD['best_peak']:g}"


def test_every_peak_shows_the_measured_losses(explorer):
    for peak in RECORD["peaks"]:
        explorer.locator(f"button[data-peak='{peak!r}'], button[data-peak='{peak:g}']").first.click()
        for run in (run for run in curves(RECORD) if run["peak"] == peak):
            shown = explorer.locator(f".lrx-told strong[data-warmup='{run['warmup']}']")
            assert shown.inner_text() == ("no number" if run["loss"] is None else f"{run['loss']:.2f}")
        assert explorer.locator("button[aria-pressed=true]").count() == 1


def test_explorer_obeys_the_keyboard_and_says_its_numbers(explorer):
    page = explorer.page
    explorer.locator("input").focus()
    before = rate_and_peak(explorer)[0]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert rate_and_peak(explorer)[0] != before
    assert "highest at step" in explorer.locator("svg").first.get_attribute("aria-label")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_explorer_passes_axe(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        seen.page.locator(".lrx button").first.click()
        assert axe_findings(seen.page, ".lrx") == []


@pytest.mark.slow
def test_explorer_fits_a_narrow_phone(html, visit):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        explorer = seen.page.locator(".lrx").first
        explorer.locator("button").last.tap()
        assert explorer.locator("button[aria-pressed=true]").inner_text() == f"{RECORD['peaks'][-1]:g}"
        assert explorer.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
