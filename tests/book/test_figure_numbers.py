"""Figures of a chapter are numbered in one row, each with a link to itself."""

import re

import figure_numbers
import pytest
from built_book import HTML, need_book

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
