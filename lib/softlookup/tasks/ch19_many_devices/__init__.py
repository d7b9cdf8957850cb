"""Chapter 19, many devices: its tasks in the order of the notebook."""

from softlookup.tasks.ch19_many_devices.collectives import ALL_GATHER, ALL_REDUCE, BROADCAST, REDUCE_SCATTER
from softlookup.tasks.ch19_many_devices.data import GRADIENT
from softlookup.tasks.ch19_many_devices.shards import FSDP, MEMORY

TASKS = (BROADCAST, REDUCE_SCATTER, ALL_GATHER, ALL_REDUCE, GRADIENT, MEMORY, FSDP)
