"""The shipped models for a page of the book: their matrices in int8, and how a script carries them."""

from softlookup.live.packing import as_text, pack
from softlookup.live.rounding import quantise, rounded

__all__ = ["as_text", "pack", "quantise", "rounded"]
