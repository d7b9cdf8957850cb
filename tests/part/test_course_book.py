"""The book of a part of the chapters: it is built without a warning, and no link of it leads nowhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from softlookup_course.curriculum.vendored import checkout

pytestmark = pytest.mark.slow


def run(*words: str) -> str:
    """Run a command of the course as its own process; the folder's extensions are those of a build."""
    command = [sys.executable, "-m", "softlookup_command", *words]
    done = subprocess.run(command, cwd=checkout(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_course_of_one_chapter_has_a_book_without_warnings_and_without_dead_links(tmp_path: Path) -> None:
    folder = tmp_path / "spring"
    how = ["--chapters", "2", "--drop", "02.lead", "--points", "02.mix=5", "--title", "Lookup in spring"]
    run("course", "new", str(folder), *how)
    run("course", "book", str(folder))
    site = folder / "_build" / "html"
    pages = {page.resolve(): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert not any("04_one_head" in page.name for page in pages)
    dead = []
    for page, text in pages.items():
        body = text.partition("<article")[2] or text
        for address in re.findall(r'<a [^>]*href="([^"#:]+\.html)(?:#[^"]*)?"', body):
            if not (page.parent / address).resolve().is_file():
                dead.append((page.name, address))
    assert not dead
    exercises = next(text for page, text in pages.items() if page.parent.name == "02_soft_lookup")
    assert "02.mix" in exercises and "02.lead" not in re.sub(r"<script.*?</script>", "", exercises, flags=re.DOTALL)
    assert "Lookup in spring" in (site / "book" / "index.html").read_text(encoding="utf-8")
