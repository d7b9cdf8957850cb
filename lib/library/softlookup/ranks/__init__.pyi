# The names of the package; `softlookup_inside.lazily` reads them here, and so do type checkers.

from softlookup.ranks.in_process import run_here as run_here
from softlookup.ranks.links import LinkSpeed as LinkSpeed
from softlookup.ranks.on_torch import ProcessError as ProcessError
from softlookup.ranks.on_torch import run_on_torch as run_on_torch
from softlookup.ranks.records import WorldError as WorldError
from softlookup.ranks.rendezvous import LinkTraffic as LinkTraffic
from softlookup.ranks.world import WorldOutcome as WorldOutcome
from softlookup_inside.ranks.recording import RankError as RankError
