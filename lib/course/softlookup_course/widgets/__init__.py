"""Interactive figures: Python computes the numbers, the browser shows and explains them."""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
