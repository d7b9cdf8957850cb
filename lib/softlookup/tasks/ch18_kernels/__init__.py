"""Chapter 18, kernels: its tasks in the order of the notebook."""

from softlookup.tasks.ch18_kernels.attention import ATTENTION, CAUSAL, PAGED
from softlookup.tasks.ch18_kernels.products import LINEAR, PRODUCT, QUANTISED, TILE
from softlookup.tasks.ch18_kernels.rows import ADD, NORM, ONLINE, SOFTMAX

TASKS = (ADD, SOFTMAX, ONLINE, NORM, PRODUCT, TILE, LINEAR, ATTENTION, CAUSAL, PAGED, QUANTISED)
