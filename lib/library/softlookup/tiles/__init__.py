"""Kernels in Triton's language, on numpy: recorded, run, and their traffic with main memory counted.

The names stand in ``__init__.pyi``; each is loaded at its first use.
"""

from softlookup_inside.lazily import attach

_UNTIMED = "nothing is timed here, so launch the kernel with sizes of your choice, as in kernel[grid](…, BLOCK=128)"

__all__ = attach(
    __name__,
    {
        **dict.fromkeys(("autotune", "heuristics", "Config"), _UNTIMED),
        "next_power_of_2": "write 1 << (n - 1).bit_length()",
    },
)
