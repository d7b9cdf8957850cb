"""The batching and the memory explorer in their chapter: whatever is chosen, their numbers are the library's."""

import json

import pytest
from book_browser import axe_findings

from softlookup import roofline as rl
from softlookup_course.widgets import batching_explorer as batching
from softlookup_course.widgets import memory_explorer as memory

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/12_counting.html"
CELLS = """one => Object.fromEntries([...one.querySelectorAll('td[data-cell]')]
  .map((cell) => [cell.dataset.cell, +cell.dataset.value]))"""
PARTS = """one => Object.fromEntries([...one.querySelectorAll('tr[data-part]')]
  .map((row) => [row.dataset.part, +row.dataset.bytes]))"""


@pytest.fixture
def page(stands):
    return stands.page


def choose(figure, name, index):
    figure.locator(f"select[data-ask={name}]").select_option(index=index)


def slide(figure, name, index):
    figure.locator(f"input[data-ask={name}]").evaluate(
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', { bubbles: true })); }", str(index)
    )


def names_of(page, figure_class):
    """The models and machines that a figure was built with, as the page keeps them."""
    states = page.locator("script[type='application/vnd.jupyter.widget-state+json']").first.text_content()
    figures = [s["state"] for s in json.loads(states)["state"].values() if "batches" in s["state"]]
    figure = next(s for s in figures if ("recipes" in s) == (figure_class == "mem"))
    return [m["name"] for m in figure["models"]], [m["name"] for m in figure["machines"]]


def assert_batching_as_computed(figure, model, machine, stage, batch, length):
    expected = batching.describe(model, machine, stage, batch, length)
    shown = figure.evaluate(CELLS)
    for part in ("dense", "attention"):
        for key, value in expected[part].items():
            assert shown[f"{part}-{key}"] == pytest.approx(value, rel=1e-12), (model, stage, part, key)
    data = figure.evaluate("one => ({...one.dataset})")
    for key in ("weight_bytes", "cache_bytes", "flops", "seconds", "tokens_per_s", "ridge"):
        assert float(data[key.replace("_", "")]) == pytest.approx(expected[key], rel=1e-12), key
    assert (data["fits"] == "true") == expected["fits"]


def test_batching_explorer_shows_the_librarys_numbers_for_every_model_and_machine(page):
    figure = page.locator(".bat").first
    models, machines = names_of(page, "bat")
    length = batching.LENGTHS.index(1000)
    for index, model in enumerate(models):
        choose(figure, "model", index)
        choose(figure, "machine", index % len(machines))
        for number, stage in enumerate((batching.WRITING, batching.READING)):
            choose(figure, "stage", number)
            for place in (0, 5, 10):
                slide(figure, "batch", place)
                where = machines[index % len(machines)]
                assert_batching_as_computed(figure, model, where, stage, batching.BATCHES[place], 1000)
    choose(figure, "stage", 0)
    slide(figure, "batch", 3)
    for place in (0, length, len(batching.LENGTHS) - 1):
        slide(figure, "length", place)
        where = machines[(len(models) - 1) % len(machines)]
        assert_batching_as_computed(figure, models[-1], where, batching.WRITING, 8, batching.LENGTHS[place])


def test_batching_explorer_says_in_words_what_moved_and_obeys_the_keyboard(page):
    figure = page.locator(".bat").first
    before = figure.evaluate(CELLS)
    slider = figure.locator("input[data-ask=batch]")
    slider.focus()
    page.keyboard.press("End")
    after = figure.evaluate(CELLS)
    assert after["attention-intensity"] == before["attention-intensity"]
    assert after["dense-intensity"] > 100 * before["dense-intensity"]
    assert "1,024 sequences" in figure.locator(".bat-words").inner_text()
    assert slider.get_attribute("aria-valuetext") == "1,024"
    assert "scores and mixing" in figure.locator("svg").get_attribute("aria-label")


def test_memory_explorer_shows_the_librarys_bytes_while_writing(page):
    figure = page.locator(".mem").first
    models, machines = names_of(page, "mem")
    for index, model in enumerate(models):
        choose(figure, "model", index)
        choose(figure, "machine", index % len(machines))
        memory_bytes = rl.hardware(machines[index % len(machines)]).memory_bytes
        for number, size in enumerate(memory.NUMBER_BYTES.values()):
            choose(figure, "numbers", number)
            slide(figure, "batch", 2)
            slide(figure, "length", 3)
            length = memory.LENGTHS[3]
            expected = {name: value for name, value in memory.describe_writing(model, 4, length, size).items() if value}
            assert figure.evaluate(PARTS) == expected | {"all": sum(expected.values())}
            data = figure.evaluate("one => ({...one.dataset})")
            assert (data["fits"] == "true") == (sum(expected.values()) <= memory_bytes)
            assert int(data["most"]) == memory.largest_batch(model, memory_bytes, length, size)


def test_memory_explorer_shows_the_librarys_bytes_while_learning(page):
    figure = page.locator(".mem").first
    models, _ = names_of(page, "mem")
    choose(figure, "use", 1)
    recipes = figure.locator("select[data-ask=recipe] option").evaluate_all("all => all.map((one) => one.value)")
    assert set(recipes) == set(rl.RECIPES)
    slide(figure, "batch", 1)
    slide(figure, "length", 2)
    for index, model in enumerate(models):
        choose(figure, "model", index)
        recipe = recipes[index % len(recipes)]
        choose(figure, "recipe", index % len(recipes))
        for fused in (False, True):
            figure.locator("input[data-ask=fused]").set_checked(fused)
            for again in (False, True):
                figure.locator("input[data-ask=recompute]").set_checked(again)
                options = {"fused": fused, "recompute": again}
                expected = memory.describe_learning(model, 2, memory.LENGTHS[2], recipe, **options)
                expected = {name: value for name, value in expected.items() if value}
                assert figure.evaluate(PARTS) == expected | {"all": sum(expected.values())}, (model, recipe, options)
    assert figure.locator("select[data-ask=numbers]").is_hidden()


def test_memory_explorer_says_where_a_model_has_no_positions(page):
    figure = page.locator(".mem").first
    models, _ = names_of(page, "mem")
    slide(figure, "length", memory.LENGTHS.index(4096))
    for name, has_end in (("GPT-2 XL", True), ("Llama 2 7B", False)):
        choose(figure, "model", models.index(name))
        assert ("positions for 1,024 tokens only" in figure.locator(".mem-verdict").inner_text()) == has_end


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_explorers_pass_axe(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        assert axe_findings(seen.page, ".bat", ".cav", ".mem") == []


@pytest.mark.slow
def test_explorers_fit_a_phone(html, visit):
    with visit((html / PAGE).as_uri(), width=390, has_touch=True, is_mobile=True) as seen:
        for name in (".bat", ".cav", ".mem"):
            assert seen.page.locator(name).first.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
        choose(seen.page.locator(".mem").first, "use", 1)
        assert seen.page.locator(".mem").first.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
