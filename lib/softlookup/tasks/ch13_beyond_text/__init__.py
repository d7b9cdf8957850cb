"""Chapter 13, beyond text: its tasks in the order of the notebook."""

from softlookup.tasks.ch13_beyond_text.long_texts import LINEAR, STEP
from softlookup.tasks.ch13_beyond_text.looking import LOOK, ROLLOUT
from softlookup.tasks.ch13_beyond_text.pairs import CONTRASTIVE, ZERO_SHOT
from softlookup.tasks.ch13_beyond_text.pictures import FRAMES, KERNEL_TASK, PATCHES
from softlookup.tasks.ch13_beyond_text.published import PUBLISHED
from softlookup.tasks.ch13_beyond_text.tiles import MERGE
from softlookup.tasks.ch13_beyond_text.tokens import TOKENS

TASKS = (
    PATCHES,
    KERNEL_TASK,
    TOKENS,
    FRAMES,
    LOOK,
    CONTRASTIVE,
    ZERO_SHOT,
    ROLLOUT,
    LINEAR,
    STEP,
    MERGE,
    PUBLISHED,
)
