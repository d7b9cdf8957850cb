"""Parallel programs, rank by rank: run on numpy, their messages delivered, checked and counted."""

from softlookup.ranks.in_process import run_here
from softlookup.ranks.inside.recording import RankError
from softlookup.ranks.links import LinkSpeed
from softlookup.ranks.on_torch import ProcessError, run_on_torch
from softlookup.ranks.records import WorldError
from softlookup.ranks.rendezvous import LinkTraffic
from softlookup.ranks.world import WorldOutcome

__all__ = [
    "LinkSpeed",
    "LinkTraffic",
    "ProcessError",
    "RankError",
    "WorldError",
    "WorldOutcome",
    "run_here",
    "run_on_torch",
]
