"""Chapter 4, one head of self-attention: its tasks in the order of the notebook."""

from softlookup.tasks.ch04_one_head.gradients import BACKWARD, SOFTMAX_BACKWARD
from softlookup.tasks.ch04_one_head.numbers import BY_HAND, COLUMN, COST, SPREAD
from softlookup.tasks.ch04_one_head.steps import MIX, PROJECT, SCALE, SCORES
from softlookup.tasks.ch04_one_head.weighing import SOFTMAX, WEIGHTS
from softlookup.tasks.ch04_one_head.whole import ATTENTION, HEAD

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
