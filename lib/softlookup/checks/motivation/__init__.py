"""Chapter 1, why transformers: its tasks in the order of the notebook."""

from softlookup.checks.motivation.depth import DEPTH
from softlookup.checks.motivation.next_token import PAIRS, PUSH_UP
from softlookup.checks.motivation.operations import OPERATIONS
from softlookup.checks.motivation.recurrence import RECURRENT

TASKS = (RECURRENT, DEPTH, OPERATIONS, PAIRS, PUSH_UP)
