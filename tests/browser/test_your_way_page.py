"""The page "Your way": what was read and done is ticked off, advice is the library's, and all can be forgotten."""

import json

import pytest
from book_browser import CHAPTER, violations
from playwright.sync_api import Page, expect

from softlookup_course.browser import settle
from softlookup_course.curriculum import NAMES
from softlookup_course.progress import ChapterState, TaskState, advise
from softlookup_course.progress.report import FORMAT, SCRIPT, as_script
from softlookup_judge import tasks
from softlookup_judge.checking.catalogue import CHAPTERS

pytestmark = [pytest.mark.browser, pytest.mark.book]
WAY = "book/your_way.html"
KEPT = "name => globalThis.softlookupKept.read(name)"


def record(states: dict[str, str], date: str = "2026-03-01T12:00:00+00:00", named: tuple[str, ...] = ()) -> dict:
    task_states = {task: {"state": state, "points": 1, "named": list(named)} for task, state in states.items()}
    return {"format": FORMAT, "date": date, "tasks": task_states, "written": {}}


def give(page: Page, content: str) -> str:
    """Hand a file to the page, and give back what it says of it."""
    before = page.locator("#way-says")
    before.evaluate("one => { one.textContent = ''; }")
    file = {"name": "mine.json", "mimeType": "application/json", "buffer": content.encode()}
    page.set_input_files("#way-file", files=[file])
    expect(before).not_to_be_empty()
    return before.inner_text()


@pytest.fixture
def way(html, visit):
    with visit((html / WAY).as_uri()) as seen:
        seen.page.wait_for_selector("#way-controls:visible")
        yield seen.page
        assert seen.complaints == []


def test_every_chapter_and_every_task_is_listed_without_scripts(html, visit):
    with visit((html / WAY).as_uri(), java_script_enabled=False) as seen:
        assert seen.page.locator("[data-chapter]").count() == len(CHAPTERS)
        listed = seen.page.locator("[data-task]").evaluate_all("all => all.map((one) => one.dataset.task)")
        assert listed == [task.id for task in tasks()]
        assert "With scripts switched on" in seen.page.locator("#way-next").inner_text()


@pytest.mark.slow
def test_a_chapter_read_to_its_end_is_ticked_and_half_of_one_is_counted(html, visit):
    with visit((html / CHAPTER).as_uri()) as seen:
        page = seen.page
        sections = page.locator(".bd-article > section > section")
        name = CHAPTER.split("/")[1]
        page.wait_for_function(f"() => ({KEPT})('read')['{name}'] === undefined")

        def read(number: int) -> None:
            sections.nth(number).evaluate(
                "one => [...one.children].findLast((child) => child.offsetHeight).scrollIntoView({block: 'end'})"
            )
            page.wait_for_function(f"() => ({KEPT})('read')['{name}']?.seen.includes({number})")

        total = sections.count()
        assert total > 5
        for number in range(3):
            read(number)
        link = page.locator(".bd-sidebar-primary a[href*='your_way.html']")

        def to_the_page() -> None:
            if not link.is_visible():
                page.get_by_text("At hand", exact=True).click()
            link.click()

        to_the_page()
        item = page.locator(f"[data-page='{name}']")
        expect(item).to_contain_text(f"of {total} sections read")
        assert not item.locator("input").is_checked()
        page.go_back()
        for number in range(total):
            read(number)
        to_the_page()
        expect(item.locator("input")).to_be_checked()
        assert "#" not in page.url, "what the link carried is taken and put away"


STATES = [
    {},
    {"00.shapes": "pass"},
    {task.id: "pass" for task in tasks(0)},
    {task.id: "pass" for number in (0, 1, 2, 3, 4) for task in tasks(number)} | {"05.split": "partial"},
    {task.id: "pass" for number in (0, 4) for task in tasks(number)} | {"11.ridge": "wrong", "04.mix": "changed"},
    {task.id: "pass" for task in tasks()},
]


def test_advice_is_that_of_the_library(way):
    for states in STATES:
        states = {name: state for name, state in states.items() if name in {task.id for task in tasks()}}
        assert give(way, json.dumps(record(states))).endswith("is read.")
        advice = advise(
            [
                ChapterState(number, None, tuple(TaskState(t, states.get(t.id, "blank")) for t in tasks(number)))
                for number in CHAPTERS
            ]
        )
        words = way.locator("#way-next").inner_text()
        links = way.locator("#way-next > p > a").all_inner_texts()
        label = {number: name if number >= 90 else f"{number} · {name}" for number, name in NAMES.items()}
        assert ("Go on with" in words) == (advice.go_on is not None)
        if advice.go_on is not None:
            assert f"Go on with {label[advice.go_on]}" in words
        if advice.next is not None:
            assert f"{'Then' if advice.go_on is not None else 'Begin with'} {label[advice.next]}" in words
        assert [link for link in links if link in {label[n] for n in advice.open}] == [label[n] for n in advice.open]
        assert ("To mend" in words) == bool(advice.mend)
        assert ("It needs" in words) == bool(advice.missing)


def test_a_hostile_file_is_shown_as_text_and_junk_is_refused(way):
    bad = "<img src=x onerror=\"document.title='owned'\">"
    content = record({"04.mix": "wrong", "99.none": "pass", bad: "pass"}, named=(bad,))
    content["tasks"]["04.scale"] = {"state": bad, "points": bad, "named": bad}
    content["written"] = {bad: True}
    assert give(way, json.dumps(content)).endswith("is read.")
    way.locator("#way-4 summary").click()
    assert bad in way.locator("[data-task='04.mix']").inner_text()
    assert way.locator("article img[src='x']").count() == 0 and way.title() != "owned"
    assert list(way.evaluate(KEPT, "tasks")["record"]["tasks"]) == ["04.mix"]
    for junk in ("", "{", "[]", '{"format": "other"}', json.dumps({**content, "date": "never"}), "null"):
        assert "is no file that" in give(way, junk)
    assert list(way.evaluate(KEPT, "tasks")["record"]["tasks"]) == ["04.mix"]


def test_questions_answered_in_a_terminal_are_counted_at_their_task(way):
    content = record({"04.mix": "pass", "04.scale": "wrong"})
    content["tasks"]["04.mix"]["questions"] = {"asked": 3, "right": 2}
    content["tasks"]["04.scale"]["questions"] = {"asked": "<b>3", "right": 2}
    assert give(way, json.dumps(content)).endswith("is read.")
    assert "2 of 3 questions on it right" in way.locator("[data-task='04.mix'] .way-told").text_content()
    assert "questions" not in way.locator("[data-task='04.scale'] .way-told").text_content()


def test_what_the_command_writes_beside_the_book_is_shown_and_kept(fresh, server):
    page = fresh
    content = [as_script(record({"04.mix": "pass"}))]
    page.route(f"**/{SCRIPT}", lambda route: route.fulfill(body=content[0], content_type="text/javascript"))
    page.goto(server + WAY)
    expect(page.locator("#way-sum")).to_contain_text("1 of ")
    content[0] = ""
    page.reload()
    expect(page.locator("#way-4 .way-count")).to_contain_text("1 of 14")
    content[0] = as_script(record({"04.mix": "wrong"}, "2026-01-01T12:00:00+00:00"))
    page.reload()
    page.wait_for_function("() => window.softlookupProgress !== undefined")
    expect(page.locator("#way-4 .way-count")).to_contain_text("1 of 14")


def test_forgetting_removes_all_and_an_older_record_does_not_come_back(fresh, server):
    page = fresh
    content = as_script(record({"04.mix": "pass"}))
    page.route(f"**/{SCRIPT}", lambda route: route.fulfill(body=content, content_type="text/javascript"))
    page.goto(server + WAY)
    page.locator("[data-page='01_motivation.html'] input").press("Space")
    expect(page.locator("#way-sum")).to_contain_text(f"1 of {len(CHAPTERS)} chapters read, 1 of")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.locator("#way-forget").click()
    expect(page.locator("#way-sum")).to_contain_text(f"1 of {len(CHAPTERS)} chapters read, 1 of")
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("#way-forget").press("Enter")
    expect(page.locator("#way-sum")).to_have_text(f"0 of {len(CHAPTERS)} chapters read.")
    page.reload()
    page.wait_for_function("() => window.softlookupProgress !== undefined")
    expect(page.locator("#way-sum")).to_have_text(f"0 of {len(CHAPTERS)} chapters read.")
    assert "record" not in page.evaluate(KEPT, "tasks")


def test_progress_is_saved_to_a_file_and_read_back_in_another_browser(chromium, html, tmp_path):
    name = CHAPTER.split("/")[1]
    stored = {
        "read": {name: {"total": 3, "seen": [0, 1]}},
        "quick": {name: {"total": 5, "right": {"one": True}}},
        "in-page": {
            "04.mix": {"source": "def mix(): ...", "verdict": "pass", "passed": "def mix(): ...", "points": 2},
            "04.scores": {"source": "k @ q", "verdict": "wrong", "points": 0, "said": "Transposed."},
        },
        "last": {"path": CHAPTER, "title": "4. One head"},
        "tasks": {"record": record({"05.split": "partial"})},
    }
    first, second = chromium.new_context(), chromium.new_context()
    page = first.new_page()
    page.goto((html / WAY).as_uri())
    for which, what in stored.items():
        page.evaluate("([name, mark]) => softlookupKept.write(name, mark)", [which, what])
    with page.expect_download() as saving:
        page.locator("#way-save").click()
    file = tmp_path / saving.value.suggested_filename
    saving.value.save_as(file)
    page = second.new_page()
    page.goto((html / WAY).as_uri())
    better = {"04.scores": {"source": "q @ k.T", "verdict": "pass", "passed": "q @ k.T", "points": 1}}
    page.evaluate("mark => softlookupKept.write('in-page', mark)", better)
    assert give(page, file.read_text("utf-8")).endswith("is read.")
    expect(page.locator(f"[data-page='{name}']")).to_contain_text("2 of 3 sections read")
    expect(page.locator("#way-4 .way-count")).to_contain_text("2 of ")
    for which in ("read", "quick", "last"):
        assert page.evaluate(KEPT, which) == stored[which]
    answers = page.evaluate(KEPT, "in-page")
    assert answers == {"04.mix": stored["in-page"]["04.mix"], **better}, "nothing gets worse"
    assert list(page.evaluate(KEPT, "tasks")["record"]["tasks"]) == ["05.split"]
    expect(page.locator("#way-apart")).to_be_hidden()
    first.close()
    second.close()


@pytest.mark.slow
def test_a_link_carries_what_one_page_knows_to_a_browser_that_keeps_each_page_apart(chromium, html):
    first = chromium.new_context()
    page = first.new_page()
    page.goto((html / CHAPTER).as_uri())
    settle(page)
    name = CHAPTER.split("/")[1]
    marks = {
        "read": {name: {"total": 3, "seen": [0, 1]}},
        "quick": {name: {"total": 5, "right": {"one": True}}},
        "in-page": {"04.mix": {"source": "def mix(): ...", "verdict": "pass", "passed": "def mix(): ..."}},
    }
    for which, mark in marks.items():
        page.evaluate("([name, mark]) => softlookupKept.write(name, mark)", [which, mark])
    link = page.locator(".bd-sidebar-primary a[href*='your_way.html']")
    link.evaluate("one => { one.addEventListener('click', (event) => event.preventDefault()); one.click(); }")
    address = link.evaluate("one => one.href")
    first.close()
    second = chromium.new_context()  # knows nothing
    page = second.new_page()
    page.goto(address)
    expect(page.locator(f"[data-page='{name}']")).to_contain_text("2 of 3 sections read")
    expect(page.locator("#way-4 .way-mark")).to_contain_text("1 of 5 questions")
    expect(page.locator("#way-4 .way-count")).to_contain_text("1 of ")
    second.close()


@pytest.mark.slow
def test_the_page_passes_axe_with_everything_on_it(way):
    give(way, json.dumps(record({"04.mix": "wrong", "04.scores": "pass", "04.scale": "partial"}, named=("A slip.",))))
    way.locator("#way-4 summary").click()
    for theme in ("light", "dark"):
        way.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        assert violations(way, "article") == []
