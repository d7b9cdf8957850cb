"""Chapter 9, training: its tasks in the order of the notebook."""

from softlookup.checks.training.debugging import FIND_LEAK, FIND_SHIFT
from softlookup.checks.training.finding import FIND_DROPOUT, FIND_PADDING
from softlookup.checks.training.groups import ACCUMULATE, CLIP
from softlookup.checks.training.memory import BYTES, COUNT
from softlookup.checks.training.noise import DROPOUT, FIRST_WEIGHTS
from softlookup.checks.training.perplexity import PERPLEXITY
from softlookup.checks.training.run import TRAIN
from softlookup.checks.training.steps import ADAM, RATE
from softlookup.checks.training.targets import CROSS_ENTROPY, SHIFT, SMOOTHED_LOSS

TASKS = (
    SHIFT,
    CROSS_ENTROPY,
    PERPLEXITY,
    SMOOTHED_LOSS,
    RATE,
    ADAM,
    CLIP,
    ACCUMULATE,
    DROPOUT,
    FIRST_WEIGHTS,
    BYTES,
    COUNT,
    TRAIN,
    FIND_LEAK,
    FIND_SHIFT,
    FIND_PADDING,
    FIND_DROPOUT,
)
