"""The book's own bench: ``softlookup bench book``."""

import os
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.harness import benchmark
from benchmarks.site.builds import BookBuilds, time_builds
from benchmarks.site.frames import FigureFrames, FrameTimes, frames_of_empty_page, frames_of_figures
from benchmarks.site.in_page import ChromiumWaits, wait_for_verdicts
from benchmarks.site.weights import PageWeights, weigh_pages
from softlookup_course.browser import chromium, served

FEW = ("book/index.html", "book/02_soft_lookup.html")


@dataclass(frozen=True)
class BookFrames:
    """Frames of all figures beside those of an empty page in the same browser."""

    empty_page: FrameTimes
    slowest_over_empty: float
    median_frames_per_s: float
    fewest_frames_per_s: float
    most_busy_ms_per_frame: float
    figures: dict[str, FigureFrames]


@dataclass(frozen=True)
class ProcessorLoad:
    """Programs that waited for the processors, before and after."""

    before: float
    after: float


@dataclass(frozen=True)
class BookResult:
    """The book's weights, frames, builds (none in a quick run) and waits."""

    ratio: float
    ratio_of: str
    weights: PageWeights
    frames: BookFrames
    builds: BookBuilds | dict[str, BookBuilds]
    in_page: ChromiumWaits
    seconds: int
    load: ProcessorLoad
    versions: dict[str, str]


@benchmark("book")
def bench_book(root: Path, *, quick: bool = False) -> BookResult:
    """Weigh every page, drag in every figure, wait for verdicts in a page, and time builds of a copy.

    ``root`` is the checkout, with the book built in ``_build/html``; ``quick`` is two pages and no build: a run of
    seconds that shows the record's shape. NoBrowser if there is no browser, or no built book; BuildFailed if the copy
    does not build.

    ``load`` is how many programs waited for the processors, before and after: where they are more than there are cores,
    times are longer than on a quiet machine. ``ratio`` is the time of a fresh build over that of one after a changed
    page, in the same run; in a quick run, which builds nothing, it is the frame time of the slowest figure over that of
    an empty page.
    """
    html = root / "_build" / "html"
    began, load = time.perf_counter(), os.getloadavg()[0]
    with served(html) as address, chromium() as browser:
        everything = sorted(path.relative_to(html).as_posix() for path in html.rglob("*.html"))
        names = [name for name in everything if not name.startswith("_") and name != "index.html"]
        if quick:
            names = [name for name in names if name in FEW]
        weights = weigh_pages(browser, address, html, names)
        empty = frames_of_empty_page(browser)
        figures = frames_of_figures(browser, address, names)
        ways = {"disk": html.as_uri() + "/", "server": address}
        in_page = wait_for_verdicts(browser, ways, root, rounds=1 if quick else 3, others=not quick)
        browser_version = browser.version
    slowest = max(figures.values(), key=lambda figure: figure.median_ms)
    frames = BookFrames(
        empty_page=empty,
        slowest_over_empty=round(slowest.median_ms / empty.median_ms, 3),
        median_frames_per_s=median(figure.frames_per_s for figure in figures.values()),
        fewest_frames_per_s=min(figure.frames_per_s for figure in figures.values()),
        most_busy_ms_per_frame=max(figure.busy_ms_per_frame for figure in figures.values()),
        figures=figures,
    )
    ratio, ratio_of = frames.slowest_over_empty, "frame time, slowest figure / empty page"
    builds = None
    if not quick:
        with TemporaryDirectory(prefix="softlookup-book-") as folder:
            builds = time_builds(root, Path(folder))
        ratio = round(builds.fresh.seconds / builds.one_page.seconds, 2)
        ratio_of = "build time, fresh / after a changed page"
    return BookResult(
        ratio=ratio,
        ratio_of=ratio_of,
        weights=weights,
        frames=frames,
        builds=builds or {},
        in_page=in_page,
        seconds=round(time.perf_counter() - began),
        load=ProcessorLoad(load, os.getloadavg()[0]),
        versions={
            "python": sys.version.split()[0],
            "chromium": browser_version,
            **{name: version(name) for name in ("jupyter-book", "sphinx", "myst-nb", "playwright")},
        },
    )
