"""Grading: a course's folder, the class in it, and what the grader says about each submission."""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
