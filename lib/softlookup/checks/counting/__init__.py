"""Chapter 12, counting a transformer: its tasks in the order of the notebook."""

from softlookup.checks.counting.batching import DECODE, RIDGE
from softlookup.checks.counting.layers import LAYER
from softlookup.checks.counting.models import PARAMETERS, TOKEN
from softlookup.checks.counting.products import PRODUCT, TABLE
from softlookup.checks.counting.serving import CACHE, STEP
from softlookup.checks.counting.stacks import ENCODER_DECODER
from softlookup.checks.counting.training import ACTIVATIONS, DAYS, STATES

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
