"""Chapter 17, looking inside: its tasks in the order of the notebook."""

from softlookup.tasks.ch17_looking_inside.features import AUTOENCODER, SUPERPOSITION, TOP_K
from softlookup.tasks.ch17_looking_inside.heads import INDUCTION, PATCH, SILENCE
from softlookup.tasks.ch17_looking_inside.probes import PROBE, SELECTIVITY
from softlookup.tasks.ch17_looking_inside.stream import ATTRIBUTE, DIFFERENCE, LENS

TASKS = (LENS, ATTRIBUTE, DIFFERENCE, SILENCE, INDUCTION, PATCH, PROBE, SELECTIVITY, SUPERPOSITION, AUTOENCODER, TOP_K)
