"""The rendered book, measured: what a page weighs, how a figure moves, how long a build takes and where it goes."""

from benchmarks.site.book import bench_book
from benchmarks.site.builds import BuildFailed
from softlookup_course.browser import NoBrowser

__all__ = ["BuildFailed", "NoBrowser", "bench_book"]
