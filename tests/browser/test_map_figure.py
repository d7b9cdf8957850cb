"""The map in chapter 1: its numbers are the model's, its path can be followed, and its lines meet its boxes."""

import re

import pytest
from book_browser import begin_again
from chromium_hands import Hands
from figure_ways import ORACLES
from working import read

from softlookup.model import load_translator
from softlookup_course.widgets.machine_map import compute
from softlookup_course.widgets.machine_parts import PARTS

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/01_motivation.html"
SLUGS = [part.slug for part in PARTS]
WHOLE_WALK = """(figure) => {
  const written = [];
  for (let step = 0; step < 400; step += 1) {
    if (figure.querySelector("[aria-current=step]").dataset.slug === "distribution") {
      written.push(figure.querySelector(".slm-label").innerText);
      if (figure.querySelector(".slm-next").innerText.includes("From the start")) return written;
    }
    figure.querySelector(".slm-next").click();
  }
  return written;
}"""


@pytest.fixture(scope="module")
def translator():
    return load_translator()


@pytest.fixture
def figure(stands):
    yield stands.page.locator(".slm").first
    assert stands.complaints == []


def go(figure, slug, layer=None, forward=0):
    figure.locator(f"[data-slug={slug}]").click()
    if layer is not None:
        figure.get_by_role("button", name=f"Layer {layer + 1}").click()
    for _ in range(forward):
        figure.get_by_role("button", name="next word", exact=True).click()


def test_there_is_a_button_for_each_layer_and_the_map_says_how_many(figure, translator):
    layers = translator.model.config.n_layers
    go(figure, "cross-attention")
    assert figure.locator(".slm-layers button").all_inner_texts() == [str(i) for i in range(1, layers + 1)]
    assert figure.locator(".slm-times").all_inner_texts() == [f"× {layers} layers"] * 2


@pytest.mark.slow
def test_every_stop_of_the_path_and_every_layer_show_the_models_numbers(figure):
    engine = Hands(figure.page)
    for index in range(figure.locator("select option").count()):
        figure.locator("select").select_option(index=index)
        figure.locator(f"[data-slug={SLUGS[0]}]").click()
        while "From the start" not in figure.locator(".slm-next").inner_text():
            figure.locator(".slm-next").click()
            ORACLES["slm"].agrees(read(engine, "slm"))
        for slug in SLUGS:
            go(figure, slug)
            for layer in figure.locator(".slm-layers button:visible").all():
                layer.click()
                ORACLES["slm"].agrees(read(engine, "slm"))


def test_arrow_keys_follow_the_path_and_change_the_word(figure):
    page = figure.page
    figure.locator(f"[data-slug={SLUGS[0]}]").focus()
    for slug in SLUGS[1:]:
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.dataset.slug") == slug
        assert figure.locator("[aria-current=step]").get_attribute("data-slug") == slug
    before = figure.locator(".slm-word").inner_text()
    page.keyboard.press("ArrowDown")
    assert figure.locator(".slm-word").inner_text() != before
    page.keyboard.press("ArrowUp")
    assert figure.locator(".slm-word").inner_text() == before
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.dataset.slug") == SLUGS[0]
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.dataset.slug") == SLUGS[-1]
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.slug") == SLUGS[-2]


@pytest.mark.slow
def test_arrow_keys_work_after_a_button_of_the_panel_was_pressed_and_leave_the_list_alone(figure):
    page = figure.page
    go(figure, SLUGS[0])
    figure.get_by_role("button", name="Next →").click()
    page.keyboard.press("ArrowRight")
    assert figure.locator("[aria-current=step]").get_attribute("data-slug") == SLUGS[2]
    assert page.evaluate("document.activeElement.className") == "slm-next"
    page.keyboard.press("ArrowLeft")
    assert figure.locator("[aria-current=step]").get_attribute("data-slug") == SLUGS[1]
    figure.locator("select").press("ArrowDown")
    assert figure.locator("select").evaluate("list => list.selectedIndex") == 1
    assert figure.locator("[aria-current=step]").get_attribute("data-slug") == SLUGS[1]


def test_only_one_part_is_in_the_tab_order(figure):
    assert figure.locator(".slm-part[tabindex='0']").count() == 1
    go(figure, "memory")
    assert figure.locator(".slm-part[tabindex='0']").get_attribute("data-slug") == "memory"


def test_next_walks_the_path_and_writes_the_whole_sentence(figure, translator):
    expected = compute(translator, figure.locator("select option").first.inner_text())
    assert figure.evaluate(WHOLE_WALK) == expected["target"][1:]
    figure.locator(".slm-next").click()
    assert figure.locator("[aria-current=step]").get_attribute("data-slug") == SLUGS[0]


@pytest.mark.slow
def test_each_part_says_what_it_does_and_where_it_is_taught(figure):
    for place, part in enumerate(PARTS, start=1):
        go(figure, part.slug)
        assert figure.locator(".slm-name").inner_text() == f"{place} of {len(PARTS)}: {part.name} ({part.side})"
        assert figure.locator(".slm-does").inner_text() == part.does
        where = figure.locator(".slm-where")
        assert f"Chapter {part.chapter}, {part.topic}" in where.inner_text()
        assert (where.locator("a").get_attribute("href") if part.link else "") == part.link
        shape = figure.locator(".slm-shape").inner_text()
        assert re.search(r"\((?:B, )?[A-Z]", shape) and not re.search(r"undefined|NaN", shape)
    assert figure.locator(".slm-live").get_attribute("aria-live") == "polite"


@pytest.mark.slow
def test_parameters_on_the_map_sum_to_the_models(figure, translator):
    total = 0
    for part in PARTS:
        go(figure, part.slug)
        match = re.search(r"([\d,]+) parameters", figure.locator(".slm-shape").inner_text())
        total += int(match[1].replace(",", "")) if match else 0
    assert total == sum(p.numel() for p in translator.model.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 700, 1280])
def test_line_from_reader_to_writer_ends_at_cross_attention(stands, width):
    stands.page.set_viewport_size({"width": width, "height": 900})
    begin_again(stands)
    figure = stands.page.locator(".slm").first
    assert figure.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    bridge, cross = (figure.locator(n).bounding_box() for n in (".slm-wire-bridge", "[data-slug=cross-attention]"))
    # A box of a stroked line is a little larger than the line.
    assert abs(bridge["y"] + bridge["height"] - (cross["y"] + cross["height"] / 2)) < 5
    assert cross["x"] - 14 < bridge["x"] + bridge["width"] < cross["x"] + 2


def test_path_leads_upwards_and_each_norm_stands_below_its_sublayer(figure):
    tops = {slug: figure.locator(f"[data-slug={slug}]").bounding_box()["y"] for slug in SLUGS}
    for side in ("encoder", "decoder"):
        side_tops = [tops[part.slug] for part in PARTS if part.side == side]
        assert side_tops == sorted(side_tops, reverse=True)
    assert figure.locator(".slm-wire-stream").count() == 2
    sublayers = [part for part in PARTS if part.block and part.name not in ("Norm", "Residual stream")]
    assert figure.locator(".slm-wire-sum").count() == len(sublayers)
