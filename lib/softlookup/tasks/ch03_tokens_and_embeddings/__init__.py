"""Chapter 3, tokens and embeddings: its tasks in the order of the notebook."""

from softlookup.tasks.ch03_tokens_and_embeddings.batches import PAD
from softlookup.tasks.ch03_tokens_and_embeddings.cutting import IDS, VOCABULARY, WORDS
from softlookup.tasks.ch03_tokens_and_embeddings.lookups import ONE_HOT, TABLE_GRADIENT
from softlookup.tasks.ch03_tokens_and_embeddings.pairs import MERGE, PAIR_COUNTS
from softlookup.tasks.ch03_tokens_and_embeddings.training import BPE, ENCODE
from softlookup.tasks.ch03_tokens_and_embeddings.vectors import EMBED, TIED_LOGITS

TASKS = (
    WORDS,
    PAIR_COUNTS,
    MERGE,
    BPE,
    ENCODE,
    VOCABULARY,
    IDS,
    PAD,
    ONE_HOT,
    TABLE_GRADIENT,
    EMBED,
    TIED_LOGITS,
)
