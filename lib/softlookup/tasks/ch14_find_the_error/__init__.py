"""Chapter 14, errors on slides: its tasks in the order of the notebook."""

from softlookup.tasks.ch14_find_the_error.masks import LEAKS, POLARITY
from softlookup.tasks.ch14_find_the_error.matrices import PLACE, RANK
from softlookup.tasks.ch14_find_the_error.orders import MOVED, SPLIT
from softlookup.tasks.ch14_find_the_error.recipes import HYPOTHESIS, UNIFORM
from softlookup.tasks.ch14_find_the_error.scores import SCORES
from softlookup.tasks.ch14_find_the_error.sums import CHECKSUM, PRINTED, ROWS
from softlookup.tasks.ch14_find_the_error.units import BALANCE, CONVENTIONS, INTENSITY

TASKS = (
    PRINTED,
    ROWS,
    CHECKSUM,
    PLACE,
    RANK,
    HYPOTHESIS,
    UNIFORM,
    SPLIT,
    MOVED,
    SCORES,
    POLARITY,
    LEAKS,
    BALANCE,
    INTENSITY,
    CONVENTIONS,
)
