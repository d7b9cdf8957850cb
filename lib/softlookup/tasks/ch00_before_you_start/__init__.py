"""Chapter 0, before you start: a self-test of ten short questions, in the order of the notebook."""

from softlookup.tasks.ch00_before_you_start.descent import DESCENT, GRADIENT
from softlookup.tasks.ch00_before_you_start.losses import CROSS_ENTROPY, ERROR
from softlookup.tasks.ch00_before_you_start.pencil import PRODUCT, SHAPES, SLOPE, SOFTMAX
from softlookup.tasks.ch00_before_you_start.tables import SHARES, TRANSPOSE

TASKS = (
    SHAPES,
    PRODUCT,
    SHARES,
    ERROR,
    SOFTMAX,
    CROSS_ENTROPY,
    SLOPE,
    GRADIENT,
    TRANSPOSE,
    DESCENT,
)
