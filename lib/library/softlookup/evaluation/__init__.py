"""What a table of scores may claim: scores of models, how certain they are, and what spoils them.

The names stand in ``__init__.pyi``; each is loaded at its first use.
"""

from softlookup_inside.lazily import attach

__all__ = attach(__name__)
