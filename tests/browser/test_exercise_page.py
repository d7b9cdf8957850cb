"""A notebook's page, the link to report a mistake, and what readers find on every page, in a browser."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from book_browser import CHAPTER

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "exercises/04_one_head/04_one_head.html"
SECTION = "one-head-scale"


def test_button_for_a_lab_of_ones_own_says_how_by_mouse_and_keyboard(html, visit):
    with visit((html / PAGE).as_uri(), width=390) as seen:
        instructions = seen.page.locator(".exr-lab > div")
        assert not instructions.is_visible()
        seen.page.locator(".exr-lab summary").press("Enter")
        for words in ("make lab", "my_work/04_one_head/04_one_head.ipynb"):
            assert words in instructions.inner_text()
        seen.page.locator(".exr-lab summary").click()
        assert not instructions.is_visible()
        assert not [url for url in seen.requests if "localhost" in url]


def test_notebook_is_downloaded_whole(html, server, visit):
    with visit(server + PAGE) as seen:
        with seen.page.expect_download() as coming:
            seen.page.get_by_role("link", name="Download the notebook").click()
        brought = json.loads(coming.value.path().read_text(encoding="utf-8"))
        assert coming.value.suggested_filename == "04_one_head.ipynb"
        assert brought["cells"][1]["metadata"]["nbgrader"]["grade_id"] == "04-library"


def test_name_of_a_task_in_a_chapter_leads_to_the_task_and_its_reading_back(html, visit):
    with visit((html / CHAPTER).as_uri()) as seen:
        seen.page.locator("article .admonition.task a.task-name", has_text="04.scale").first.click()
        seen.page.wait_for_url("**/exercises/04_one_head/04_one_head.html#exercise-04-scale")
        seen.page.locator("section:has(> #exercise-04-scale)").get_by_role("link", name="read in the book").click()
        seen.page.wait_for_url(f"**/{CHAPTER}#{SECTION}")


def report(page, where):
    link = page.locator(f"{where} .report-link")
    link.focus()
    return parse_qs(urlsplit(link.get_attribute("href")).query)


def test_report_link_brings_page_section_and_marked_words(html, visit):
    with visit((html / CHAPTER).as_uri() + f"#{SECTION}") as seen:
        page = seen.page
        inside = f"section:has(> #{SECTION})"
        title = page.locator(f"{inside} > h2").inner_text().removesuffix("#").strip()
        query = report(page, ".report-aside")
        assert query["page"] == [page.locator("article h1").inner_text().removesuffix("#").strip()]
        assert query["section"] == [title] and query["path"] == [f"{CHAPTER}#{SECTION}"]
        words = page.locator(f"{inside} > p").nth(1)
        words.scroll_into_view_if_needed()
        words.evaluate("one => getSelection().selectAllChildren(one)")
        page.wait_for_function("() => getSelection().toString() !== ''")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.locator(".bd-footer-content .report-link").click()
        page.wait_for_url("**/book/mistakes.html?*")
        text = page.locator(".report-text").input_value()
        lines = text.splitlines()
        assert lines[1] == f"Section: {title}" and lines[2] == f"File: {CHAPTER}#{SECTION}"
        build = page.locator(".report-build").inner_text().removeprefix("Build ")
        assert lines[3] == f"Build: {build}" and len(build) > 12
        assert lines[lines.index("What it says:") + 1].strip()


@pytest.mark.slow
def test_report_link_fills_in_the_address_of_a_course(html, visit):
    with visit((html / CHAPTER).as_uri() + f"#{SECTION}") as seen:
        link = seen.page.locator(".report-aside .report-link")
        link.evaluate("one => { one.dataset.address = 'mailto:ada@example.org?subject={title}&body={body}'; }")
        link.focus()
        address = urlsplit(link.get_attribute("href"))
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        assert (address.scheme, address.path) == ("mailto", "ada@example.org")
        assert query["subject"].startswith("Mistake: 4. One head of self-attention › ")
        assert f"File: {CHAPTER}#{SECTION}\n" in query["body"] and "What it should say, and why:" in query["body"]


@pytest.mark.slow
def test_report_is_copied_from_the_page_on_mistakes(html, server, visit):
    with visit(server + "book/mistakes.html?page=A+%26+B", permissions=["clipboard-read", "clipboard-write"]) as seen:
        seen.page.get_by_role("button", name="Copy", exact=True).click()
        seen.page.wait_for_function("() => document.querySelector('.report-done').textContent === 'Copied.'")
        copied = seen.page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("Page: A & B\n") and copied == seen.page.locator(".report-text").input_value()


@pytest.mark.slow
def test_report_link_is_not_printed(html, visit):
    with visit((html / CHAPTER).as_uri(), alone=True) as seen:
        seen.page.emulate_media(media="print")
        assert not any(link.is_visible() for link in seen.page.locator(".report-link").all())


@pytest.mark.slow
def test_contents_of_the_page_follow_the_reader(html, visit):
    with visit((html / CHAPTER).as_uri()) as seen:
        for label in (SECTION, "one-head-mix"):
            section = seen.page.locator(f"section:has(> #{label})")
            section.evaluate("one => one.scrollIntoView()")
            seen.page.wait_for_function(
                "label => document.querySelector(`.bd-sidebar-secondary a.active[href='#${label}']`) !== null",
                arg=section.get_attribute("id"),
            )


@pytest.mark.slow
def test_on_a_phone_chapters_and_contents_are_one_press_away(html, visit):
    with visit((html / CHAPTER).as_uri(), width=390) as seen:
        for button, holds in ((".primary-toggle", "nav.bd-docs-nav"), (".secondary-toggle", "nav.page-toc")):
            assert not seen.page.locator(f"dialog[open] {holds}").count()
            seen.page.locator(f"{button}:visible").click()
            seen.page.locator(f"dialog[open] {holds}").wait_for(state="visible")
            seen.page.keyboard.press("Escape")
            seen.page.locator(f"dialog[open] {holds}").wait_for(state="hidden")


@pytest.mark.slow
def test_previous_and_next_walk_through_a_chapter_and_its_exercises(html, visit):
    with visit((html / "book/05_many_heads.html").as_uri()) as seen:
        seen.page.locator(".prev-next-area .right-next").click()
        seen.page.wait_for_url("**/exercises/05_many_heads/05_many_heads.html")
        seen.page.locator(".prev-next-area .right-next").click()
        seen.page.wait_for_url("**/book/06_positions.html")
        seen.page.locator(".prev-next-area .left-prev").click()
        seen.page.wait_for_url("**/exercises/05_many_heads/05_many_heads.html")


@pytest.mark.slow
def test_copy_button_takes_the_code_of_its_cell(html, server, visit):
    with visit(server + PAGE, permissions=["clipboard-read", "clipboard-write"]) as seen:
        cell = seen.page.locator(".tag_check-cell").first
        cell.hover()
        cell.locator("button.copybtn").click()
        seen.page.wait_for_function("async () => (await navigator.clipboard.readText()) !== ''")
        assert seen.page.evaluate("navigator.clipboard.readText()").strip() == 'check("04.by-hand", by_hand)'


def test_answers_are_folded_until_they_are_asked_for(html, visit):
    with visit((html / "book/04_one_head_practice.html").as_uri()) as seen:
        answers = seen.page.locator("article details.sd-dropdown")
        assert answers.count() > 3
        assert not answers.evaluate_all("all => all.some((one) => one.open)")
        answers.first.locator("summary").press("Enter")
        assert answers.first.evaluate("one => one.open")
