"""Chapter 6, positions: its tasks in the order of the notebook."""

from softlookup.tasks.ch06_positions.adding import ADD, SHIFT
from softlookup.tasks.ch06_positions.biases import ALIBI, BUCKETS
from softlookup.tasks.ch06_positions.cached import CACHED
from softlookup.tasks.ch06_positions.circles import ANGLES, SINUSOIDS
from softlookup.tasks.ch06_positions.distances import RELATIVE, SHAW
from softlookup.tasks.ch06_positions.experiments import EQUIVARIANCE, PROBE
from softlookup.tasks.ch06_positions.rotations import CONVERT, ROTARY, TURN

TASKS = (
    EQUIVARIANCE,
    ANGLES,
    SINUSOIDS,
    ADD,
    PROBE,
    SHIFT,
    RELATIVE,
    SHAW,
    BUCKETS,
    ALIBI,
    TURN,
    ROTARY,
    CONVERT,
    CACHED,
)
