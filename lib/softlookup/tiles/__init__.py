"""Kernels in Triton's language, on numpy: recorded, run, and their traffic with main memory counted."""

from softlookup.tiles.inside.language import cdiv, tl
from softlookup.tiles.inside.operations import KernelError
from softlookup.tiles.kernel import Kernel, jit
from softlookup.tiles.on_triton import on_triton
from softlookup.tiles.replay import LaunchError, Step, Traffic

__all__ = ["Kernel", "KernelError", "LaunchError", "Step", "Traffic", "cdiv", "jit", "on_triton", "tl"]
