"""What interactive figures say and do in their chapters beside their numbers, which `test_figures_by_hand` looks at."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from book_browser import HTML, ROOT
from chromium_hands import Hands
from oracles import widget_state
from playwright.sync_api import Locator
from working import ORACLES, read, root

from softlookup_course.widgets import Look, memory_explorer
from softlookup_course.widgets.mask_builder import preset

pytestmark = [pytest.mark.browser, pytest.mark.book]


@pytest.fixture
def opened(visit: Callable) -> Iterator[Callable[..., Locator]]:
    """Give what opens a figure's page, or another that has the figure, and finds it there; nobody may complain."""
    with ExitStack() as pages:
        visits = []

        def open_figure(name: str, page: str = "") -> Locator:
            visits.append(pages.enter_context(visit((HTML / (page or ORACLES[name].page)).as_uri())))
            return visits[-1].page.locator(root(name)).first

        yield open_figure
        assert [complaint for seen in visits for complaint in seen.complaints] == []


def move(slider: Locator, value: float) -> None:
    slider.evaluate(
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', { bubbles: true })); }", value
    )


def computed(figure: Locator, name: str) -> dict:
    """What is shown, which the library gives at that setting."""
    state = read(Hands(figure.page), name)
    ORACLES[name].agrees(state)
    return state


def words(figure: Locator, name: str) -> str:
    return figure.locator(f".{name}-words").inner_text()


def test_config_reader_names_what_windows_save_and_its_slider_works_by_keys(opened):
    figure = opened("cfg", "book/15_what_changed_more.html")
    assert "Gemma 3 1B has 1 billion parameters" in words(figure, "cfg")
    assert "times less than full heads without windows" in words(figure, "cfg")
    before = figure.get_attribute("data-length")
    figure.locator("input[data-ask=length]").press("ArrowRight")
    assert int(figure.get_attribute("data-length")) == 2 * int(before)
    figure.locator("select[data-ask=model]").select_option("DeepSeek-V3")
    assert "of which a token meets 37.6 billion" in words(figure, "cfg")


def test_latent_and_shared_heads_release_each_other_and_bars_shrink(opened):
    figure = opened("csw")
    widths = "all => all.map((one) => parseFloat(one.style.width))"
    for change in ("heads", "windows"):
        figure.locator(f"button[data-change={change}]").click()
    move(figure.locator("input[data-ask=length]"), 7)
    shared = figure.locator(".csw-text").evaluate_all(widths)
    figure.locator("button[data-change=latent]").click()
    assert figure.get_attribute("data-changes") == "windows,latent"
    latent = figure.locator(".csw-text").evaluate_all(widths)
    assert latent[0] < shared[0] and latent[1] < shared[1] and latent[2] > shared[2]
    figure.locator(".csw-reset").click()
    move(figure.locator("input[data-ask=length]"), 7)
    assert "does not fit on the card" in words(figure, "csw")


def test_switches_of_the_chapter_are_what_it_has_explained_and_show_memory_alone(opened):
    figure = opened("csw", "book/15_what_changed.html")
    offered = figure.locator("[data-change]").evaluate_all("all => all.map((one) => one.dataset.change)")
    assert offered == ["", "heads", "latent", "windows"] and figure.locator(".csw-row").count() == 1
    figure.locator("button[data-change=latent]").click()
    assert "fits on the card. The cache alone takes 4.8 GB." in words(figure, "csw")


def test_marks_of_the_layer_lead_to_sections_of_the_book(opened):
    figure = opened("lyc")
    for button in figure.locator("button[data-model]").all():
        button.click()
        links = figure.locator(".lyc-mark").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
        for page, _, label in (link.partition("#") for link in links):
            assert f'id="{label}"' in (HTML / "book" / page).read_text(encoding="utf-8")
    figure.locator(".lyc-mark", has_text="experts").click()
    assert figure.page.url.endswith("#what-changed-experts")


def test_dot_names_itself_and_a_second_press_opens_its_row(opened):
    figure = opened("mdt")
    row = figure.page.locator("#model-deepseek_v4")
    assert row.locator("button").get_attribute("aria-expanded") == "false"
    figure.locator(".mdt-point[data-type=deepseek_v4]").hover()
    assert words(figure, "mdt").startswith("DeepSeek-V4-Flash")
    figure.locator(".mdt-point[data-type=deepseek_v4]").click()
    assert row.locator("button").get_attribute("aria-expanded") == "true" and row.is_visible()
    figure.locator("select").select_option("llama")
    figure.locator(".mdt-point[tabindex='0']").press("Enter")
    assert figure.page.locator("#model-llama button").get_attribute("aria-expanded") == "true"
    assert figure.page.url.endswith("#model-llama")


def test_batching_explorer_says_in_words_what_moved_and_obeys_the_keyboard(opened):
    figure = opened("bat")
    cells = "all => Object.fromEntries(all.map((cell) => [cell.dataset.cell, +cell.dataset.value]))"
    before = figure.locator("td[data-cell]").evaluate_all(cells)
    slider = figure.locator("input[data-ask=batch]")
    slider.press("End")
    after = figure.locator("td[data-cell]").evaluate_all(cells)
    assert after["attention-intensity"] == before["attention-intensity"]
    assert after["dense-intensity"] > 100 * before["dense-intensity"]
    assert "1,024 sequences" in words(figure, "bat") and slider.get_attribute("aria-valuetext") == "1,024"
    assert "scores and mixing" in figure.locator("svg").get_attribute("aria-label")


def test_memory_explorer_says_where_a_model_has_no_positions(opened):
    figure = opened("mem")
    move(figure.locator("input[data-ask=length]"), memory_explorer.LENGTHS.index(4096))
    for name, has_end in (("GPT-2 XL", True), ("Llama 2 7B", False)):
        figure.locator("select[data-ask=model]").select_option(label=name)
        assert ("positions for 1,024 tokens only" in figure.locator(".mem-verdict").inner_text()) == has_end


def test_encoder_stepper_keeps_the_box_and_moves_the_norms_where_the_order_changes(opened):
    figure = opened("ens")
    boxes = "all => all.map((one) => one.dataset.box)"
    norm = figure.locator(".ens-box[data-box=n2]")
    norm.click()
    before = figure.locator(".ens-box").evaluate_all(boxes)
    assert "ens-road" in norm.get_attribute("class")
    figure.locator("input[type=radio]").nth(1).check()
    after = figure.locator(".ens-box").evaluate_all(boxes)
    assert figure.locator(".ens-box[aria-selected=true]").get_attribute("data-box") == "n2"
    assert sorted(after) == sorted(before) and after != before
    assert "ens-branch" in norm.get_attribute("class") and "on the branch" in figure.locator(".ens-name").inner_text()


def test_encoder_stepper_says_how_a_number_came_about(opened):
    figure = opened("ens")
    for box, place, ends, sign in (("s1", 5, "= {}", "+"), ("n1", 2, "= {};", "√(")):
        figure.locator(f".ens-box[data-box={box}]").click()
        cell = figure.locator(f"td[data-grid={box}]").nth(place)
        cell.click()
        assert ends.format(cell.inner_text()) in words(figure, "ens") and sign in words(figure, "ens")
    assert figure.locator("td.ens-marked").count() >= 5  # the four numbers of the row, and the one asked for


def test_patch_tells_its_ink_and_its_number_and_is_marked_in_both_tables(opened):
    figure = opened("pat")
    picture = widget_state(ORACLES["pat"].page, "pictures")["pictures"][0]
    figure.locator("td[data-grid=picture][data-row='1'][data-column='2']").click()
    ink = " ".join(map(str, picture["patches"][6]))
    assert words(figure, "pat").startswith("Patch 6 ") and f"ink {ink}" in words(figure, "pat")
    assert figure.locator("td.pat-marked").count() == 2


@pytest.mark.parametrize(("mode", "name"), [("sinusoids", "dot"), ("rotary", "score")])
def test_moving_both_positions_on_leaves_the_product_and_says_so(opened, mode, name):
    figure = opened("pse")
    number = "one => [+one.dataset.value, one.textContent]"
    figure.get_by_label(mode).check()
    for slider, place in (("query", 20), ("key", 23)):
        move(figure.locator(f"input[data-slider={slider}]"), place)
    before = figure.locator(f"td[data-number={name}]").evaluate(number)
    figure.get_by_label("move both by 10").click()
    after = figure.locator(f"td[data-number={name}]").evaluate(number)
    assert after[0] == pytest.approx(before[0], abs=1e-9) and after[1] == before[1]
    assert words(figure, "pse").startswith("Both moved by 10")
    assert "30" in words(figure, "pse") and "33" in words(figure, "pse")


def test_both_positions_stay_where_one_would_leave_the_scale(opened):
    figure = opened("pse")
    for slider, place in (("query", 35), ("key", 3)):
        move(figure.locator(f"input[data-slider={slider}]"), place)
    figure.get_by_label("move both by 10").click()
    assert words(figure, "pse").startswith("Both cannot move by 10")
    assert figure.locator("input[data-slider=query]").input_value() == "35"


def test_rate_explorer_opens_where_a_warmup_helps_most(opened):
    record = json.loads(Path(ROOT, "book", "measured", "schedules.json").read_text(encoding="utf-8"))
    assert opened("lrx").locator("button[aria-pressed=true]").inner_text() == f"{record['best_peak']:g}"


def test_pressed_operation_says_its_counts_and_pressing_again_gives_what_lies_below(opened):
    figure, seen = opened("rfl"), []
    for _ in range(3):
        figure.locator("circle[data-name='norm 2']").click(force=True)
        seen.append(words(figure, "rfl"))
        assert "3 operations lie at this point" in seen[-1] and "Memory-bound" in seen[-1]
    softmax = next(text for text in seen if text.startswith("softmax: "))
    assert "reads scores (1, 32, 1024, 1024)" in softmax
    assert {text.split(":")[0] for text in seen} == {"softmax", "norm 1", "norm 2"}
    figure.locator("summary").click()
    figure.get_by_role("button", name="down").click()
    assert words(figure, "rfl").startswith("down: ")
    assert figure.locator("tr.rfl-chosen").get_attribute("data-name") == "down"


def test_roofline_explorer_opens_with_nothing_chosen_and_writes_rates_as_data_sheets_do(opened):
    figure = opened("rfl")
    assert words(figure, "rfl").startswith("Each point is one operation")
    assert figure.locator("circle.rfl-chosen").count() == 0
    ticks = figure.locator("svg.rfl-plot text").all_text_contents()
    assert "1000 TFLOP/s" in ticks and not any(tick.endswith(" P") for tick in ticks)


def test_hundred_draws_are_counted_and_forgotten_when_the_temperature_moves(opened):
    figure = opened("smp")
    count = "all => all.reduce((sum, one) => sum + Number(one.lastChild.textContent || 0), 0)"
    figure.get_by_role("button", name="draw 100").click()
    assert figure.locator("tbody tr").evaluate_all(count) == 100
    move(figure.locator("input[data-slider=tau]"), 0.5)
    assert figure.locator("tbody tr").evaluate_all(count) == 0


def test_figures_of_one_class_have_ids_of_their_own_and_move_alone(opened):
    page = opened("trw").page
    sliders = page.locator(".trw input[type=range]")
    assert len({*sliders.evaluate_all("all => all.map((one) => one.id)")}) == sliders.count() == 4
    page.locator(".trw-end").nth(2).click()
    assert page.locator(".trw").evaluate_all("all => all.map((one) => one.dataset.at)") == ["0", "0", "8", "0"]


@pytest.mark.slow
def test_beam_tree_walks_through_every_step_and_ranks_as_the_library_does(opened):
    figure, state = opened("bmt"), widget_state(ORACLES["bmt"].page, "searches")
    back, onward = figure.get_by_role("button", name="back"), figure.get_by_role("button", name="next step")
    for search in state["searches"]:
        figure.locator(f"button[data-beams='{search['beams']}']").click()
        for alpha, stop in zip(state["alphas"], search["stops"], strict=True):
            figure.get_by_label("length penalty").select_option(str(alpha).removesuffix(".0"))
            while back.is_enabled():
                back.click()
            for _ in range(stop - 1):
                computed(figure, "bmt")
                onward.click()
            computed(figure, "bmt")
            assert onward.is_disabled()
            still = any(beam["kept"] and not beam["ended"] for beam in search["steps"][stop - 1])
            assert ("None can win any more" in words(figure, "bmt")) is still


@pytest.mark.slow
def test_cache_growth_counts_as_the_library_does(opened):
    figure = opened("kvc")
    for cached in ("true", "false"):
        figure.locator(f"button[data-cached={cached}]").click()
        for name, shown in (("back", False), ("next pass", True)):
            while figure.get_by_role("button", name=name).is_enabled():
                figure.get_by_role("button", name=name).click()
                if shown:
                    computed(figure, "kvc")


def mask_cell(figure: Locator, t: int, s: int) -> Locator:
    return figure.locator(f"td[data-grid=mask][data-row='{t}'][data-column='{s}']")


def test_clicked_cells_change_weights_and_outputs_and_say_so(opened):
    figure = opened("msk")
    mask_cell(figure, 1, 3).click()
    state = computed(figure, "msk")
    assert state["mask"][1][3] and state["future"] == 1 and "may attend to" in state["words"]
    for s in range(3):
        if computed(figure, "msk")["mask"][2][s]:
            mask_cell(figure, 2, s).click()
    state = computed(figure, "msk")
    assert state["blind"] == [2] and "fully masked" in state["words"]
    assert "Fully masked" in figure.locator(".msk-warnings").inner_text()
    assert figure.locator("button[aria-pressed=true]").count() == 0


def test_dragging_paints_a_row_of_cells(opened):
    figure = opened("msk")
    mouse = figure.page.mouse
    figure.locator("button[data-mask=causal]").click()
    mask_cell(figure, 1, 3).scroll_into_view_if_needed()
    first, *others = (mask_cell(figure, 1, s).bounding_box() for s in (2, 3, 4))
    mouse.move(first["x"] + 5, first["y"] + 5)
    mouse.down()
    for box in others:
        mouse.move(box["x"] + 5, box["y"] + 5, steps=3)
    mouse.up()
    mouse.move(first["x"] + 5, first["y"] + 60)
    state = computed(figure, "msk")
    assert state["mask"][1][2:5] == [True] * 3 and not any(state["mask"][2][3:])


def test_other_conventions_write_the_same_mask_in_other_words(opened):
    figure = opened("msk")
    before = computed(figure, "msk")
    for choice, (may, hidden) in {"may": ("1", "0"), "not": ("0", "1"), "add": ("0", "−∞")}.items():
        figure.get_by_label("Written as").select_option(choice)
        state = computed(figure, "msk")
        assert state["mask"] == before["mask"] and state["weights"] == before["weights"]
        assert state["written"] == [[may if allowed else hidden for allowed in row] for row in before["mask"]]


def test_window_and_prefix_grow_by_their_buttons(opened):
    figure = opened("msk")
    look = Look(**widget_state(ORACLES["msk"].page, "looks")["looks"][0])
    for name, label in (("window", "width"), ("prefix", "prefix")):
        figure.locator(f"button[data-mask={name}]").click()
        figure.get_by_label(f"{name}: one more").click()
        assert np.array_equal(computed(figure, "msk")["mask"], preset(name, look.real, **{label: 4}))
