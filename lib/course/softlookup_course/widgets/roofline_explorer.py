"""A transformer's layer under a roof: every operation a point, on a machine and with sizes of the reader's choice."""

from collections.abc import Sequence
from html import escape
from typing import Any

import traitlets

from softlookup import roofline as rl
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

PHASES = ("prefill", "decode")
"""All tokens of a prompt at once; or one new token for each sequence, with the others' keys and values kept."""
BYTES = {"float64": 8, "float32": 4, "tf32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
"""Bytes of a number in memory; tf32 is float32 that is rounded inside the units. float4, in which nobody keeps a whole
layer's tensors, is left out."""
START = {"B": 1, "S": 1024, "N": 32, "H": 128}
"""Sequences, tokens, heads, head width that are shown first; the hidden width is four times N * H."""


def describe(
    machine: rl.Hardware, dtype: str, batch: int, tokens: int, n_heads: int, head_width: int, phase: str
) -> list[dict[str, Any]]:
    """Compute for each operation of a layer its name, part, flops, bytes, intensity, rate, seconds (least) and bound.

    B sequences, S positions (in decoding one query), model width N * H, hidden width 4 * N * H.
    """
    width = n_heads * head_width
    sizes = rl.TransformerSizes("shown", D=width, N=n_heads, F=4 * width, V=1, L=1)
    queries = tokens if phase == "prefill" else 1
    steps = rl.layer(sizes, batch, queries, cached=tokens - queries, number_bytes=BYTES[dtype])
    return [
        {
            "name": step.name,
            "part": step.part,
            "flops": step.flops,
            "bytes": step.bytes,
            "intensity": step.intensity,
            "rate": rl.attainable_flops_per_s(machine, step.intensity, dtype),
            "seconds": rl.predicted_time_s(machine, step.flops, step.bytes, dtype),
            "bound": rl.bound_by(machine, step.intensity, dtype),
        }
        for step in steps
    ]


def as_record(machine: rl.Hardware) -> dict[str, Any]:
    """What the script has to know of a machine: name, bandwidth, and the kinds of numbers that have a roof."""
    peaks = {dtype: rate for dtype, rate in machine.dense_flops_per_s.items() if dtype in BYTES}
    return {"name": machine.name, "bandwidth": machine.bandwidth_bytes_per_s, "peaks": peaks, "kinds": list(peaks)}


def static_table(machine: rl.Hardware, dtype: str) -> str:
    """Write the first layer that is shown as HTML, for readers whose browser runs no script."""
    rows = (
        (row["name"], *(f"{row[key]:.3g}" for key in ("flops", "bytes")), f"{row['intensity']:.2f}", row["bound"])
        for row in describe(machine, dtype, START["B"], START["S"], START["N"], START["H"], "prefill")
    )
    sizes = ", ".join(f"{letter} = {value}" for letter, value in START.items())
    sentence = (
        f"<p>One layer on {escape(machine.name)} in {dtype}, {sizes}; the ridge point is at "
        f"{rl.ridge(machine, dtype):.0f} FLOP/B. With scripts switched on, you can choose machine and sizes.</p>"
    )
    return sentence + plain_table(("operation", "FLOP", "bytes", "FLOP/B", "limit"), rows)


class RooflineExplorer(InteractiveFigure):
    """Choose a machine, a number format and sizes, and see every operation of a layer under the roof."""

    machines = traitlets.List(traitlets.Dict(), help="name, bandwidth, peaks by kind, kinds in order").tag(sync=True)
    dtype = traitlets.Unicode("bfloat16", help="the kind of number that is shown first").tag(sync=True)
    number_bytes = traitlets.Dict(default_value=BYTES, help="bytes by kind of number").tag(sync=True)
    works = traitlets.Dict(help="elementwise operations on a number, by kind").tag(sync=True)
    sizes = traitlets.Dict(default_value=START, help="B, S, N, H that are shown first").tag(sync=True)

    def __init__(self, machines: Sequence[rl.Hardware], dtype: str = "bfloat16") -> None:
        super().__init__(
            machines=[as_record(machine) for machine in machines],
            dtype=dtype,
            works={name: forward for name, (forward, _) in rl.ELEMENTWISE.items()},
            fallback=static_table(machines[0], dtype),
        )
