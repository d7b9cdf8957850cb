"""Chapter 6, positions: its tasks in the order of the notebook."""

from softlookup.checks.positions.adding import ADD, SHIFT
from softlookup.checks.positions.biases import ALIBI, BUCKETS
from softlookup.checks.positions.cached import CACHED
from softlookup.checks.positions.circles import ANGLES, SINUSOIDS
from softlookup.checks.positions.distances import RELATIVE, SHAW
from softlookup.checks.positions.experiments import EQUIVARIANCE, PROBE
from softlookup.checks.positions.rotations import CONVERT, ROTARY, TURN

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
