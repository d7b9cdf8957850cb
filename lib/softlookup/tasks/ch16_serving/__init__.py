"""Chapter 16, serving: its tasks in the order of the notebook."""

from softlookup.tasks.ch16_serving.blocks import APPEND, FREE, PREFIX, RAGGED
from softlookup.tasks.ch16_serving.patterns import CONSTRAINED, TOKEN_MASK
from softlookup.tasks.ch16_serving.steps import ADMIT, BATCHES, SCHEDULE, SIMULATE, STREAM
from softlookup.tasks.ch16_serving.sums import SPLIT_SUM
from softlookup.tasks.ch16_serving.times import COST, LATENCIES, LIMIT, PHASES, SMALL, SPEEDUP, SPLIT_POOLS

TASKS = (
    PHASES,
    LATENCIES,
    LIMIT,
    BATCHES,
    APPEND,
    FREE,
    RAGGED,
    PREFIX,
    ADMIT,
    SCHEDULE,
    SPLIT_POOLS,
    STREAM,
    SIMULATE,
    SMALL,
    SPEEDUP,
    COST,
    TOKEN_MASK,
    CONSTRAINED,
    SPLIT_SUM,
)
