"""Benchmarks: what `softlookup bench` measures, each a ratio against a peer in the same run on the same work.

A benchmark is a function that gives a record: plain values by name, ready for JSON. ``BENCHES`` says where each stands
and which options it takes.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

BENCHES = {
    "checks": ("softlookup.bench.checks:bench_checks", ()),
    "judges": ("softlookup.bench.judges:bench_judges", ("peers", "quick", "say")),
    "grading": ("softlookup.bench.grading:bench_grading", ("sources", "config", "quick")),
    "siege": ("softlookup.bench.siege:bench_siege", ("sources", "config", "quick", "say")),
    "book": ("softlookup.bench.site:bench_book", ("root", "quick")),
    "training": ("softlookup.bench.training:bench_training", ("folder", "device", "quick")),
    "decoding": ("softlookup.bench.decoding:bench_decoding", ("device", "quick")),
    "prefill": ("softlookup.bench.prefill:bench_prefill", ("device", "quick")),
    "layers": ("softlookup.bench.layers:bench_layers", ("device", "quick")),
    "norms": ("softlookup.bench.norms:bench_norms", ("device", "quick")),
    "long-attention": ("softlookup.bench.long_attention:bench_long", ("device", "quick")),
    "changed": ("softlookup.bench.changed:bench_changed", ("root", "quick", "kept", "say")),
    "inside": ("softlookup.bench.looking_inside:bench_inside", ("quick", "kept", "say")),
    "positions": ("softlookup.bench.positions:bench_positions", ("quick",)),
    "schedules": ("softlookup.bench.schedules:bench_schedules", ("quick", "kept", "say")),
    "refinement": ("softlookup.bench.refinement:bench_refinement", ()),
    "roofline": ("softlookup.bench.roofline:bench_roofline", ("device", "quick")),
    "batching": ("softlookup.bench.batching:bench_batching", ("device", "quick")),
    "serving": ("softlookup.bench.serving:bench_serving", ("quick",)),
    "digits": ("softlookup.bench.digits:bench_digits", ("quick", "kept", "weights", "say")),
    "pairs": ("softlookup.bench.pairs:bench_pairs", ("quick", "kept", "weights", "say")),
    "int8": ("softlookup.bench.int8:bench_int8", ("folder", "quick", "say")),
    "writer": ("softlookup.bench.writer:bench_writer", ("folder", "quick", "say")),
    "talk": ("softlookup.bench.talk:bench_talk", ("quick",)),
    "capstone": ("softlookup.bench.capstone:bench_own", ("quick", "say")),
}
"""Name -> where the function stands, and the options that it takes."""


def run(name: str, options: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Run a benchmark.

    Args:
        name: One of ``BENCHES``.
        options: What gives each option; a benchmark asks for its own.

    Returns:
        The record.
    """
    place, takes = BENCHES[name]
    module, _, function = place.partition(":")
    return dict(getattr(import_module(module), function)(**{one: options[one]() for one in takes}))


def refusals(name: str) -> tuple[type[Exception], ...]:
    """The exceptions of a benchmark that say what its user can mend; any other is a mistake of its own."""
    if name == "book":
        from softlookup.bench.site import BuildFailed, NoBrowser

        return BuildFailed, NoBrowser
    missing = (FileNotFoundError, ValueError)
    known = {
        "roofline": (ValueError,),
        "refinement": (ModuleNotFoundError,),
        "judges": (ValueError,),
        "talk": (ModuleNotFoundError, ValueError),
        "int8": missing,
        "writer": missing,
    }
    return known.get(name, ())
