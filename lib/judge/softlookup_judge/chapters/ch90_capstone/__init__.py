"""The capstone: parts from earlier notebooks put together, and a model that trains and translates.

Its number is 90, since it belongs to no one chapter; its page is a part of chapter 13. The parts' tasks are those of
the chapters where they were written, under ids of this notebook.
"""

from softlookup_judge.chapters.ch05_many_heads.arranging import merge, split
from softlookup_judge.chapters.ch08_decoder_and_masks.layer import cross, decoder_layer, masked_softmax
from softlookup_judge.chapters.ch08_decoder_and_masks.masks import causal, padding
from softlookup_judge.chapters.ch08_decoder_and_masks.whole import transformer
from softlookup_judge.data.notebook import Description

FROM_EARLIER = (split, merge, causal, padding, masked_softmax, cross, decoder_layer, transformer)
"""The tasks whose answers the command `softlookup assemble` brings along."""


def _here(there: Description) -> Description:
    """The same task in this notebook: it was worth its points where it was written."""
    facts = {"points": 3 if there is transformer else 1, "minutes": 1}
    return Description(f"90.{there.task_id.partition('.')[2]}", facts, taken_from=there)


PARTS = tuple(map(_here, FROM_EARLIER))
