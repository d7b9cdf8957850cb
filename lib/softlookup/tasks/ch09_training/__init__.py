"""Chapter 9, training: its tasks in the order of the notebook."""

from softlookup.tasks.ch09_training.debugging import FIND_LEAK, FIND_SHIFT
from softlookup.tasks.ch09_training.finding import FIND_DROPOUT, FIND_PADDING
from softlookup.tasks.ch09_training.groups import ACCUMULATE, CLIP
from softlookup.tasks.ch09_training.memory import BYTES, COUNT
from softlookup.tasks.ch09_training.noise import DROPOUT, FIRST_WEIGHTS
from softlookup.tasks.ch09_training.perplexity import PERPLEXITY
from softlookup.tasks.ch09_training.run import TRAIN
from softlookup.tasks.ch09_training.steps import ADAM, RATE
from softlookup.tasks.ch09_training.targets import CROSS_ENTROPY, SHIFT, SMOOTHED_LOSS

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
