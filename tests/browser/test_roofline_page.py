"""The roofline explorer in its chapter: what is said of an operation, and how it opens."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/11_roofline.html"


@pytest.fixture
def explorer(stands):
    return stands.page.locator(".rfl").first


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
