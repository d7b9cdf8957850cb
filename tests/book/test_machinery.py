"""The small extensions under the book: the copies, the icons, the runner."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import offline
import page_needs
import pytest
from built_book import ROOT

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


def test_styles_describe_the_icons_of_the_font_and_no_other():
    import re

    import pydata_sphinx_theme

    theme = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
    stylesheet = (theme / "styles/pydata-sphinx-theme.css").read_text(encoding="utf-8")
    left = offline.without_idle_icons(stylesheet)
    icon = re.compile(r'\.fa-[a-z0-9-]+:before\{content:"([^"]*)"\}')
    assert len(icon.findall(stylesheet)) > 1000
    assert {int(sign[1:], 16) for sign in icon.findall(left)} == set(offline.ICONS.values())
    assert icon.sub("", left).count("{") > 3000


def test_every_icon_that_the_theme_writes_is_in_the_font():
    import re

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
