"""The printed book: chapters as PDF, and all of them as one, read back from the files."""

import re
import time
from html import unescape
from pathlib import Path

import build_pdf
import pdf_harvest
import pdf_volume
import pypdf
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.book]
CHAPTER = "02_soft_lookup"  # code, formulas, tables, questions, pictures and an interactive figure
PAPER_PT = (595, 842)
MARGIN_PT = 17 / 25.4 * 72


def harvested(chromium: Browser, html: Path, pages: list[str], scheme: str = "light") -> dict:
    return {page: pdf_harvest.harvest(chromium, html, page, build_pdf.all_pages(), scheme) for page in pages}


@pytest.fixture(scope="module")
def volume(chromium: Browser, html: Path):
    pages = build_pdf.chapters()[CHAPTER]
    return build_pdf.chapter_volume(harvested(chromium, html, pages), pages)


@pytest.fixture(scope="module")
def chapter(chromium: Browser, volume, tmp_path_factory: pytest.TempPathFactory) -> pypdf.PdfReader:
    target = tmp_path_factory.mktemp("pdf") / f"{CHAPTER}.pdf"
    count = pdf_volume.print_volume(chromium, volume, target)
    reader = pypdf.PdfReader(target)
    assert len(reader.pages) == count
    return reader


@pytest.fixture(scope="module")
def texts(chapter) -> list[str]:
    return [page.extract_text() for page in chapter.pages]


def titles(outline: list) -> list[str]:
    return [title for entry in outline for title in (titles(entry) if isinstance(entry, list) else [entry.title])]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def addresses(reader: pypdf.PdfReader) -> list[str]:
    notes = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    return [str(note["/A"]["/URI"]) for note in notes if "/URI" in note.get("/A", {})]


@pytest.mark.slow
def test_pdf_of_a_chapter_is_whole(chapter, texts, volume):
    text = squeezed("".join(texts))
    outline = [squeezed(title) for title in titles(chapter.outline)]
    assert titles(chapter.outline)[0] == "From a dictionary to a soft lookup"  # two lines of a sheet
    headings = [squeezed(heading.text) for heading in volume.pieces[0].headings]
    assert len(chapter.pages) > 3 and len(headings) > 5
    for heading in headings:
        plain = heading.split("$")[0].split("\\")[0]  # a formula is drawn, and is no text
        assert any(plain in title for title in outline), heading
        assert plain in text, heading
    last = re.findall(r"<p>([A-Z][^<]{40,})</p>", volume.pieces[-1].html)[-1]
    assert squeezed(unescape(last)) in text


@pytest.mark.slow
def test_pdf_pages_are_a4_numbered_tagged_and_named(chapter, texts):
    sides = [float(side) for page in chapter.pages for side in page.mediabox[2:]]
    assert sides == pytest.approx(PAPER_PT * len(chapter.pages), abs=2)
    for number, text in enumerate(texts, 1):
        assert re.search(rf"(^|\n)\s*{number}\s*(\n|$)", text), f"page {number} does not say its number"
        assert "2 From a dictionary to a soft lookup" in re.sub(r"\s+", " ", text)
    root = chapter.trailer["/Root"]
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"] and "/StructTreeRoot" in root
    assert chapter.metadata is not None and chapter.metadata.title == "Soft Lookup: From a dictionary to a soft lookup"


@pytest.mark.slow
def test_pdf_keeps_its_text_on_the_paper(chromium, volume, chapter, tmp_path):
    begins: list[float] = []

    def note(text: str, cm: list, tm: list, *_: object) -> None:
        if text.strip() and cm[0] < 1:  # behind a drawing, pypdf forgets the scale of the whole page
            begins.append(tm[4] * cm[0] + tm[5] * cm[2] + cm[4])

    for page in chapter.pages:
        page.extract_text(visitor_text=note)
    assert len(begins) > 500 and max(begins) < PAPER_PT[0] - MARGIN_PT
    # How wide words are is known to the browser: no line of them ends beyond the column.
    source = tmp_path / "chapter.html"
    source.write_text(pdf_volume.compose(volume), encoding="utf-8")
    page = chromium.new_page(viewport={"width": pdf_harvest.COLUMN_PX, "height": 1000})
    page.emulate_media(media="print")
    page.goto(source.as_uri())
    page.evaluate(pdf_harvest.FONTS)
    beyond = page.evaluate(
        """(width) => {
          const walk = document.createTreeWalker(document.querySelector(".bd-article"), NodeFilter.SHOW_TEXT);
          const found = [];
          for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            if (!node.data.trim() || node.parentElement.closest("style, svg, [hidden]")) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            const right = Math.max(...[...range.getClientRects()].map((line) => line.right));
            if (right > width + 2) found.push([node.data.trim().slice(0, 60), right]);
          }
          return found;
        }""",
        pdf_harvest.COLUMN_PX,
    )
    page.close()
    assert beyond == []


@pytest.mark.slow
def test_pdf_is_light_whatever_the_machine_prefers(chromium, html, volume, chapter, tmp_path):
    pages = build_pdf.chapters()[CHAPTER]
    light = BeautifulSoup(volume.pieces[0].html, "html.parser")
    dark = build_pdf.chapter_volume(harvested(chromium, html, pages, "dark"), pages)
    # As trees: MathJax may write a formula's attributes in either order.
    tree = BeautifulSoup(dark.pieces[0].html, "html.parser")
    lines = zip(str(light).splitlines(), str(tree).splitlines(), strict=False)
    assert [(a[:300], b[:300]) for a, b in lines if a != b][:3] == []
    assert tree == light
    pdf_volume.print_volume(chromium, dark, tmp_path / "dark.pdf")
    readers = pypdf.PdfReader(tmp_path / "dark.pdf"), chapter
    drawn = [[page.get_contents().get_data() for page in reader.pages] for reader in readers]
    assert drawn[0] == drawn[1]


@pytest.fixture
def slow_letters(chromium, monkeypatch):
    """Contexts in which a page's fonts come late, one after the other, as on a busy machine."""
    new_context = chromium.new_context

    def late(**how):
        context = new_context(**how)
        context.route(re.compile(r"\.woff2?"), lambda route: (time.sleep(0.2), route.continue_()))
        return context

    monkeypatch.setattr(chromium, "new_context", late)


@pytest.mark.slow
def test_letters_that_come_late_change_no_formula(chromium, html, volume, slow_letters):
    page = build_pdf.chapters()[CHAPTER][0]
    late = harvested(chromium, html, [page])[page].html
    assert BeautifulSoup(late, "html.parser") == BeautifulSoup(volume.pieces[0].html, "html.parser")


@pytest.mark.slow
def test_pdf_of_a_chapter_leads_to_the_whole_book_and_to_no_folder(chapter):
    notes = [note.get_object() for page in chapter.pages for note in page.get("/Annots", [])]
    away = [note["/A"] for note in notes if note.get("/A", {}).get("/S") == "/GoToR"]
    assert away and all(action["/F"] == pdf_volume.WHOLE for action in away)
    assert any(str(action["/D"]).startswith("/glossary--term-") for action in away)
    assert not [address for address in addresses(chapter) if not address.startswith("http")]


def test_a_dark_page_is_printed_light_and_unfolded_and_then_is_as_it_was(visit, html):
    look = """() => [document.documentElement.dataset.theme,
                     document.querySelectorAll('.bd-article details:not([open])').length]"""
    with visit((html / f"book/{CHAPTER}.html").as_uri(), theme="dark", alone=True) as seen:
        before = seen.page.evaluate(look)
        assert before[0] == "dark" and before[1] > 3
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        seen.page.emulate_media(media="print")
        assert seen.page.evaluate(look) == ["light", 0]
        paper = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        sidebar = seen.page.locator(".bd-sidebar-primary").is_visible()
        assert (paper, sidebar) == ("rgb(255, 255, 255)", False)
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert seen.page.evaluate(look) == before


def test_lead_out_changes_links_to_other_pages_alone():
    text = '<a href="#a--x">1</a><a href="#b">2</a><a href="#a">3</a><a href="https://e.org/#b">4</a>'
    want = '<a href="#a--x">1</a><a href="soft-lookup.pdf#b">2</a><a href="#a">3</a><a href="https://e.org/#b">4</a>'
    assert pdf_volume.lead_out(text, {"a"}) == want


def test_pages_to_press_buttons_on_are_not_printed():
    printed = build_pdf.all_pages()
    assert {"book/index", "book/04_one_head_practice", "book/glossary"} <= set(printed)
    assert not [page for page in printed if page.startswith(("exercises/", "book/your_way"))]
    pages = ["book/04_one_head", "book/04_one_head_more", "book/04_one_head_practice"]
    assert build_pdf.chapters()["04_one_head"] == pages


def test_harvest_says_what_to_do_about_a_page_that_is_not_built(chromium, tmp_path):
    with pytest.raises(FileNotFoundError, match="make book"):
        pdf_harvest.harvest(chromium, tmp_path, "book/04_one_head", [])


def test_build_pdf_refuses_a_chapter_that_is_not_there(capsys):
    with pytest.raises(SystemExit):
        build_pdf.main(["99_nothing"])
    assert "no chapter '99_nothing'; there are 00_before_you_start, 01" in capsys.readouterr().err


@pytest.mark.slow
def test_pdf_of_the_whole_book_has_contents_that_lead_where_they_say(chromium, html, tmp_path):
    pieces = harvested(chromium, html, build_pdf.all_pages())
    pdf_volume.print_volume(chromium, build_pdf.whole_volume(pieces), tmp_path / "whole.pdf")
    reader = pypdf.PdfReader(tmp_path / "whole.pdf")
    places = pdf_volume.places(tmp_path / "whole.pdf")
    texts = [page.extract_text() for page in reader.pages]
    assert all(piece.name in places for piece in pieces.values())
    first = min(places[piece.name] for piece in pieces.values())
    contents = squeezed("".join(texts[: first - 1]))
    for piece in pieces.values():
        number = places[piece.name]
        assert squeezed(f"{pdf_volume.running_title(piece)}{number}") in contents, piece.title
        assert squeezed(piece.title) in squeezed(texts[number - 1])
    assert not [address for address in addresses(reader) if not address.startswith("http")]
    notes = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    assert len(notes) > 1000 and not [note for note in notes if "/F" in note.get("/A", {})]
