"""Every interactive figure by mouse, keyboard, finger and link: after every step its numbers are the library's."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from book_browser import HTML, axe_findings, built_pages
from chromium_hands import Hands
from figure_ways import ORACLES, WAYS
from playwright.sync_api import expect
from working import check, drag_all, press_all, read, root, strike, strike_all, where

pytestmark = [pytest.mark.browser, pytest.mark.book]

FIGURES = sorted(WAYS)
LOOKS = """(one) => [one, one.parentElement, one.nextElementSibling, ...one.children].filter(Boolean).map((near) => {
  const [style, parts] = [getComputedStyle(near), ['outline', 'box-shadow', 'stroke', 'stroke-width', 'border-color']];
  return parts.map((name) => style.getPropertyValue(name)).join(' ');
}).join()"""
LOOKS_THE_SAME = f"""(one) => {{
  const {{ outlineStyle, outlineWidth }} = getComputedStyle(one); // a cell that is asked about keeps its outline
  if (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) return false;
  const focused = ({LOOKS})(one);
  one.blur();
  const plain = ({LOOKS})(one);
  one.focus();
  return focused === plain;
}}"""
CONTROLS = """(figure) => [...figure.querySelectorAll('button, input, select, textarea, summary, a[href], [tabindex]')]
  .filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true })
    && !(one.type === 'radio' && !one.checked && figure.querySelector(`input[name="${one.name}"]:checked`)))
  .map((one) => (one.dataset.control = String(window.controls = (window.controls ?? 0) + 1)))"""


@pytest.fixture(params=FIGURES)
def figure(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def hands(visit: Callable, figure: str) -> Iterator[Callable[..., Hands]]:
    """Give what opens the figure's page and works it; nobody may complain."""
    with_page = []

    def opened(finger: bool = False) -> Hands:
        narrow = {"width": 360, "has_touch": True, "is_mobile": True}
        options = narrow if finger else {}
        options["reduced_motion"] = "reduce"  # what plays has tests of its own
        context = visit((HTML / ORACLES[figure].page).as_uri(), **options)
        with_page.append((context, context.__enter__()))
        return Hands(with_page[-1][1].page, finger)

    yield opened
    for context, seen in with_page:
        complaints = list(seen.complaints)
        context.__exit__(None, None, None)
        assert complaints == []


def test_figure_ways_name_every_figure(html):
    names = set()
    for page in built_pages():
        text = (html / page).read_text(encoding="utf-8")
        here = re.findall(r'class: \\"slf (?:slf-buttons )?(\w+)\\"', text)
        assert set(here) <= set(WAYS), page
        names |= set(here)
    assert names == set(WAYS)


@pytest.mark.one_in(20)
def test_figure_obeys_the_mouse_and_shows_the_librarys_numbers(hands, figure):
    engine = hands()
    press_all(engine, figure)
    drag_all(engine, figure)


@pytest.mark.one_in(20)
def test_figure_obeys_the_keys_and_shows_the_librarys_numbers(hands, figure):
    strike_all(hands(), figure)


@pytest.mark.one_in(20)
def test_figure_obeys_a_finger_on_a_narrow_phone_and_shows_the_librarys_numbers(hands, figure):
    engine = hands(finger=True)
    press_all(engine, figure)
    drag_all(engine, figure)
    assert engine.page.locator(root(figure)).first.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    assert engine.page.evaluate("document.documentElement.scrollWidth") <= 360


SETTABLE = "select, input[type=range], input[type=radio], input[type=checkbox], [role=tab], button[aria-pressed]"
VALUES = """([figure, css]) => [...figure.querySelectorAll(css)].map((one) => {
  if (one.tagName === 'SELECT') return [...one.options].flatMap((option, i) => (option.disabled ? [] : [i]));
  if (one.type !== 'range') return [null];
  const [least, most, step] = [one.min, one.max, one.step].map((number) => Number(number) || 0);
  const middle = least + (step || 1) * Math.round((most - least) / 2 / (step || 1));
  return [least, middle, most];
})"""
"""For each control of a figure: its options, three places of a slider, or null where it is pressed."""

SET = """([figure, css, place, value]) => {
  const one = figure.querySelectorAll(css)[place];
  if (!one || one.disabled || !one.checkVisibility({ visibilityProperty: true })) return false;
  if (one.tagName === 'SELECT' && value >= one.options.length) return false; // another control has changed the list
  if (value === null) one.click();
  else {
    one[one.tagName === 'SELECT' ? 'selectedIndex' : 'value'] = value;
    for (const kind of ['input', 'change']) one.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  return true;
}"""


@pytest.mark.one_in(80)
@pytest.mark.parametrize("start", [0, -1], ids=["from the first values", "from the last values"])
def test_every_value_of_every_control_shows_the_librarys_numbers(hands, figure, start):
    engine = hands()
    read(engine, figure)
    element = engine.page.locator(root(figure)).first.element_handle()
    controls = engine.page.evaluate(VALUES, [element, SETTABLE])
    for place, values in enumerate(controls):
        if values != [None]:
            engine.page.evaluate(SET, [element, SETTABLE, place, values[start]])
    for place, values in enumerate(controls):
        for value in [*values, values[start]]:
            if engine.page.evaluate(SET, [element, SETTABLE, place, value]):
                ORACLES[figure].agrees(read(engine, figure))


@pytest.mark.one_in(40)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figure_passes_axe_after_its_presses(visit, figure, theme):
    with visit((HTML / ORACLES[figure].page).as_uri(), theme=theme, width=390, reduced_motion="reduce") as seen:
        engine = Hands(seen.page)
        read(engine, figure)
        for place in WAYS[figure].press:
            engine.point(("move", *where(engine, figure, place)), ("down",), ("up",))
        read(engine, figure)
        assert axe_findings(seen.page, root(figure)) == []


@pytest.mark.one_in(20)
@pytest.mark.parametrize("page", sorted({oracle.page for oracle in ORACLES.values()}))
def test_readers_without_scripts_get_a_table_a_list_or_a_picture(visit, page):
    with visit((HTML / page).as_uri(), java_script_enabled=False) as seen:
        stands = seen.page.locator(".widget-fallback").all()
        assert stands and all(table.is_visible() and table.locator("td, li, path").count() for table in stands)


@pytest.mark.one_in(20)
def test_every_control_of_a_figure_is_reached_by_tab_and_shows_it(hands, figure):
    engine = hands()
    read(engine, figure)
    page = engine.page
    element = page.locator(root(figure)).first
    controls = element.evaluate(CONTROLS)
    keyed_controls = [
        element.locator(css).first.evaluate("one => one.dataset.control ?? null") for css, _ in WAYS[figure].keys[:3]
    ]
    assert None not in keyed_controls, "a control that has keys is no Tab stop"
    element.evaluate("one => { one.tabIndex = -1; one.focus(); }")
    reached, hidden = [], []
    for _ in controls:
        page.keyboard.press("Tab")
        active = page.evaluate_handle("document.activeElement")
        if active.evaluate(f"one => !one.closest('{root(figure)}')"):
            break
        reached.append(active.evaluate("one => one.dataset.control"))
        if active.evaluate(LOOKS_THE_SAME):
            hidden.append(active.evaluate("one => one.outerHTML.slice(0, 100)"))
    assert hidden == [], f"the focus does not show on {hidden}"
    assert reached == controls, f"{len(controls)} controls wanted, {len(reached)} reached: {reached} of {controls}"
    page.keyboard.press("Tab")
    assert page.evaluate(f"document.activeElement.closest('{root(figure)}') === null"), "Tab does not leave the figure"


@pytest.mark.one_in(20)
def test_a_swipe_over_a_figure_scrolls_the_page_and_leaves_the_figure(hands, figure):
    engine = hands(finger=True)
    x, y = where(engine, figure, WAYS[figure].beside or f".{figure}-words")
    before, scrolled = read(engine, figure), engine.run("() => scrollY")
    engine.point(("move", x, y), ("down",), ("move", x, y - 240), ("up",))
    engine.page.wait_for_function(f"scrollY > {scrolled} + 60")
    after = read(engine, figure)
    ignored = {"said", "words"}  # what a finger has touched may be explained
    assert {name: value for name, value in after.items() if name not in ignored} == {
        name: value for name, value in before.items() if name not in ignored
    }


OLDER_TAP = """([css, across, down]) => {
  const one = document.querySelector(css);
  const box = one.getBoundingClientRect();
  const at = { clientX: box.x + across * box.width, clientY: box.y + down * box.height, bubbles: true };
  const finger = { ...at, pointerType: 'touch', isPrimary: true, pointerId: 7 };
  for (const kind of ['pointerdown', 'pointerup']) one.dispatchEvent(new PointerEvent(kind, finger));
  one.dispatchEvent(new MouseEvent('click', at));
}"""


@pytest.mark.parametrize(
    ("figure", "place"),
    [("msk", ("td[data-grid=mask][data-row='0'][data-column='2']", 0.5, 0.5)), ("slp", (".slp-frame svg", 0.2, 0.8))],
)
def test_a_tap_counts_where_the_click_does_not_say_that_a_finger_made_it(hands, figure, place):
    engine = hands(finger=True)
    before = read(engine, figure)
    engine.page.evaluate(OLDER_TAP, [f"{root(figure)} {place[0]}", *place[1:]])
    check(engine, figure, before, "a tap as older browsers tell of it")


CELLS_STAY = """(css) => {
  const figure = document.querySelector(css);
  const cells = [...figure.querySelectorAll('td[data-grid]')];
  const places = new Set();
  for (const cell of cells) {
    cell.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
    places.add(Math.round(cells[0].getBoundingClientRect().top - figure.getBoundingClientRect().top));
  }
  return [...places];
}"""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("figure", ["slw", "ens", "msk", "spr", "pat"])
def test_cells_stay_under_the_finger_while_they_explain_themselves(hands, figure):
    assert len(hands(finger=True).page.evaluate(CELLS_STAY, root(figure))) == 1


NUMBERED = sorted(set(WAYS) - {"fst"})
"""Figures with a caption; the other stands on the first page, which offers no link to it."""
ADDRESS = "figure => softlookupSettings(figure.parentElement) + '#' + figure.parentElement.previousElementSibling.id"
ASIDE = {"said", "words", "about", "drawn", "times"}
"""What a figure says of the cell that was pointed at last, or has drawn: no control's setting."""


def settled(engine: Hands, name: str) -> dict[str, Any]:
    return {key: value for key, value in read(engine, name).items() if key not in ASIDE}


@pytest.mark.one_in(28)
@pytest.mark.parametrize("name", NUMBERED)
def test_link_sets_the_figure_as_it_was(visit, name):
    page = (HTML / ORACLES[name].page).as_uri()
    with visit(page) as seen:
        engine = Hands(seen.page)
        for css, keys in WAYS[name].keys:
            strike(engine, name, css, keys)
        for place in WAYS[name].press:
            engine.point(("move", *where(engine, name, place)), ("down",), ("up",))
        shown = settled(engine, name)
        address = seen.page.locator(root(name)).first.evaluate(ADDRESS)
    assert len(address) < 180 and address.startswith("?set="), address
    with visit(page + address) as seen:
        assert settled(Hands(seen.page), name) == shown, address
        ORACLES[name].agrees(read(Hands(seen.page), name))
        assert seen.page.locator(root(name)).first.evaluate(ADDRESS) == address
        assert seen.complaints == []


def test_link_is_copied_with_settings_and_what_it_cannot_set_is_passed_over(visit):
    page = (HTML / ORACLES["svt"].page).as_uri()
    permissions = ["clipboard-read", "clipboard-write"]
    with visit(f"{page}?set=way:unknown,slots:2,budget:7,nothing:1#figure-16-1", permissions=permissions) as seen:
        figure = seen.page.locator(root("svt"))
        assert figure.locator("button[data-way=static]").get_attribute("aria-pressed") == "true"
        expect(figure.locator("[data-ask=slots]")).to_have_value("2")
        figure.locator("button[data-way=continuous]").click()
        seen.page.get_by_role("button", name="Share Figure 16.1").click()
        seen.page.get_by_role("button", name="Copy link").click()
        expect(seen.page.locator(".shr-state")).to_have_text("Link copied")
        copied = seen.page.evaluate("navigator.clipboard.readText()")
        assert re.sub(r".*\.html", "", copied) == "?set=way:continuous,slots:2#figure-16-1"
        assert seen.complaints == []
