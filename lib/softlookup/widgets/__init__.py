"""Interactive figures: Python computes every number, the browser shows and explains it."""

from softlookup.widgets.attention_steps import AttentionSteps, Example

__all__ = ["AttentionSteps", "Example"]
