"""Chapter 10, inference: its tasks in the order of the notebook."""

from softlookup.tasks.ch10_inference.beam_steps import BEAM_STEP
from softlookup.tasks.ch10_inference.beams import BEAM
from softlookup.tasks.ch10_inference.cached import APPEND, ATTEND
from softlookup.tasks.ch10_inference.choosing import TEMPERATURE, TOP_K
from softlookup.tasks.ch10_inference.costs import CACHE_BYTES, COST
from softlookup.tasks.ch10_inference.cutting import DRAW, TOP_P
from softlookup.tasks.ch10_inference.growing import GREEDY, NEXT
from softlookup.tasks.ch10_inference.layer import STEP
from softlookup.tasks.ch10_inference.places import POSITIONS
from softlookup.tasks.ch10_inference.scores import SCORE
from softlookup.tasks.ch10_inference.whole import WRITE

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
