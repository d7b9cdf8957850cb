"""Interactive figures: Python computes every number, the browser shows and explains it."""

from softlookup.widgets.attention_steps import AttentionSteps, Example
from softlookup.widgets.machine_map import MachineMap

__all__ = ["AttentionSteps", "Example", "MachineMap"]
