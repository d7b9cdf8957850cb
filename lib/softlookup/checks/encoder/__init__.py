"""Chapter 7, the encoder: its tasks in the order of the notebook."""

from softlookup.checks.encoder.backward import LAYER_NORM_BACKWARD
from softlookup.checks.encoder.counting import PARAMETERS
from softlookup.checks.encoder.hidden import FEED_FORWARD, GELU, SWIGLU
from softlookup.checks.encoder.layer import ENCODER_LAYER
from softlookup.checks.encoder.norms import LAYER_NORM, RMS_NORM
from softlookup.checks.encoder.residuals import RESIDUAL, SUBLAYER
from softlookup.checks.encoder.stacks import ENCODER, POOLING

TASKS = (
    RESIDUAL,
    LAYER_NORM,
    RMS_NORM,
    LAYER_NORM_BACKWARD,
    FEED_FORWARD,
    GELU,
    SWIGLU,
    SUBLAYER,
    PARAMETERS,
    ENCODER_LAYER,
    POOLING,
    ENCODER,
)
