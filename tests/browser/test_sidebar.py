"""The list of chapters at the side: it opens at the present page, folds some, and shows what is read and done."""

import pytest
from book_browser import violations
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.book]

CHAPTER = "book/02_soft_lookup.html"
NOTEBOOK = "exercises/02_soft_lookup/02_soft_lookup.html"
PRESENT = """() => {
  const present = [...document.querySelectorAll('.bd-sidebar-primary .current > a')].at(-1);
  const { top, bottom } = present.getBoundingClientRect();
  return top > 0 && bottom < innerHeight;
}"""


@pytest.mark.one_in(8)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "page", [CHAPTER, "book/17_looking_inside.html", "book/live.html", "exercises/16_serving/16_serving.html"]
)
def test_list_opens_at_the_present_page(html, visit, page, width):
    with visit((html / page).as_uri(), width=width) as seen:
        if width < 500:
            seen.page.locator(".primary-toggle:visible").click()
        seen.page.wait_for_function(PRESENT)
        assert seen.complaints == []


def test_instructors_pages_are_folded_until_one_of_them_is_open(html, visit):
    with visit((html / CHAPTER).as_uri()) as seen:
        for page in ("instructors", "instructors_task", "live"):
            expect(seen.page.locator(f".bd-sidebar-primary a[href$='{page}.html']")).to_be_hidden()
        seen.page.get_by_text("At hand", exact=True).click()
        expect(seen.page.locator(".bd-sidebar-primary a[href$='live.html']")).to_be_visible()
    with visit((html / "book/instructors_task.html").as_uri()) as seen:
        expect(seen.page.locator(".bd-sidebar-primary a[href$='instructors_plan.html']")).to_be_visible()
        expect(seen.page.locator(".bd-sidebar-primary a[href$='02_soft_lookup.html']").first).to_be_hidden()


def test_next_leads_from_a_chapter_to_its_exercises_and_on_and_a_side_page_leads_back(html, visit):
    def beside(page: str, which: str) -> str:
        with visit((html / page).as_uri()) as seen:
            link = seen.page.locator(f".prev-next-area .{which}")
            return "/".join(link.evaluate("one => one.href").split("/")[-2:]) if link.count() else ""

    assert beside("book/index.html", "right-next") == "book/01_motivation.html", "as the door Start reading"
    assert beside("book/01_motivation.html", "right-next") == "01_motivation/01_motivation.html"
    assert beside("exercises/01_motivation/01_motivation.html", "right-next") == CHAPTER
    assert beside("book/01_motivation_more.html", "left-prev") == "book/01_motivation.html"
    assert beside("book/01_motivation_more.html", "right-next") == ""


def test_lines_on_library_and_slides_show_at_a_wish(html, visit):
    with visit((html / CHAPTER).as_uri()) as seen:
        line = seen.page.locator(".section-line").first
        expect(line).to_be_hidden()
        seen.page.locator(".lines-switch button").click()
        expect(line).to_be_visible()
        seen.page.reload()
        expect(line).to_be_visible()
        assert violations(seen.page, ".lines-switch") == []


@pytest.mark.slow
def test_what_is_read_and_done_is_marked(html, visit):
    with visit((html / CHAPTER).as_uri()) as seen:
        ids = seen.page.locator(".bd-article > section > section").evaluate_all("all => all.map((one) => one.id)")
        read = {"02_soft_lookup.html": {"total": len(ids), "seen": [1]}, "03_tokens_and_embeddings.html": {"all": True}}
        seen.page.evaluate("(read) => softlookupKept.write('read', read)", read)
        done = {"02.mix": {"verdict": "pass"}, "02.lookup": {"verdict": "wrong"}}
        seen.page.evaluate("(done) => softlookupKept.write('in-page', done)", done)
        seen.page.evaluate("dispatchEvent(new Event('pageshow'))")
        side = seen.page.locator(".bd-sidebar-primary")
        expect(side.locator("a.current .read-mark").first).to_have_attribute(
            "aria-label", f"1 of {len(ids)} sections read"
        )
        chapter3 = side.locator("a[href$='03_tokens_and_embeddings.html'] .read-mark").first
        expect(chapter3).to_have_attribute("aria-label", "read")
        expect(side.locator(f"a[href$='{NOTEBOOK}'] .read-mark")).to_have_text("1 ✓")
        expect(side.locator(f"a[href$='{NOTEBOOK}'] .slq-mark")).to_have_count(0)
        expect(seen.page.locator(f".page-toc a[href='#{ids[1]}'] .read-mark")).to_contain_text("●")
        expect(seen.page.locator(".page-toc .read-mark", has_text="●")).to_have_count(1)
        tasks = seen.page.locator(".task code", has_text="02.mix").locator("xpath=ancestor::section[1]")
        mark = seen.page.locator(f".page-toc a[href='#{tasks.first.get_attribute('id')}'] .read-mark")
        expect(mark).to_contain_text("1 ✓")
        ticked = seen.page.locator("td code:has(.read-mark)")
        assert set(ticked.evaluate_all("all => all.map((one) => one.textContent)")) == {"02.mix\u00a0✓"}
        assert violations(seen.page, ".bd-sidebar-primary", ".page-toc") == []


def test_page_of_a_notebook_leaves_its_chapters_reading_alone(html, visit):
    with visit((html / NOTEBOOK).as_uri()) as seen:
        read = {"02_soft_lookup.html": {"total": 7, "seen": [0, 1, 2]}}
        seen.page.evaluate("(read) => softlookupKept.write('read', read)", read)
        seen.page.evaluate(
            """async () => { for (let y = 0; y < document.body.scrollHeight; y += 600) {
                 scrollTo(0, y);
                 for (let i = 0; i < 2; i += 1) await new Promise(requestAnimationFrame); } }"""
        )
        assert seen.page.evaluate("softlookupKept.read('read')") == read
