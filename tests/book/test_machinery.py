"""The small extensions under the book, and its bench: copies, icons, versions, sums, and what is missing."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import offline
import page_needs
import pytest
from built_book import HTML, ROOT, need_book

from benchmarks.site import NoBrowser, builds, in_page, weights
from softlookup_course import browser

VENDOR = ROOT / "book" / "_vendor"


def test_project_says_what_to_run_where_the_library_is_missing(tmp_path):
    with pytest.raises(RuntimeError, match="'nobody', which is not installed here: run `make setup` first"):
        page_needs.Project(tmp_path, "nobody")


def test_copy_brings_new_contents_and_leaves_equal_ones(tmp_path):
    source, target = tmp_path / "a", tmp_path / "b"
    source.mkdir()
    (source / "one").write_text("1")
    offline.copy(source, target)
    assert (target / "one").read_text() == "1"
    stamp = (target / "one").stat().st_mtime_ns
    offline.copy(source, target)
    assert (target / "one").stat().st_mtime_ns == stamp
    (source / "one").write_text("22")
    offline.copy(source, target)
    assert (target / "one").read_text() == "22"


def test_icon_font_holds_every_icon_and_little_else(tmp_path):
    import pydata_sphinx_theme
    from fontTools.ttLib import TTFont

    theme = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
    offline.subset_icons(theme / "vendor/fontawesome/webfonts/fa-solid-900.ttf", tmp_path / "icons.woff")
    assert (tmp_path / "icons.woff").stat().st_size < 12_000
    with TTFont(tmp_path / "icons.woff") as font:
        assert set(font.getBestCmap()) == set(offline.ICONS.values())


def test_every_icon_that_the_theme_writes_is_in_the_font():
    import sphinx_book_theme

    theme = Path(sphinx_book_theme.__file__).parent / "theme"
    written = {
        name
        for page in [*theme.rglob("toggle-*.html"), *theme.rglob("page-toc.html")]
        for name in re.findall(r"fa-(?!solid|lg)([a-z-]+)", page.read_text(encoding="utf-8"))
    }
    assert written and written <= set(offline.ICONS)


def test_vendored_versions_are_pinned_and_name_no_registry():
    versions = json.loads((VENDOR / "package.json").read_text())["dependencies"]
    lock = json.loads((VENDOR / "package-lock.json").read_text())["packages"]
    assert all(version[0].isdigit() for version in versions.values())
    assert {name: lock[f"node_modules/{name}"]["version"] for name in versions} == versions
    assert all("resolved" not in package for package in lock.values())
    assert all(package["integrity"].startswith("sha512-") for name, package in lock.items() if name)


def test_vendoring_again_does_nothing():
    done = subprocess.run([sys.executable, "scripts/vendor.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "vendor: all there"
    pins = [(VENDOR / name).read_bytes() for name in ("package.json", "package-lock.json")]
    stamp = (VENDOR / "node_modules" / ".installed").read_text()
    assert stamp == hashlib.sha256(b"\0".join(pins)).hexdigest()


def test_weigh_adds_up_by_kind_and_leaves_figures_out(tmp_path):
    page, style, runner = tmp_path / "a.html", tmp_path / "a.css", tmp_path / "vendor" / "widgets.js"
    runner.parent.mkdir()
    state = b'<script type="application/vnd.jupyter.widget-state+json">' + bytes(range(97, 123)) * 3 + b"</script>"
    page.write_bytes(b"<p>words</p>" + state)
    style.write_bytes(b"p{}" * 400)
    runner.write_bytes(b"run();" * 200)
    page_weight = weights.weigh({page: "html", style: "css", runner: "scripts"}, page)
    assert set(page_weight.bytes) == {"html", "css", "scripts"}
    assert page_weight.with_widgets == sum(page_weight.bytes.values())
    assert page_weight.bytes["css"] < 100
    saved = page_weight.with_widgets - page_weight.before_widgets
    assert page_weight.bytes["scripts"] < saved < page_weight.bytes["scripts"] + page_weight.bytes["html"]


def test_bench_says_what_is_missing(tmp_path, monkeypatch):
    with pytest.raises(NoBrowser, match=r"no built book in .*: run `make book` first"), browser.served(tmp_path):
        pass
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(NoBrowser, match=r"there is none of chromium-headless-shell, .*, google-chrome here"):
        with browser.chromium():
            pass


def test_command_refuses_in_a_sentence_where_there_is_no_browser(monkeypatch):
    from click.testing import CliRunner

    import benchmarks.site
    from softlookup_command.commands import main

    def missing(root, quick):
        raise NoBrowser("pages are measured in a browser, and there is none here")

    monkeypatch.setattr(benchmarks.site, "bench_book", missing)
    done = CliRunner().invoke(main, ["bench", "book"])
    assert done.exit_code == 2
    assert "softlookup: pages are measured in a browser, and there is none here." in done.output


def test_copy_of_the_checkout_has_what_git_keeps_and_links_to_what_is_installed(tmp_path):
    root, copy = tmp_path / "root", tmp_path / "copy"
    (root / "book" / "_vendor" / "node_modules").mkdir(parents=True)
    (root / "kept.md").write_text("kept")
    (root / "made.log").write_text("made")
    (root / ".gitignore").write_text("*.log\nnode_modules\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (copy / "book" / "_vendor").mkdir(parents=True)
    builds.copy_checkout(root, copy)
    assert (copy / "kept.md").read_text() == "kept" and not (copy / "made.log").exists()
    assert (copy / "book/_vendor/node_modules").resolve() == (root / "book/_vendor/node_modules").resolve()


@pytest.mark.slow
@pytest.mark.book
@pytest.mark.browser
def test_bench_finds_every_interactive_figure_and_keeps_the_limit(chromium):
    from benchmarks.site.frames import frames_of_figures

    need_book()
    page = "book/10_inference.html"
    with browser.served(HTML) as address:
        figures = frames_of_figures(chromium, address, [page])
        seen = weights.weigh_pages(chromium, address, HTML, [page])
    assert len(figures) == 3 and all(figure.frames > 10 for figure in figures.values())
    assert seen.over_limit == 0 and seen.unsized_pictures == 0
    view = seen.pages[page]["desktop"]
    assert 100_000 < view.before_widgets < view.with_widgets <= view.whole


@pytest.mark.book
@pytest.mark.browser
@pytest.mark.slow  # that a page gives verdicts is held by tests/browser/test_in_page.py
def test_bench_waits_for_verdicts_in_a_page(chromium):
    need_book()
    waits = in_page.wait_for_verdicts(chromium, {"disk": HTML.as_uri() + "/"}, HTML.parents[1], rounds=1)
    assert waits.bytes_after_press["engine.js"] > 10_000_000
    assert waits.chromium["disk"].count == 6
    assert waits.chromium_memory_growth_mb > 20  # the module alone has 15
