"""Interactive figures: Python computes every number, the browser shows and explains it."""

from softlookup.widgets.attention_steps import AttentionSteps, Example
from softlookup.widgets.lookup_plane import LookupPlane, Store

__all__ = ["AttentionSteps", "Example", "LookupPlane", "Store"]
