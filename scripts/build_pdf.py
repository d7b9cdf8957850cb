"""Print the built book into _build/pdf: each chapter in a file of its own, and all of it in soft-lookup.pdf.

python scripts/build_pdf.py                  everything
python scripts/build_pdf.py 04_one_head      these chapters alone
"""

import argparse
import sys
import time
from pathlib import Path

import yaml
from pdf_harvest import Piece, harvest, page_name
from pdf_volume import WHOLE, Volume, print_volume

from softlookup_course.browser import NoBrowser, chromium

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"
PDF = ROOT / "_build" / "pdf"
ON_SCREEN = ("exercises/", "book/exercises", "book/your_way", "book/mistakes")
"""Pages to press buttons on: the notebooks before anybody has begun, one's own way, the report of a mistake."""


def table_of_contents(root: Path = ROOT) -> list[tuple[str, list[list[str]]]]:
    """The parts of the printed book: each a caption and its chapters, each chapter a list of pages."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    parts = [("", [[toc["root"]]])]
    for part in toc["parts"]:
        chapters = [
            [chapter["file"], *(below["file"] for below in chapter.get("sections", []))] for chapter in part["chapters"]
        ]
        printed = [[page for page in chapter if not page.startswith(ON_SCREEN)] for chapter in chapters]
        parts.append((part["caption"], [chapter for chapter in printed if chapter]))
    return parts


def all_pages() -> list[str]:
    return [page for _, chapters in table_of_contents() for chapter in chapters for page in chapter]


def chapters() -> dict[str, list[str]]:
    """The pages of each numbered chapter, by its name: {"04_one_head": ["book/04_one_head", ...], ...}."""
    all_chapters = [chapter for _, part in table_of_contents() for chapter in part]
    return {page_name(pages[0]): pages for pages in all_chapters if page_name(pages[0])[:2].isdigit()}


def chapter_volume(pieces: dict[str, Piece], pages: list[str]) -> Volume:
    chapter_pieces = tuple(pieces[page] for page in pages)
    return Volume(title=f"Soft Lookup: {chapter_pieces[0].title}", pieces=chapter_pieces, parts={})


def whole_volume(pieces: dict[str, Piece]) -> Volume:
    parts = {page_name(chapters[0][0]): caption for caption, chapters in table_of_contents() if caption}
    return Volume(title="Soft Lookup", pieces=tuple(pieces.values()), parts=parts, front=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Print the built book into _build/pdf.")
    parser.add_argument(
        "names", nargs="*", metavar="CHAPTER", help="chapters, such as 04_one_head; none means everything"
    )
    names = parser.parse_args(argv).names
    known = chapters()
    for name in names:
        if name not in known:
            parser.error(f"no chapter {name!r}; there are {', '.join(known)}")
    if not (HTML / "index.html").exists():
        print("The book is not built yet: `make book` first, or `make pdf`, which does both.", file=sys.stderr)
        return 1
    began = time.perf_counter()
    pages = [page for name in names for page in known[name]] or all_pages()
    try:
        with chromium() as browser:
            pieces = {page: harvest(browser, HTML, page, all_pages()) for page in pages}
            for name in names or known:
                count = print_volume(browser, chapter_volume(pieces, known[name]), PDF / f"{name}.pdf")
                print(f"{(PDF / name).relative_to(ROOT)}.pdf  {count} pages", flush=True)
            if not names:
                count = print_volume(browser, whole_volume(pieces), PDF / WHOLE)
                print(f"{(PDF / WHOLE).relative_to(ROOT)}  {count} pages")
    except NoBrowser:
        raise SystemExit(
            "No Chromium here, and the PDF is printed by it: install the system's chromium package."
        ) from None
    print(f"Printed in {time.perf_counter() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
