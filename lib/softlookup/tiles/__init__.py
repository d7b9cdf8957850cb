"""Kernels in Triton's language, on numpy: recorded, run, and their traffic with main memory counted.

The names stand in ``__init__.pyi``; each is loaded at its first use.
"""

from softlookup.lazily import attach

__all__ = attach(__name__)
