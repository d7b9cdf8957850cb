"""The figure that changes one model, on its page: changes that exclude each other, and its bars."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/15_what_changed.html"


@pytest.fixture
def page(stands):
    return stands.page


def choose(figure, changes, index):
    figure.locator(".csw-reset").click()
    for change in changes:
        figure.locator(f"button[data-change={change}]").click()
    figure.locator("input[data-ask=length]").evaluate(
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', { bubbles: true })); }", str(index)
    )


def test_latent_and_shared_heads_release_each_other_and_bars_shrink(page):
    figure = page.locator(".csw")
    figure.wait_for()
    widths = "all => all.map((one) => parseFloat(one.style.width))"
    choose(figure, ["heads", "windows"], 7)
    shared = figure.locator(".csw-text").evaluate_all(widths)
    figure.locator("button[data-change=latent]").click()
    assert figure.get_attribute("data-changes") == "windows,latent"
    latent = figure.locator(".csw-text").evaluate_all(widths)
    assert latent[0] < shared[0] and latent[1] < shared[1] and latent[2] > shared[2]
    choose(figure, [], 7)
    assert "does not fit on the card" in figure.locator(".csw-words").text_content()
