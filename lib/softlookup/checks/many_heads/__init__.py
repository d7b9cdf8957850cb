"""Chapter 5, many heads: its tasks in the order of the notebook."""

from softlookup.checks.many_heads.arranging import MERGE, PROJECT_HEADS, SPLIT
from softlookup.checks.many_heads.attending import DROPOUT, GROUPED, HEADS
from softlookup.checks.many_heads.blending import OUTPUT, SHARES
from softlookup.checks.many_heads.counting import COST, PARAMETERS
from softlookup.checks.many_heads.layer import MULTI_HEAD
from softlookup.checks.many_heads.packed import PACKED
from softlookup.checks.many_heads.sizes import CACHE, INIT, SHAPES

TASKS = (
    SHAPES,
    SPLIT,
    MERGE,
    PROJECT_HEADS,
    PACKED,
    HEADS,
    OUTPUT,
    SHARES,
    GROUPED,
    DROPOUT,
    INIT,
    PARAMETERS,
    COST,
    CACHE,
    MULTI_HEAD,
)
