"""Chapter 20, after pre-training: its tasks in the order of the notebook."""

from softlookup.tasks.ch20_after_pretraining.likelihoods import BITS_PER_BYTE, CHOICE
from softlookup.tasks.ch20_after_pretraining.overlaps import CONTAMINATION
from softlookup.tasks.ch20_after_pretraining.samples import PAIRED, PASS_AT_K

TASKS = (
    BITS_PER_BYTE,
    PASS_AT_K,
    PAIRED,
    CONTAMINATION,
    CHOICE,
)
