"""Reads the layers of any decoder that is known, from its config.json."""

from softlookup.describing.families import FAMILIES
from softlookup.describing.filled_entries import FilledEntries
from softlookup.describing.layer_sizes import ModelLayers
from softlookup.describing.unusual_families import UNUSUAL
from softlookup.describing.usual_layers import usual_layers

DECODERS = tuple(sorted({*FAMILIES, *UNUSUAL}))
"""The model_types that are read."""


def read_layers(entries: FilledEntries) -> ModelLayers:
    """Read a config of one of ``DECODERS``.

    Args:
        entries: Of the config; the caller refuses what is left.

    Returns:
        The model's layers.

    Raises:
        ValueError: If an entry that is needed is missing, or has a value that is not understood; the message names it.
    """
    return UNUSUAL[entries.model_type](entries) if entries.model_type in UNUSUAL else usual_layers(entries)
