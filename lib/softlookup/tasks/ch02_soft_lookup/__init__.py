"""Chapter 2, from a dictionary to a soft lookup: its tasks in the order of the notebook."""

from softlookup.tasks.ch02_soft_lookup.analogies import ANALOGY
from softlookup.tasks.ch02_soft_lookup.limits import LEAD, LIMIT
from softlookup.tasks.ch02_soft_lookup.mixing import BY_HAND, MIX
from softlookup.tasks.ch02_soft_lookup.stores import HARD_LOOKUP, STORE
from softlookup.tasks.ch02_soft_lookup.weighing import SIMILARITY, WEIGHTS
from softlookup.tasks.ch02_soft_lookup.whole import LOOKUP

TASKS = (HARD_LOOKUP, STORE, BY_HAND, MIX, SIMILARITY, WEIGHTS, LOOKUP, LIMIT, LEAD, ANALOGY)
