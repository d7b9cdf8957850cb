"""The book's bench: sums, copies, and what it says where something is missing."""

import shutil
import subprocess

import pytest
from built_book import HTML, ROOT, need_book

from benchmarks.site import NoBrowser, builds, in_page, weights
from softlookup_course import browser


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


def test_gzipped_bytes_is_never_more_than_the_file(tmp_path):
    noise = tmp_path / "a.woff2"
    noise.write_bytes(bytes(range(256)))
    assert weights.gzipped_bytes(noise) == 256


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


def test_change_of_a_cell_changes_code_alone(tmp_path):
    page = tmp_path / "page.md"
    shutil.copy(ROOT / builds.PAGE, page)
    before = page.read_text().splitlines()
    builds.change_cell(page)
    new = [line for line in page.read_text().splitlines() if line not in before]
    assert new == ["# changed to see what runs"] and len(page.read_text().splitlines()) == len(before) + 1


def test_file_that_the_bench_changes_is_there():
    assert (ROOT / builds.LIBRARY).is_file()


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
