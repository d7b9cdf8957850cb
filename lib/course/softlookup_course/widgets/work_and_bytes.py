"""Work against bytes: three computations on square matrices, and what each waits for as the matrices grow."""

from dataclasses import replace
from html import escape
from typing import Any

import traitlets

from softlookup.roofline import FLOAT_BYTES, Hardware, Moved, Operation, predicted_time_s, product
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

SIDES = tuple(2**power for power in range(2, 15))
DTYPE = "float32"


def computations(side: int) -> list[Operation]:
    """Count x + y, A x and A B for square matrices (n, n) and vectors (n,) in float32."""
    a, b, c = (Moved(name, (side, side), FLOAT_BYTES) for name in "ABC")
    x, y = (Moved(name, (side,), FLOAT_BYTES) for name in "xy")
    return [
        Operation("matrix + matrix", 0, side**2, (a, b), (c,)),
        product("matrix × vector", a, x, y, side),
        product("matrix × matrix", a, b, c, side),
    ]


def describe(machine: Hardware, side: int, *, faster_units: int = 1, faster_memory: int = 1) -> list[dict[str, Any]]:
    """Compute for each computation name, flops, bytes, intensity, and the seconds computing, moving and least."""
    changed = replace(
        machine,
        dense_flops_per_s={DTYPE: faster_units * machine.peak_flops_per_s(DTYPE)},
        bandwidth_bytes_per_s=faster_memory * machine.bandwidth_bytes_per_s,
    )
    return [
        {
            "name": step.name,
            "flops": step.flops,
            "bytes": step.bytes,
            "intensity": step.intensity,
            "computing": predicted_time_s(changed, step.flops, 0, DTYPE),
            "moving": predicted_time_s(changed, 0, step.bytes, DTYPE),
            "least": predicted_time_s(changed, step.flops, step.bytes, DTYPE),
        }
        for step in computations(side)
    ]


def _time(seconds: float) -> str:
    size, unit = next(
        (pair for pair in ((1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")) if seconds >= pair[0]), (1e-12, "ps")
    )
    return f"{seconds / size:.3g} {unit}"


def static_table(machine: Hardware) -> str:
    """Write a small and a large side as HTML, for readers whose browser runs no script."""
    rows = (
        (row["name"], f"{side:,}", f"{row['intensity']:.2f}", *(_time(row[part]) for part in ("computing", "moving")))
        for side in (4, 4096)
        for row in describe(machine, side)
    )
    sentence = (
        f"<p>Least times on {escape(machine.name)} in {DTYPE}: the longer of computing and moving. With scripts "
        "switched on, you can choose the side of the matrices.</p>"
    )
    return sentence + plain_table(("computation", "side", "FLOP/B", "computing", "moving"), rows)


class WorkAndBytes(InteractiveFigure):
    """Let square matrices grow, and see for three computations whether arithmetic or memory takes longer."""

    machine = traitlets.Unicode(help="the machine's name").tag(sync=True)
    peak = traitlets.Float(help="operations per second in float32").tag(sync=True)
    bandwidth = traitlets.Float(help="bytes per second").tag(sync=True)
    sides = traitlets.List(traitlets.Int(), list(SIDES), help="sides to choose from").tag(sync=True)

    def __init__(self, machine: Hardware) -> None:
        super().__init__(
            machine=machine.name,
            peak=machine.peak_flops_per_s(DTYPE),
            bandwidth=machine.bandwidth_bytes_per_s,
            fallback=static_table(machine),
        )
