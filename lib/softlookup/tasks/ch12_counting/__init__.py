"""Chapter 12, counting a transformer: its tasks in the order of the notebook."""

from softlookup.tasks.ch12_counting.batching import DECODE, RIDGE
from softlookup.tasks.ch12_counting.layers import LAYER
from softlookup.tasks.ch12_counting.models import PARAMETERS, TOKEN
from softlookup.tasks.ch12_counting.products import PRODUCT, TABLE
from softlookup.tasks.ch12_counting.serving import CACHE, STEP
from softlookup.tasks.ch12_counting.stacks import ENCODER_DECODER
from softlookup.tasks.ch12_counting.training import ACTIVATIONS, DAYS, STATES

TASKS = (
    PRODUCT,
    TABLE,
    LAYER,
    PARAMETERS,
    TOKEN,
    ENCODER_DECODER,
    DAYS,
    STATES,
    ACTIVATIONS,
    CACHE,
    DECODE,
    RIDGE,
    STEP,
)
