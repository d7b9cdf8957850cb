"""The rendered book, measured: what a page weighs, how a figure moves, how long a build takes and where it goes."""

from softlookup.bench.site.book import bench_book
from softlookup.bench.site.browser import NoBrowser
from softlookup.bench.site.builds import BuildFailed

__all__ = ["BuildFailed", "NoBrowser", "bench_book"]
