"""Chapter 14, errors on slides: its tasks in the order of the notebook."""

from softlookup.checks.slides.masks import LEAKS, POLARITY
from softlookup.checks.slides.matrices import PLACE, RANK
from softlookup.checks.slides.orders import MOVED, SPLIT
from softlookup.checks.slides.recipes import HYPOTHESIS, UNIFORM
from softlookup.checks.slides.scores import SCORES
from softlookup.checks.slides.sums import CHECKSUM, PRINTED, ROWS
from softlookup.checks.slides.units import BALANCE, CONVENTIONS, INTENSITY

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
