"""Three figures of chapter 10: every step of the beam search and of the cache, and a hundred draws."""

import pytest
from chromium_hands import Hands
from figure_ways import ORACLES
from oracles import widget_state
from working import read

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/10_inference.html"


@pytest.fixture
def page(stands):
    yield stands.page
    assert stands.complaints == []


def set_slider(figure, name, value):
    figure.locator(f"input[data-slider={name}]").evaluate(
        "(box, value) => { box.value = value; box.dispatchEvent(new Event('input', {bubbles: true})); }", value
    )


def test_a_hundred_draws_are_counted_and_forgotten_when_the_temperature_moves(page):
    figure = page.locator(".smp").first
    figure.get_by_role("button", name="draw 100").click()
    count = "all => all.reduce((sum, one) => sum + Number(one.lastChild.textContent || 0), 0)"
    assert figure.locator("tbody tr").evaluate_all(count) == 100
    set_slider(figure, "tau", 0.5)
    assert figure.locator("tbody tr").evaluate_all(count) == 0


@pytest.mark.slow
def test_beam_tree_walks_through_every_step_and_ranks_as_the_library_does(page):
    state, figure, engine = widget_state(PAGE, "searches"), page.locator(".bmt").first, Hands(page)
    back, onward = figure.get_by_role("button", name="back"), figure.get_by_role("button", name="next step")
    for search in state["searches"]:
        figure.locator(f"button[data-beams='{search['beams']}']").click()
        for alpha, stop in zip(state["alphas"], search["stops"], strict=True):
            figure.get_by_label("length penalty").select_option(str(alpha).removesuffix(".0"))
            while back.is_enabled():
                back.click()
            for _ in range(stop - 1):
                ORACLES["bmt"].agrees(read(engine, "bmt"))
                onward.click()
            ORACLES["bmt"].agrees(read(engine, "bmt"))
            assert onward.is_disabled()
            still = any(beam["kept"] and not beam["ended"] for beam in search["steps"][stop - 1])
            assert ("None can win any more" in figure.locator(".bmt-words").inner_text()) is still


@pytest.mark.slow
def test_cache_growth_counts_as_the_library_does(page):
    figure, engine = page.locator(".kvc").first, Hands(page)
    for cached in ("true", "false"):
        figure.locator(f"button[data-cached={cached}]").click()
        while figure.get_by_role("button", name="back").is_enabled():
            figure.get_by_role("button", name="back").click()
        while figure.get_by_role("button", name="next pass").is_enabled():
            figure.get_by_role("button", name="next pass").click()
            ORACLES["kvc"].agrees(read(engine, "kvc"))
