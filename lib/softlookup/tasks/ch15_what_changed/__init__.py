"""Chapter 15, what changed since the lectures: its tasks in the order of the notebook."""

from softlookup.tasks.ch15_what_changed.caches import DELTA, FORK, LAYERS, PAGES, QUANTISED, RING
from softlookup.tasks.ch15_what_changed.configs import CACHE, HYBRID, OPERATIONS, PARAMETERS
from softlookup.tasks.ch15_what_changed.drafts import ACCEPT, MTP_INPUT, SPECULATE
from softlookup.tasks.ch15_what_changed.experts import MIXTURE, ROUTE
from softlookup.tasks.ch15_what_changed.formats import BLOCK_SCALES
from softlookup.tasks.ch15_what_changed.heads import INDEXED, LATENT, NORMS, SINKS
from softlookup.tasks.ch15_what_changed.layers import PER_LAYER
from softlookup.tasks.ch15_what_changed.rates import MUON, SCHEDULE, YARN

TASKS = (
    ROUTE,
    MIXTURE,
    LATENT,
    SINKS,
    NORMS,
    LAYERS,
    RING,
    YARN,
    ACCEPT,
    SPECULATE,
    MTP_INPUT,
    QUANTISED,
    BLOCK_SCALES,
    DELTA,
    HYBRID,
    PER_LAYER,
    PAGES,
    FORK,
    INDEXED,
    MUON,
    SCHEDULE,
    PARAMETERS,
    CACHE,
    OPERATIONS,
)
