"""Interactive figures: Python computes the numbers, the browser shows and explains them.

Where a reader may drag or type, the script computes as well, and a browser test compares it with the library.

The names stand in ``__init__.pyi``; each is loaded at its first use.
"""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
