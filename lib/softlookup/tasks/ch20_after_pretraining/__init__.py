"""Chapter 20, after pre-training: its tasks in the order of the notebook."""

from softlookup.tasks.ch20_after_pretraining.adapters import DISTILL, LORA
from softlookup.tasks.ch20_after_pretraining.comparisons import ANSWER_LOG_PROBS, DPO, REWARD
from softlookup.tasks.ch20_after_pretraining.conversations import LOSS_MASK, PACKED, SFT_LOSS, TEMPLATE
from softlookup.tasks.ch20_after_pretraining.likelihoods import BITS_PER_BYTE, CHOICE
from softlookup.tasks.ch20_after_pretraining.overlaps import CONTAMINATION
from softlookup.tasks.ch20_after_pretraining.rewards import ADVANTAGES, BEST_OF_N, GRPO, KL
from softlookup.tasks.ch20_after_pretraining.samples import PAIRED, PASS_AT_K

TASKS = (
    TEMPLATE,
    LOSS_MASK,
    SFT_LOSS,
    PACKED,
    LORA,
    DISTILL,
    ANSWER_LOG_PROBS,
    REWARD,
    DPO,
    ADVANTAGES,
    GRPO,
    KL,
    BEST_OF_N,
    BITS_PER_BYTE,
    PASS_AT_K,
    PAIRED,
    CONTAMINATION,
    CHOICE,
)
