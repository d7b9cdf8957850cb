"""Chapter 4, one head of self-attention: its tasks in the order of the notebook."""

from softlookup.checks.one_head.gradients import BACKWARD, SOFTMAX_BACKWARD
from softlookup.checks.one_head.numbers import BY_HAND, COLUMN, COST, SPREAD
from softlookup.checks.one_head.steps import MIX, PROJECT, SCALE, SCORES
from softlookup.checks.one_head.weighing import SOFTMAX, WEIGHTS
from softlookup.checks.one_head.whole import ATTENTION, HEAD

TASKS = (
    BY_HAND,
    PROJECT,
    SCORES,
    SCALE,
    SOFTMAX,
    MIX,
    COLUMN,
    WEIGHTS,
    ATTENTION,
    SPREAD,
    COST,
    SOFTMAX_BACKWARD,
    BACKWARD,
    HEAD,
)
