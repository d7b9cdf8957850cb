"""Questions in the page, answered as a reader would: wrongly, rightly, with the keyboard, and on another visit."""

import pytest

pytestmark = pytest.mark.browser
PAGE = "book/04_one_head.html"
PRACTICE = "book/04_one_head_practice.html"
COUNTING = "book/12_counting.html"


@pytest.fixture(scope="module")
def opened(html, visit):
    """The chapter's page, opened once: each test answers other questions."""
    with visit((html / PAGE).as_uri()) as seen:
        seen.page.wait_for_selector(".slq-progress")
        yield seen.page


def form(page, words):
    return page.locator("form.slq", has_text=words)


def test_a_wrong_number_that_equals_a_known_mistake_is_called_by_its_name(opened):
    question = form(opened, "A raw score is 12")
    question.locator("input").fill("0.75")
    question.locator("input").press("Enter")
    assert "A known mistake" in question.locator(".slq-told").inner_text()
    assert "square root of H" in question.locator(".slq-told").inner_text()
    question.locator("input").fill("17")
    question.locator("button").click()
    assert question.locator(".slq-told").inner_text().startswith("Not yet.")
    question.locator("input").fill("three")
    question.locator("button").click()
    assert "not a number" in question.locator(".slq-told").inner_text()
    question.locator("input").fill("12/4")
    question.locator("button").click()
    assert question.locator(".slq-told").inner_text() == "Right."


def test_a_row_takes_fractions_and_a_decimal_comma_and_a_shape_its_brackets(opened):
    row = form(opened, "Three rows of scores")
    for field, text in zip(row.locator("input").all(), ("1/8", "0,25", ".625"), strict=True):
        field.fill(text)
    row.locator("button").click()
    assert row.locator(".slq-told").inner_text() == "Right."
    shape = form(opened, "Which shape")
    for text, feedback in (("(2, 7, 5)", "A known mistake"), ("2 x 5 x 7", "Right."), ("(2, T)", "A shape is")):
        shape.locator("input").fill(text)
        shape.locator("button").click()
        assert shape.locator(".slq-told").inner_text().startswith(feedback)


def test_a_cell_is_pointed_at_by_mouse_and_by_keyboard(opened):
    map_ = form(opened, "Press the cell")
    map_.locator("[data-cell='2,3']").click()
    assert "mask" in map_.locator(".slq-told").inner_text()
    map_.locator("[data-cell='2,2']").focus()
    opened.keyboard.press("Enter")
    assert map_.locator(".slq-told").inner_text() == "Right."
    assert map_.locator("[data-cell='2,2']").get_attribute("aria-pressed") == "true"


def test_a_guess_is_good_within_a_factor_of_two_and_says_how_far_off_it_is(html, visit):
    with visit((html / COUNTING).as_uri()) as seen:
        seen.page.wait_for_selector(".slq-progress")
        question = form(seen.page, "A100s take to train")
        feedback = question.locator(".slq-told")
        for text, begins in (
            ("700", "Not yet. Too high, by a factor of 9"),
            ("2.44", "A known mistake"),
            ("0", "That is not a number"),
            ("-7", "That is not a number"),
            ("14", "Within a factor of two. The count is 7.32 days."),
        ):
            question.locator("input").fill(text)
            question.locator("button").click()
            assert feedback.inner_text().startswith(begins), text


def test_answers_are_kept_in_this_browser_until_they_are_cleared(chromium, html):
    context = chromium.new_context()  # nothing written beforehand, as by those who choose a theme for a test
    page = context.new_page()
    page.goto((html / PAGE).as_uri())
    page.wait_for_selector(".slq-progress")
    count, progress = page.locator("form.slq").count(), page.locator(".slq-progress")
    question = form(page, "A raw score is 12")
    question.locator("input").fill("3")
    question.locator("button").click()
    assert f"1 of {count} questions" in progress.inner_text()
    assert page.locator(".slq-mark").first.text_content() == f"1/{count}"
    page.reload()
    page.wait_for_selector(".slq-progress")
    assert f"1 of {count} questions" in progress.inner_text()
    page.locator(".slq-progress button").click()
    assert f"0 of {count} questions" in progress.inner_text()
    assert page.locator(".slq-mark").count() == 0
    context.close()


def test_an_option_answers_with_its_own_reason(html, visit):
    with visit((html / PRACTICE).as_uri()) as seen:
        box = seen.page.locator(".slq-choice").first
        box.locator("button", has_text="each column").click()
        assert "A column belongs to a key." in box.locator(".slq-told").inner_text()
        assert box.locator(".slq-told").inner_text().startswith("No.")
        box.locator("button", has_text="each row").click()
        assert "A row belongs to one query" in box.locator(".slq-told").inner_text()
        assert box.locator(".slq-told").inner_text().startswith("Right.")
        assert not seen.complaints


@pytest.fixture
def phone(html, visit):
    with visit((html / PAGE).as_uri(), width=390, has_touch=True, is_mobile=True) as seen:
        seen.page.wait_for_selector(".slq-progress")
        yield seen.page
        assert seen.complaints == []


@pytest.mark.slow
def test_a_finger_answers_every_kind_of_question_on_a_phone(phone):
    number = form(phone, "A raw score is 12")
    number.locator("input").tap()
    phone.keyboard.type("3")
    number.locator("button").tap()
    assert number.locator(".slq-told").inner_text() == "Right."
    map_ = form(phone, "Press the cell")
    map_.locator("[data-cell='2,3']").tap()
    assert "mask" in map_.locator(".slq-told").inner_text()
    map_.locator("[data-cell='2,2']").tap()
    assert map_.locator(".slq-told").inner_text() == "Right."
    assert phone.locator(".slq-progress").inner_text().startswith("2 of ")
    phone.locator(".slq-progress button").tap()
    assert phone.locator(".slq-progress").inner_text().startswith("0 of ")


@pytest.mark.slow
def test_fields_and_cells_are_large_enough_for_a_finger(phone):
    boxes = phone.locator("form.slq :is(button, input, [data-cell]):visible").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map((box) => Math.min(box.width, box.height))"
    )
    assert boxes and min(boxes) >= 24


@pytest.mark.slow
def test_a_finger_presses_an_option_and_the_keyboard_goes_through_them(html, visit):
    with visit((html / PRACTICE).as_uri(), width=390, has_touch=True, is_mobile=True) as seen:
        box = seen.page.locator(".slq-choice").first
        box.locator("button").nth(0).tap()
        assert box.locator("button").nth(0).get_attribute("aria-pressed") == "true"
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.textContent").startswith("(b)")
        box.locator("button", has_text="each column").tap()
        assert box.locator(".slq-told").inner_text().startswith("No.")
        right = box.locator("button", has_text="each row")
        right.focus()
        seen.page.keyboard.press("Enter")
        assert box.locator(".slq-told").inner_text().startswith("Right.")
        assert right.get_attribute("aria-pressed") == "true"
