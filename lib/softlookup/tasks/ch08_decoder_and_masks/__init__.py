"""Chapter 8, the decoder and masks: its tasks in the order of the notebook."""

from softlookup.tasks.ch08_decoder_and_masks.attending import CROSS, MASKED_SOFTMAX
from softlookup.tasks.ch08_decoder_and_masks.combining import COMBINE, CONVERT
from softlookup.tasks.ch08_decoder_and_masks.labels import LABELS, MASKED_TOKENS
from softlookup.tasks.ch08_decoder_and_masks.layer import DECODER_LAYER
from softlookup.tasks.ch08_decoder_and_masks.masks import CAUSAL, PADDING
from softlookup.tasks.ch08_decoder_and_masks.reach import LEAK
from softlookup.tasks.ch08_decoder_and_masks.whole import TRANSFORMER
from softlookup.tasks.ch08_decoder_and_masks.words import LOGITS

TASKS = (
    CAUSAL,
    PADDING,
    COMBINE,
    CONVERT,
    MASKED_SOFTMAX,
    LEAK,
    LABELS,
    MASKED_TOKENS,
    LOGITS,
    CROSS,
    DECODER_LAYER,
    TRANSFORMER,
)
