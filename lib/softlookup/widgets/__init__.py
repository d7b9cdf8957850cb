"""Interactive figures: Python computes every number, the browser shows and explains it."""

from softlookup.widgets.attention_steps import AttentionSteps, Example
from softlookup.widgets.product_shapes import ProductShapes

__all__ = ["AttentionSteps", "Example", "ProductShapes"]
