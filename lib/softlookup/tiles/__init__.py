"""Kernels in Triton's language, on numpy: recorded, run, and their traffic with main memory counted."""

from softlookup.tiles.inside.language import cdiv, tl
from softlookup.tiles.inside.operations import KernelError
from softlookup.tiles.kernel import Kernel, bytes_of, jit
from softlookup.tiles.replay import LaunchError, Step, Traffic

__all__ = ["Kernel", "KernelError", "LaunchError", "Step", "Traffic", "bytes_of", "cdiv", "jit", "tl"]
