"""Chapter 20, after pre-training: its tasks in the order of the notebook."""

from softlookup.tasks.ch20_after_pretraining.adapters import DISTILL, LORA
from softlookup.tasks.ch20_after_pretraining.conversations import LOSS_MASK, PACKED, SFT_LOSS, TEMPLATE

TASKS = (
    TEMPLATE,
    LOSS_MASK,
    SFT_LOSS,
    PACKED,
    LORA,
    DISTILL,
)
