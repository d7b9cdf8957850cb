"""The capstone: parts from earlier notebooks put together, and a model that trains and translates.

Its number is 90, since it belongs to no one chapter; its page is a part of chapter 13. The parts' tasks are those of
the chapters where they were written, under ids of this notebook.
"""

from dataclasses import replace

from softlookup.checking.task import Task
from softlookup.tasks.ch05_many_heads.arranging import MERGE, SPLIT
from softlookup.tasks.ch08_decoder_and_masks.attending import CROSS, MASKED_SOFTMAX
from softlookup.tasks.ch08_decoder_and_masks.layer import DECODER_LAYER
from softlookup.tasks.ch08_decoder_and_masks.masks import CAUSAL, PADDING
from softlookup.tasks.ch08_decoder_and_masks.whole import TRANSFORMER
from softlookup.tasks.ch90_capstone.loss import LOSS
from softlookup.tasks.ch90_capstone.running import GREEDY, TRAIN

FROM_EARLIER = (SPLIT, MERGE, CAUSAL, PADDING, MASKED_SOFTMAX, CROSS, DECODER_LAYER, TRANSFORMER)
"""The tasks whose answers the command `softlookup assemble` brings along."""


def _here(task: Task) -> Task:
    """The same task in this notebook: it was worth its points where it was written."""
    points = 3 if task is TRANSFORMER else 1
    return replace(task, id=f"90.{task.id.split('.')[1]}", points=points, minutes=1)


TASKS = (*(_here(task) for task in FROM_EARLIER), LOSS, TRAIN, GREEDY)
