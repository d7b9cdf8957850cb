"""The roofline explorer in its chapter: whatever is chosen, its numbers are the library's."""

import json

import pytest
from book_browser import axe_findings

from softlookup.roofline import hardware, known_hardware, measured_hardware
from softlookup_course.widgets.roofline_explorer import PHASES, START, describe

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/11_roofline.html"
READ = """one => [...one.querySelectorAll('.rfl-table tbody tr')].map((row) => ({
  name: row.dataset.name, flops: +row.dataset.flops, bytes: +row.dataset.bytes, seconds: +row.dataset.seconds,
  bound: row.dataset.bound}))"""


@pytest.fixture
def explorer(stands):
    return stands.page.locator(".rfl").first


def machines():
    from softlookup_judge.authoring import find_root

    record = json.loads((find_root() / "book" / "measured" / "roofline.json").read_text(encoding="utf-8"))
    return {name: hardware(name) for name in known_hardware()} | {record["machine"]: measured_hardware(record)}


def assert_as_computed(explorer, machine, dtype, phase, sizes):
    shown = explorer.evaluate(READ)
    expected_steps = describe(machine, dtype, sizes["B"], sizes["S"], sizes["N"], sizes["H"], phase)
    for got, expected in zip(shown, expected_steps, strict=True):
        assert (got["name"], got["flops"], got["bytes"]) == (expected["name"], expected["flops"], expected["bytes"])
        assert got["bound"] == expected["bound"] and got["seconds"] == pytest.approx(expected["seconds"], rel=1e-12)
    total = float(explorer.locator(".rfl-total").get_attribute("data-seconds"))
    assert total == pytest.approx(sum(step["seconds"] for step in expected_steps))


@pytest.mark.slow
def test_every_machine_kind_and_phase_shows_the_librarys_numbers(explorer):
    known = machines()
    names = explorer.get_by_label("Machine").locator("option").all_inner_texts()
    assert set(names) == set(known)
    for name in names:
        explorer.get_by_label("Machine").select_option(name)
        for dtype in explorer.get_by_label("Numbers").locator("option").all_inner_texts():
            explorer.get_by_label("Numbers").select_option(dtype)
            for phase in PHASES:
                explorer.locator(f"button[data-phase={phase}]").click()
                assert_as_computed(explorer, known[name], dtype, phase, START)


def test_sliders_obey_the_keyboard_and_change_the_counts(explorer):
    sizes, name = dict(START), explorer.get_by_label("Machine").evaluate("one => one.value")
    for letter, key, factor in (
        ("B", "ArrowRight", 2),
        ("S", "ArrowLeft", 0.5),
        ("N", "ArrowLeft", 0.5),
        ("H", "ArrowRight", 2),
    ):
        explorer.locator(f"input[data-letter={letter}]").focus()
        explorer.page.keyboard.press(key)
        sizes[letter] = int(sizes[letter] * factor)
        assert_as_computed(explorer, machines()[name], "bfloat16", "prefill", sizes)


def test_a_pressed_operation_says_its_counts_and_pressing_again_gives_what_lies_below(explorer):
    words, seen = explorer.locator(".rfl-words"), []
    for _ in range(3):
        explorer.locator("circle[data-name='norm 2']").click(force=True)
        seen.append(words.inner_text())
        assert "3 operations lie at this point" in seen[-1] and "Memory-bound" in seen[-1]
    softmax = next(text for text in seen if text.startswith("softmax: "))
    assert "reads scores (1, 32, 1024, 1024)" in softmax
    assert {text.split(":")[0] for text in seen} == {"softmax", "norm 1", "norm 2"}
    explorer.locator("summary").click()
    explorer.get_by_role("button", name="down").click()
    assert words.inner_text().startswith("down: ")
    assert explorer.locator("tr.rfl-chosen").get_attribute("data-name") == "down"


def test_explorer_opens_with_nothing_chosen_and_writes_rates_as_data_sheets_do(explorer):
    assert explorer.locator(".rfl-words").inner_text().startswith("Each point is one operation")
    assert explorer.locator("circle.rfl-chosen").count() == 0
    ticks = explorer.locator("svg.rfl-plot text").all_text_contents()
    assert "1000 TFLOP/s" in ticks and not any(tick.endswith(" P") for tick in ticks)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_roofline_explorer_passes_axe_with_its_table_open(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        seen.page.locator(".rfl summary").first.click()
        assert axe_findings(seen.page, ".rfl") == []


@pytest.mark.slow
def test_roofline_explorer_fits_a_narrow_phone(html, visit):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        explorer = seen.page.locator(".rfl").first
        explorer.locator("button[data-phase=decode]").tap()
        assert explorer.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
