"""The rendered book, measured: what a page weighs, how a figure moves, how long a build takes and where it goes."""

from softlookup.pages.bench import bench_book
from softlookup.pages.browser import NoBrowser

__all__ = ["NoBrowser", "bench_book"]
