"""The first page: a translator to try, a figure with the library's numbers, and a verdict that is a real one."""

import numpy as np
import pytest
from book_browser import axe_findings

from softlookup import reference
from softlookup.widgets.first_lookup import TAUS

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/index.html"
K = np.array([(1, 1), (0.5, 2), (3, -0.9)])
QUERIES = {"lemon": (3, -0.9), "orange": (2, 1), "pear": (0.6, 1.6), "lime": (2.5, -1)}
SHOWN = """root => ({
  asked: root.dataset.asked, tau: +root.dataset.tau,
  numbers: [...root.querySelectorAll('.fst-number')].map((one) => +one.textContent),
  bars: [...root.querySelectorAll('.fst-bar')].map((one) => parseFloat(one.style.inlineSize)),
})"""


@pytest.fixture
def figure(stands):
    yield stands.page.locator(".fst")
    assert stands.complaints == []


def test_every_word_and_temperature_shows_the_librarys_weights(figure):
    for name, query in QUERIES.items():
        figure.get_by_role("button", name=name).click()
        for place, tau in enumerate(TAUS):
            figure.locator("input[type=range]").fill(str(place))
            seen = figure.evaluate(SHOWN)
            assert (seen["asked"], seen["tau"]) == (name, tau)
            expected = reference.soft_lookup(np.array([query]), K, np.eye(3), tau)[0]
            np.testing.assert_allclose(seen["bars"], 100 * expected, atol=1e-3)
            np.testing.assert_allclose(seen["numbers"], expected, atol=0.005 + 1e-9)


def test_figure_begins_with_a_word_that_the_dictionary_has_not(figure):
    assert figure.evaluate(SHOWN)["numbers"] == [0.1, 0.1, 0.8]
    assert "no orange: KeyError" in figure.locator(".fst-hard").inner_text()
    assert "0.80 citron + 0.10 pomme + 0.10 banane" in figure.locator(".fst-soft").inner_text()
    figure.get_by_role("button", name="lemon").click()
    assert figure.locator(".fst-hard").inner_text() == "A dictionary has lemon: citron."


def test_figure_is_worked_from_the_keyboard(figure):
    slider = figure.locator("input[type=range]")
    slider.press("Home")
    assert figure.evaluate(SHOWN)["tau"] == 0
    assert "hard lookup" in slider.get_attribute("aria-valuetext")
    slider.press("ArrowRight")
    assert figure.evaluate(SHOWN)["tau"] == TAUS[1]
    figure.get_by_role("button", name="pear").press("Enter")
    assert figure.get_by_role("button", name="pear").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figure_passes_axe_at_both_ends(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme, width=390) as seen:
        for place in (0, len(TAUS) - 1):
            seen.page.locator(".fst input[type=range]").fill(str(place))
            assert axe_findings(seen.page, ".fst") == []


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_translator_and_both_buttons_stand_on_the_first_screen(html, visit, width, height):
    with visit((html / PAGE).as_uri(), width=width) as seen:
        for place in (
            ".hero .sd-btn >> nth=0",
            ".hero .sd-btn >> nth=1",
            ".lvm textarea",
            ".lvm button >> text=Translate",
        ):
            box = seen.page.locator(place).bounding_box()
            assert box["y"] + box["height"] < height, place


def test_translator_answers_a_readers_own_sentence(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        assert not [url for url in seen.requests if "weights.js" in url], "loaded when somebody asks"
        seen.page.locator(".lvm textarea").fill("A dog runs on the grass.")
        seen.page.get_by_role("button", name="Translate").click()
        seen.page.wait_for_function("() => document.querySelector('.lvm').innerText.includes('Un chien court')")
        assert seen.complaints == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_first_screen_passes_axe_with_a_translation(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme, width=390) as seen:
        seen.page.get_by_role("button", name="Translate").click()
        seen.page.wait_for_function("() => document.querySelector('.lvm').innerText.includes('French')")
        assert axe_findings(seen.page, ".hero") == []


def test_doors_lead_to_the_reader_the_student_and_the_lecturer(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        buttons = seen.page.locator(".hero a.sd-btn").evaluate_all("all => all.map((one) => one.href)")
        assert [link.rpartition("/")[2] for link in buttons] == [
            "01_motivation.html",
            "02_soft_lookup.html#exercise-02-weights",
        ]
        teacher = seen.page.get_by_role("link", name="Grade a class").get_attribute("href")
        assert teacher == "#start-instructor"


def test_verdict_is_a_real_one_and_leads_to_its_section(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        panel = seen.page.locator(".sl-check")
        assert "transposed" in panel.inner_text() and "0 of 2 points" in panel.inner_text()
        with seen.page.context.expect_page() as coming:
            panel.get_by_role("link").first.click()
        coming.value.wait_for_url("**/book/04_one_head.html#one-head-mix")


def test_page_without_scripts_shows_the_figures_numbers(html, visit):
    with visit((html / PAGE).as_uri(), java_script_enabled=False) as seen:
        assert "0.80 citron + 0.10 pomme + 0.10 banane" in seen.page.locator(".widget-fallback").inner_text()


def test_page_loads_no_formulas_and_no_other_heavy_script(html, visit):
    with visit((html / PAGE).as_uri()) as seen:
        assert not [url for url in seen.requests if "mathjax" in url.lower()]
