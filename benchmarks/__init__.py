"""Benchmarks: what `softlookup bench` measures, each a ratio against a peer in the same run on the same work.

A benchmark is a function that gives a record: plain values by name, ready for JSON. ``BENCHES`` says where each stands
and which options it takes.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

BENCHES = {
    "checks": ("benchmarks.checks:bench_checks", ()),
    "judges": ("benchmarks.judges:bench_judges", ("peers", "quick", "say")),
    "strangers": ("benchmarks.strangers:bench_strangers", ("answers", "quick", "say")),
    "grading": ("benchmarks.grading:bench_grading", ("sources", "config", "quick")),
    "stock-courses": ("benchmarks.stock_courses:bench_stock_courses", ("quick", "say")),
    "stock-equality": ("benchmarks.stock_equality:bench_stock_equality", ("quick", "say")),
    "siege": ("benchmarks.siege:bench_siege", ("sources", "config", "quick", "say")),
    "book": ("benchmarks.site:bench_book", ("root", "quick")),
    "training": ("benchmarks.training:bench_training", ("folder", "device", "quick")),
    "gpt2": ("benchmarks.gpt2:bench_gpt2", ("device", "quick", "runs_file", "say")),
    "decoding": ("benchmarks.decoding:bench_decoding", ("device", "quick")),
    "launches": ("benchmarks.launches:bench_launches", ("device", "quick")),
    "prefill": ("benchmarks.prefill:bench_prefill", ("device", "quick")),
    "layers": ("benchmarks.layers:bench_layers", ("device", "quick")),
    "kernels": ("benchmarks.kernels:bench_kernels", ("quick",)),
    "norms": ("benchmarks.norms:bench_norms", ("device", "quick")),
    "long-attention": ("benchmarks.long_attention:bench_long", ("device", "quick")),
    "changed": ("benchmarks.changed:bench_changed", ("root", "quick", "runs_file", "say")),
    "experts": ("benchmarks.experts:bench_experts", ("quick",)),
    "after-pretraining": ("benchmarks.after_pretraining:bench_after", ("quick", "say")),
    "tune": ("benchmarks.tuning:bench_tune", ("quick",)),
    "inside": ("benchmarks.looking_inside:bench_inside", ("quick", "runs_file", "say")),
    "codes": ("benchmarks.looking_inside.codes:bench_codes", ("quick", "runs_file", "say")),
    "patching": ("benchmarks.looking_inside.patching_grid:bench_patching", ("quick", "runs_file", "say")),
    "positions": ("benchmarks.positions:bench_positions", ("quick",)),
    "schedules": ("benchmarks.schedules:bench_schedules", ("quick", "runs_file", "say")),
    "faults": ("benchmarks.faults:bench_faults", ("quick", "runs_file", "say")),
    "decisions": ("benchmarks.decisions:bench_decisions", ("quick", "runs_file", "say")),
    "refinement": ("benchmarks.refinement:bench_refinement", ()),
    "roofline": ("benchmarks.roofline:bench_roofline", ("device", "quick")),
    "batching": ("benchmarks.batching:bench_batching", ("device", "quick")),
    "collectives": ("benchmarks.collectives:bench_collectives", ("quick",)),
    "grid": ("benchmarks.grid:bench_grid", ("quick",)),
    "serving": ("benchmarks.serving:bench_serving", ("quick",)),
    "digits": ("benchmarks.digits:bench_digits", ("quick", "runs_file", "weights", "say")),
    "pairs": ("benchmarks.pairs:bench_pairs", ("quick", "runs_file", "weights", "say")),
    "int8": ("benchmarks.int8:bench_int8", ("folder", "quick", "say")),
    "writer": ("benchmarks.writer:bench_writer", ("folder", "quick", "say")),
    "talk": ("benchmarks.talk:bench_talk", ("quick",)),
    "capstone": ("benchmarks.capstone:bench_own", ("quick", "say")),
}
"""Name -> where the function stands, and the options that it takes."""


def run(name: str, options: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Run one of ``BENCHES``, and give its record; ``options`` gives each option that it asks for."""
    place, takes = BENCHES[name]
    module, _, function = place.partition(":")
    return dict(getattr(import_module(module), function)(**{option: options[option]() for option in takes}))


def refusals(name: str) -> tuple[type[Exception], ...]:
    """The exceptions of a benchmark that say what its user can mend; any other is a mistake of its own."""
    if name == "book":
        from benchmarks.site import BuildFailed, NoBrowser

        return BuildFailed, NoBrowser
    missing = (FileNotFoundError, ValueError)
    known = {
        "roofline": (ValueError,),
        "kernels": (ModuleNotFoundError,),
        "refinement": (ModuleNotFoundError,),
        "judges": (ValueError,),
        "strangers": (ValueError,),
        "stock-courses": (ModuleNotFoundError,),
        "talk": (ModuleNotFoundError, ValueError),
        "tune": (ModuleNotFoundError, ValueError),
        "int8": missing,
        "writer": missing,
    }
    return known.get(name, ())
