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

    The caller refuses the entries that are not read. ValueError, which names the entry, if one that is needed is
    missing or has a value that is not understood.
    """
    return UNUSUAL[entries.model_type](entries) if entries.model_type in UNUSUAL else usual_layers(entries)
