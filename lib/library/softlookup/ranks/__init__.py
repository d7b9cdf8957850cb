"""Parallel programs, rank by rank: run on numpy, their messages delivered, checked and counted.

The names stand in ``__init__.pyi``; each is loaded at its first use.
"""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
