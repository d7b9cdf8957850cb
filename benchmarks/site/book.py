"""The book's own bench: ``softlookup bench book``."""

import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.harness import benchmark
from benchmarks.site.builds import time_builds
from benchmarks.site.frames import frames_of_empty_page, frames_of_figures
from benchmarks.site.in_page import wait_for_verdicts
from benchmarks.site.weights import weigh_pages
from softlookup.browser import chromium, served

FEW = ("book/index.html", "book/02_soft_lookup.html")


@benchmark("book")
def bench_book(root: Path, *, quick: bool = False) -> dict[str, Any]:
    """Weigh every page, drag in every figure, wait for verdicts in a page, and time builds of a copy.

    Args:
        root: The checkout, with the book built in ``_build/html``.
        quick: Two pages and no build: a run of seconds that shows the record's shape.

    Returns:
        A record. ``load`` is how many programs waited for the processors, before and after: where they are more than
        there are cores, times are longer than on a quiet machine. ``ratio`` is the time of a fresh build over that of
        one after a changed page, in the same run; in a quick run, which builds nothing, it is the frame time of the
        slowest figure over that of an empty page.

    Raises:
        NoBrowser: If there is no browser, or no built book.
        BuildFailed: If the copy does not build.
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
    slowest = max(figures.values(), key=lambda figure: figure["median_ms"])
    frames = {
        "empty_page": empty,
        "slowest_over_empty": round(slowest["median_ms"] / empty["median_ms"], 3),
        "median_frames_per_s": median(figure["frames_per_s"] for figure in figures.values()),
        "fewest_frames_per_s": min(figure["frames_per_s"] for figure in figures.values()),
        "most_busy_ms_per_frame": max(figure["busy_ms_per_frame"] for figure in figures.values()),
        "figures": figures,
    }
    record: dict[str, Any] = {}
    if quick:
        record |= {"ratio": frames["slowest_over_empty"], "ratio_of": "frame time, slowest figure / empty page"}
        builds = {}
    else:
        with TemporaryDirectory(prefix="softlookup-book-") as folder:
            builds = time_builds(root, Path(folder))
        ratio = builds["fresh"]["seconds"] / builds["one_page"]["seconds"]
        record |= {"ratio": round(ratio, 2), "ratio_of": "build time, fresh / after a changed page"}
    return {
        **record,
        "weights": weights,
        "frames": frames,
        "builds": builds,
        "in_page": in_page,
        "seconds": round(time.perf_counter() - began),
        "load": {"before": load, "after": os.getloadavg()[0]},
        "versions": {
            "python": sys.version.split()[0],
            "chromium": browser_version,
            **{name: version(name) for name in ("jupyter-book", "sphinx", "myst-nb", "playwright")},
        },
    }
