"""Serving a language model to many: a cache of blocks, a queue, a loop, a simulator, and patterns."""

from softlookup.serving.blocks import Blocks, Rows
from softlookup.serving.latency import Latency, latency, percentile
from softlookup.serving.pattern import Automaton, compile_pattern
from softlookup.serving.request import Request
from softlookup.serving.runner import ModelRunner
from softlookup.serving.scheduler import Rules, Scheduler
from softlookup.serving.server import Server
from softlookup.serving.simulator import CostRunner, Costs, poisson_arrivals, simulate
from softlookup.serving.structured import StructuredStep, TokenMasks
from softlookup.serving.timeline import Guest, timelines

__all__ = [
    "Automaton",
    "Blocks",
    "CostRunner",
    "Costs",
    "Guest",
    "Latency",
    "ModelRunner",
    "Request",
    "Rows",
    "Rules",
    "Scheduler",
    "Server",
    "StructuredStep",
    "TokenMasks",
    "compile_pattern",
    "latency",
    "percentile",
    "poisson_arrivals",
    "simulate",
    "timelines",
]
