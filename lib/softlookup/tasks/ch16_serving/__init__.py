"""Chapter 16, serving: its tasks in the order of the notebook."""

from softlookup.tasks.ch16_serving.times import LATENCIES, PHASES

TASKS = (
    PHASES,
    LATENCIES,
)
