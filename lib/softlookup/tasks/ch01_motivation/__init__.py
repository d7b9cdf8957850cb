"""Chapter 1, why transformers: its tasks in the order of the notebook."""

from softlookup.tasks.ch01_motivation.depth import DEPTH
from softlookup.tasks.ch01_motivation.next_token import PAIRS, PUSH_UP
from softlookup.tasks.ch01_motivation.operations import OPERATIONS
from softlookup.tasks.ch01_motivation.recurrence import RECURRENT

TASKS = (RECURRENT, DEPTH, OPERATIONS, PAIRS, PUSH_UP)
