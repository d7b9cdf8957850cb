"""Graded tasks: what they ask, how an answer is checked, which mistake it is, and a picture of it."""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
