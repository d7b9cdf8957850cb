"""Chapter 10, inference: its tasks in the order of the notebook."""

from softlookup.checks.inference.beam_steps import BEAM_STEP
from softlookup.checks.inference.beams import BEAM
from softlookup.checks.inference.cached import APPEND, ATTEND
from softlookup.checks.inference.choosing import TEMPERATURE, TOP_K
from softlookup.checks.inference.costs import CACHE_BYTES, COST
from softlookup.checks.inference.cutting import DRAW, TOP_P
from softlookup.checks.inference.growing import GREEDY, NEXT
from softlookup.checks.inference.layer import STEP
from softlookup.checks.inference.places import POSITIONS
from softlookup.checks.inference.scores import SCORE
from softlookup.checks.inference.whole import WRITE

TASKS = (
    NEXT,
    GREEDY,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    DRAW,
    SCORE,
    BEAM_STEP,
    BEAM,
    APPEND,
    ATTEND,
    STEP,
    POSITIONS,
    WRITE,
    CACHE_BYTES,
    COST,
)
