"""Chapter 19, many devices: its tasks in the order of the notebook."""

from softlookup.tasks.ch19_many_devices.collectives import ALL_GATHER, ALL_REDUCE, BROADCAST, REDUCE_SCATTER
from softlookup.tasks.ch19_many_devices.context import RING_ATTENTION
from softlookup.tasks.ch19_many_devices.data import GRADIENT
from softlookup.tasks.ch19_many_devices.experts import EXPERTS
from softlookup.tasks.ch19_many_devices.pipeline import BUBBLE, SCHEDULE
from softlookup.tasks.ch19_many_devices.shards import FSDP, MEMORY
from softlookup.tasks.ch19_many_devices.tensor import FEED_FORWARD, HEADS
from softlookup.tasks.ch19_many_devices.together import TWO_BY_TWO

TASKS = (
    BROADCAST,
    REDUCE_SCATTER,
    ALL_GATHER,
    ALL_REDUCE,
    GRADIENT,
    MEMORY,
    FSDP,
    FEED_FORWARD,
    HEADS,
    SCHEDULE,
    BUBBLE,
    EXPERTS,
    RING_ATTENTION,
    TWO_BY_TWO,
)
