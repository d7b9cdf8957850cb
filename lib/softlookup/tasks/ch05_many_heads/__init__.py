"""Chapter 5, many heads: its tasks in the order of the notebook."""

from softlookup.tasks.ch05_many_heads.arranging import MERGE, PROJECT_HEADS, SPLIT
from softlookup.tasks.ch05_many_heads.attending import DROPOUT, GROUPED, HEADS
from softlookup.tasks.ch05_many_heads.blending import OUTPUT, SHARES
from softlookup.tasks.ch05_many_heads.counting import COST, PARAMETERS
from softlookup.tasks.ch05_many_heads.layer import MULTI_HEAD
from softlookup.tasks.ch05_many_heads.packed import PACKED
from softlookup.tasks.ch05_many_heads.sizes import CACHE, INIT, SHAPES

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
