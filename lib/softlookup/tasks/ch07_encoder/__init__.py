"""Chapter 7, the encoder: its tasks in the order of the notebook."""

from softlookup.tasks.ch07_encoder.backward import LAYER_NORM_BACKWARD
from softlookup.tasks.ch07_encoder.counting import PARAMETERS
from softlookup.tasks.ch07_encoder.hidden import FEED_FORWARD, GELU, SWIGLU
from softlookup.tasks.ch07_encoder.layer import ENCODER_LAYER
from softlookup.tasks.ch07_encoder.norms import LAYER_NORM, RMS_NORM
from softlookup.tasks.ch07_encoder.residuals import RESIDUAL, SUBLAYER
from softlookup.tasks.ch07_encoder.stacks import ENCODER, POOLING

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
