"""Matplotlib figures of the course: one module per subject, each figure drawn in a light and a dark palette."""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
