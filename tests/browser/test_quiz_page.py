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


def answer(question, text):
    """Type an answer, press the button, and give back what is said."""
    question.locator("input").fill(text)
    question.locator("button").click()
    return question.locator(".slq-told").inner_text()


def test_a_wrong_number_that_equals_a_known_mistake_is_called_by_its_name(opened):
    question = form(opened, "A raw score is 12")
    question.locator("input").fill("0.75")
    question.locator("input").press("Enter")
    named = question.locator(".slq-told").inner_text()
    assert "A known mistake" in named and "square root of H" in named
    assert answer(question, "17").startswith("Not yet.")
    assert "not a number" in answer(question, "three")
    assert answer(question, "12/4") == "Right."


def test_a_row_takes_fractions_and_a_decimal_comma_and_a_shape_its_brackets(opened):
    row = form(opened, "Three rows of scores")
    for field, text in zip(row.locator("input").all(), ("1/8", "0,25", ".625"), strict=True):
        field.fill(text)
    row.locator("button").click()
    assert row.locator(".slq-told").inner_text() == "Right."
    for text, feedback in (("(2, 7, 5)", "A known mistake"), ("2 x 5 x 7", "Right."), ("(2, T)", "A shape is")):
        assert answer(form(opened, "Which shape"), text).startswith(feedback)


def test_a_cell_is_pointed_at_by_mouse_and_by_keyboard(opened):
    map_ = form(opened, "Press the cell")
    map_.locator("[data-cell='2,3']").click()
    assert "mask" in map_.locator(".slq-told").inner_text()
    map_.locator("[data-cell='2,2']").press("Enter")
    assert map_.locator(".slq-told").inner_text() == "Right."
    assert map_.locator("[data-cell='2,2']").get_attribute("aria-pressed") == "true"


def test_a_guess_is_good_within_a_factor_of_two_and_says_how_far_off_it_is(html, visit):
    with visit((html / COUNTING).as_uri()) as seen:
        seen.page.wait_for_selector(".slq-progress")
        for text, begins in (
            ("700", "Not yet. Too high, by a factor of 9"),
            ("2.44", "A known mistake"),
            ("0", "That is not a number"),
            ("-7", "That is not a number"),
            ("14", "Within a factor of two. The count is 7.32 days."),
        ):
            assert answer(form(seen.page, "A100s take to train"), text).startswith(begins), text


def test_answers_are_kept_in_this_browser_until_they_are_cleared(fresh, html):
    fresh.goto((html / PAGE).as_uri())
    fresh.wait_for_selector(".slq-progress")
    count, progress = fresh.locator("form.slq").count(), fresh.locator(".slq-progress")
    answer(form(fresh, "A raw score is 12"), "3")
    assert f"1 of {count} questions" in progress.inner_text()
    assert fresh.locator(".slq-mark").first.text_content() == f"1/{count}"
    fresh.reload()
    fresh.wait_for_selector(".slq-progress")
    assert f"1 of {count} questions" in progress.inner_text()
    progress.locator("button").click()
    assert f"0 of {count} questions" in progress.inner_text()
    assert fresh.locator(".slq-mark").count() == 0


def test_an_option_answers_with_its_own_reason(html, visit):
    with visit((html / PRACTICE).as_uri()) as seen:
        box = seen.page.locator(".slq-choice").first
        for option, begins, reason in (
            ("each column", "No.", "A column belongs to a key."),
            ("each row", "Right.", "A row belongs to one query"),
        ):
            box.locator("button", has_text=option).click()
            feedback = box.locator(".slq-told").inner_text()
            assert feedback.startswith(begins) and reason in feedback
        assert not seen.complaints


PHONE = {"width": 390, "has_touch": True, "is_mobile": True}


@pytest.fixture
def phone(html, visit):
    with visit((html / PAGE).as_uri(), **PHONE) as seen:
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
    with visit((html / PRACTICE).as_uri(), **PHONE) as seen:
        box = seen.page.locator(".slq-choice").first
        box.locator("button").nth(0).tap()
        assert box.locator("button").nth(0).get_attribute("aria-pressed") == "true"
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.textContent").startswith("(b)")
        box.locator("button", has_text="each column").tap()
        assert box.locator(".slq-told").inner_text().startswith("No.")
        right = box.locator("button", has_text="each row")
        right.press("Enter")
        assert box.locator(".slq-told").inner_text().startswith("Right.")
        assert right.get_attribute("aria-pressed") == "true"
