"""Chapter 15, what changed since the lectures: its tasks in the order of the notebook."""

from softlookup.tasks.ch15_what_changed.caches import DELTA, FORK, LAYERS, PAGES, QUANTISED, RING
from softlookup.tasks.ch15_what_changed.configs import CACHE, OPERATIONS, PARAMETERS
from softlookup.tasks.ch15_what_changed.drafts import ACCEPT, SPECULATE
from softlookup.tasks.ch15_what_changed.experts import MIXTURE, ROUTE
from softlookup.tasks.ch15_what_changed.heads import INDEXED, LATENT, NORMS, SINKS
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
    QUANTISED,
    DELTA,
    PAGES,
    FORK,
    INDEXED,
    MUON,
    SCHEDULE,
    PARAMETERS,
    CACHE,
    OPERATIONS,
)
