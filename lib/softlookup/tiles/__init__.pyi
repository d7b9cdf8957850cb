# The names of the package; `softlookup.lazily` reads them here, and so do type checkers.

from softlookup.tiles.inside.language import cdiv as cdiv
from softlookup.tiles.inside.language import tl as tl
from softlookup.tiles.inside.values import KernelError as KernelError
from softlookup.tiles.kernel import Kernel as Kernel
from softlookup.tiles.kernel import jit as jit
from softlookup.tiles.on_triton import on_triton as on_triton
from softlookup.tiles.replay import LaunchError as LaunchError
from softlookup.tiles.replay import Step as Step
from softlookup.tiles.replay import Traffic as Traffic
