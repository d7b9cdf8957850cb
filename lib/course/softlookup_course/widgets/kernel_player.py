"""A kernel, played: tiles between main memory and chip, and what they do to bytes, operations and the roofline."""

import inspect
import textwrap
from collections.abc import Mapping
from html import escape
from typing import Any

import traitlets

from softlookup.roofline import Hardware, attainable_flops_per_s, bound_by, hardware, ridge
from softlookup.tiles import Kernel
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table
from softlookup_course.widgets.kernel_recording import film
from softlookup_course.widgets.played_kernels import KERNELS, PlayedKernel

DTYPE = "float32"
"""The kind of numbers of the kernels that are shown; with it goes the roof."""
STARTING_TILE = 32
"""The size of a tile that is shown first, if a kernel has it."""


def describe(played: PlayedKernel, machine: Hardware, dtype: str = DTYPE) -> list[dict[str, Any]]:
    """Launch a kernel with each size of a tile, and give every number that the figure shows, bytes and FLOP/s."""
    launches = []
    for tile in played.tiles:
        grid, keywords = played.launch(tile)
        traffic, recording = film(played.kernel, grid, **keywords)
        numbers = {
            "tile": tile,
            "read": traffic.read_bytes,
            "written": traffic.written_bytes,
            "least": traffic.unique_read_bytes,
            "flops": traffic.flops,
            "chip": traffic.chip_bytes,
            "intensity": traffic.intensity,
            "rate": attainable_flops_per_s(machine, traffic.intensity, dtype),
            "bound": bound_by(machine, traffic.intensity, dtype),
        }
        launches.append(numbers | recording)
    return launches


def text_of(kernel: Kernel) -> str:
    """The text of a kernel; empty where Python does not know it."""
    try:
        return textwrap.dedent(inspect.getsource(kernel.function)).strip()
    except OSError:
        return ""


def static_table(kernels: list[dict[str, Any]], machine: str) -> str:
    """Write what each kernel costs as HTML, for readers whose browser runs no script."""
    head = ("kernel", "tile", "bytes read", "bytes written", "most bytes on chip", "FLOP/B", "limit")
    rows = (
        (
            kernel["title"],
            launch["tile"] or "one",
            *(f"{launch[name]:,}" for name in ("read", "written", "chip")),
            f"{launch['intensity']:.2f}",
            launch["bound"],
        )
        for kernel in kernels
        for launch in kernel["launches"]
    )
    sentence = (
        f"<p>What kernels move between main memory and chip, by the size of their tiles; the limit is that of "
        f"{machine} in the roofline model. With scripts switched on, you can play each kernel tile by tile.</p>"
    )
    return sentence + plain_table(head, rows)


class KernelPlayer(InteractiveFigure):
    """Play a kernel: tiles move between main memory and chip, bytes are counted, and the roofline shows what they cost.

    Kernels are names of ``played_kernels.KERNELS``, or come with their launches by such names.
    """

    kernels = traitlets.List(traitlets.Dict(), help="title, text, tile_name and launches of each").tag(sync=True)
    machine = traitlets.Dict(help="name, kind of number, peak, bandwidth and ridge").tag(sync=True)
    starting_tile = traitlets.Int(STARTING_TILE, help="the size of a tile that is shown first").tag(sync=True)

    def __init__(
        self,
        kernels: Mapping[str, PlayedKernel] | tuple[str, ...] = tuple(KERNELS),
        machine: Hardware | None = None,
        dtype: str = DTYPE,
    ) -> None:
        machine = hardware("A100 80GB SXM") if machine is None else machine
        played = dict(kernels) if isinstance(kernels, Mapping) else {name: KERNELS[name] for name in kernels}
        for name, kernel in played.items():
            if not kernel.tiles:
                raise ValueError(f"the kernel {name!r} has no size of a tile, wanted at least one")
        kernel_facts = [
            {
                "name": name,
                "title": kernel.title,
                "text": text_of(kernel.kernel),
                "tile_name": kernel.tile_name,
                "launches": describe(kernel, machine, dtype),
            }
            for name, kernel in played.items()
        ]
        roof = {"peak": machine.peak_flops_per_s(dtype), "bandwidth": machine.bandwidth_bytes_per_s}
        super().__init__(
            kernels=kernel_facts,
            machine={"name": machine.name, "dtype": dtype, "ridge": ridge(machine, dtype), **roof},
            fallback=static_table(kernel_facts, escape(f"{machine.name} in {dtype}")),
        )

    @classmethod
    def of(cls, kernel: Kernel, grid: Any, /, *args: Any, **keywords: Any) -> "KernelPlayer":
        """Play a kernel of the reader's, on copies of its arrays.

        ``grid`` is how many programs run, or a function that gives it for the arguments by name. One named argument may
        be a tuple of whole numbers, as in ``BLOCK=(32, 64)``: the slider chooses from them. A ValueError if the
        arguments do not fit, or nothing moves; KernelError and LaunchError as for a launch.
        """
        sizes = {name: value for name, value in keywords.items() if isinstance(value, tuple)}
        if len(sizes) > 1:
            raise ValueError(f"one argument may have several sizes, got {', '.join(sizes)}")
        for name, tiles in sizes.items():
            if not all(isinstance(tile, int) for tile in tiles):
                raise ValueError(f"`{name}` is a tuple of whole numbers, got {tiles!r}")
        bound = inspect.signature(kernel.function).bind(*args, **keywords).arguments

        def launch(tile: int) -> tuple[Any, dict[str, Any]]:
            return grid, dict(bound) | dict.fromkeys(sizes, tile)

        name, tiles = kernel.function.__name__, next(iter(sizes.values()), (0,))
        return cls({name: PlayedKernel(f"kernel {name}", kernel, launch, tiles, "".join(sizes))})
