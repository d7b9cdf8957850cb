"""Matplotlib figures of the course: one module per subject, each figure drawn in a light and a dark palette.

Every figure is a function that takes ``palette`` by name and returns a matplotlib Figure, whose label says in
words what it shows. On a page, `show` draws it twice.

The names stand in ``__init__.pyi``; each is loaded at its first use.
"""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
