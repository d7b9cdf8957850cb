# The names of the package; `softlookup_inside.lazily` reads them here, and so do type checkers.

from softlookup.tiles.kernel import Kernel as Kernel
from softlookup.tiles.kernel import jit as jit
from softlookup.tiles.on_triton import on_triton as on_triton
from softlookup.tiles.replay import LaunchError as LaunchError
from softlookup.tiles.replay import Step as Step
from softlookup.tiles.replay import Traffic as Traffic
from softlookup_inside.tiles.language import cdiv as cdiv
from softlookup_inside.tiles.language import tl as tl
from softlookup_inside.tiles.values import KernelError as KernelError
