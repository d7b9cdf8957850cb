"""The rendered book, measured: what a page weighs, how a figure moves, how long a build takes and where it goes."""

from softlookup.pages.bench import bench_book
from softlookup.pages.browser import NoBrowser
from softlookup.pages.builds import BuildFailed

__all__ = ["BuildFailed", "NoBrowser", "bench_book"]
