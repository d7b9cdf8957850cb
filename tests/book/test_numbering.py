"""Numbers of chapters and figures, columns of numbers, and the room of formulas."""

import re

import figure_numbers
import formula_room
import number_columns
import pytest
from built_book import HTML, ROOT, need_book
from docutils import nodes

PAGES = {"book/index", "book/06_positions", "book/06_positions_more", "book/04_one_head", "book/04_one_head_practice"}
PICTURE = '<figure class="slk-figure" style="max-width:9px"><img alt="x">{}</figure>'
LIVE = '<script type="application/vnd.jupyter.widget-view+json">{"model_id": "a"}</script>'


@pytest.mark.parametrize(
    ("page", "chapter"),
    [
        ("book/06_positions", "6"),
        ("book/06_positions_more", "6a"),
        ("book/04_one_head_practice", "4a"),
        ("book/index", ""),
        ("exercises/04_one_head/04_one_head", ""),
    ],
)
def test_numbers_begin_with_the_chapter_and_other_pages_have_a_letter(page, chapter):
    assert figure_numbers.chapter_of(page, PAGES | {page}) == chapter


def test_pictures_and_live_figures_count_in_one_row():
    body = PICTURE.format("<figcaption>What to see.</figcaption>") + LIVE + PICTURE.format("")
    written = figure_numbers.numbered(body, "4", {"a": "Drag a < b."})
    assert re.findall(r'id="(figure-[^"]+)"', written) == ["figure-4-1", "figure-4-2", "figure-4-3"]
    assert re.findall(r'href="#(figure-[^"]+)"', written) == ["figure-4-1", "figure-4-2", "figure-4-3"]
    assert '<figcaption><a class="figure-number" href="#figure-4-1">Figure 4.1</a> What to see.</figcaption>' in written
    assert "Figure 4.2</a> Drag a &lt; b.</p>" in written
    assert f'<div class="figure-place" id="figure-4-2"></div>{LIVE}<p class="figure-live">' in written
    assert 'style="max-width:9px"' in written


@pytest.mark.book
def test_every_figure_of_a_built_chapter_has_its_number():
    need_book()
    html = (HTML / "book" / "04_one_head.html").read_text(encoding="utf-8")
    numbers = [int(n) for n in re.findall(r">Figure 4\.(\d+)</a>", html)]
    assert numbers == list(range(1, html.count('class="slk-figure"') + html.count("widget-view+json") + 1))


@pytest.mark.book
def test_every_live_figure_says_what_can_be_done_with_it():
    need_book()
    captions = [
        caption
        for page in sorted((HTML / "book").glob("[0-9][0-9]_*.html"))
        for caption in re.findall(r'class="figure-live"[^>]*>.*?</a> (.*?)</p>', page.read_text(encoding="utf-8"))
    ]
    assert len(captions) > 15 and "Interactive." not in captions


def squeezed(html):
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


@pytest.mark.book
def test_numbers_in_the_built_sidebar_are_those_of_the_files():
    need_book()
    html = (HTML / "book/index.html").read_text(encoding="utf-8")
    sidebar = re.search(r'<nav class="bd-links.*?</nav>', html, re.S)[0]
    entries = re.findall(r'<a class="[^"]*reference internal" href="([^"]+)">(.*?)</a>', sidebar, re.S)
    chapters = {href: squeezed(name) for href, name in entries if re.match(r"\d\d_", href)}
    assert len(chapters) == len(list((ROOT / "book").glob("[0-9][0-9]_*.md")))
    for href, name in chapters.items():
        assert re.fullmatch(rf"{int(href[:2])}[a-z]?\. \D.*", name), (href, name)
    others = [squeezed(name) for href, name in entries if not re.match(r"\d\d_", href)]
    assert "Exercises" in others and not any(re.match(r"\d+[a-z]?\. ", name) for name in others)
    tab = re.search(r"<title>(.*?)</title>", (HTML / "book/04_one_head.html").read_text(encoding="utf-8"), re.S)[1]
    assert tab.strip().startswith("4. One head of self-attention")


@pytest.mark.parametrize(
    ("texts", "right"),
    [
        (["1", "22"], True),
        (["1,000", "−0.5", "≈ 12 %"], True),
        (["2.5 MB", "–", "300 kB"], True),
        (["1", "none"], False),
        (["4 heads", "8 heads"], False),
        (["", "-"], False),
        (["(2, 3)"], False),
    ],
)
def test_column_is_of_numbers_when_all_its_cells_are_or_are_empty(texts, right):
    assert number_columns.columns([["name", text] for text in texts]) == ({1} if right else set())


def test_first_column_names_the_rows_and_stays():
    assert number_columns.columns([["1", "10"], ["2", "20"]]) == {1}
    assert number_columns.columns([]) == set()


def table(*rows):
    def row(texts):
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))

    head, *body = map(row, rows)
    group = nodes.tgroup("", nodes.thead("", head), nodes.tbody("", *body), cols=len(rows[0]))
    return nodes.section("", nodes.table("", group))


def test_head_of_a_column_goes_with_its_numbers():
    tree = table(["what", "bytes", "why"], ["cache", "10", "it grows"], ["weights", "2,000", "they stay"])
    number_columns.align(None, tree, "page")
    marked = [entry.astext() for entry in tree.findall(nodes.entry) if "text-right" in entry["classes"]]
    assert marked == ["bytes", "10", "2,000"]


@pytest.mark.parametrize(
    ("tex", "set_em"),  # as MathJax sets them
    [("H", 0.94), (r"\sqrt{H}", 1.83), (r"D = N H", 4.17), ("2BTNH + BNT^2", 8.18), (r"\sin^2 + \cos^2 = 1", 6.76)],
)
def test_width_of_a_formula_is_about_that_of_mathjax(tex, set_em):
    assert formula_room.width_em(tex) == pytest.approx(set_em, abs=0.8)


def test_formulas_of_a_page_get_their_width_and_stay_as_they_are():
    body = r'<p><span class="math notranslate nohighlight">\(a &lt; b\)</span></p>'
    written = formula_room.INLINE.sub(formula_room.with_room, body)
    assert 'style="--room:' in written and written.endswith(r'em">\(a &lt; b\)</span></p>')
