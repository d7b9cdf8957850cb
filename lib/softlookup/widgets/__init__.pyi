# The names of the package; `softlookup.lazily` reads them here, and so do type checkers.

from softlookup.widgets.attention_steps import AttentionSteps as AttentionSteps
from softlookup.widgets.attention_steps import Example as Example
from softlookup.widgets.batching_explorer import BatchingExplorer as BatchingExplorer
from softlookup.widgets.beam_tree import BeamTree as BeamTree
from softlookup.widgets.cache_growth import CacheGrowth as CacheGrowth
from softlookup.widgets.encoder_stepper import EncoderStepper as EncoderStepper
from softlookup.widgets.encoder_stepper import LayerExample as LayerExample
from softlookup.widgets.first_lookup import FirstLookup as FirstLookup
from softlookup.widgets.head_shapes import HeadShapes as HeadShapes
from softlookup.widgets.head_shapes import Sizes as Sizes
from softlookup.widgets.lookup_plane import LookupPlane as LookupPlane
from softlookup.widgets.lookup_plane import Store as Store
from softlookup.widgets.machine_map import MachineMap as MachineMap
from softlookup.widgets.mask_builder import Look as Look
from softlookup.widgets.mask_builder import MaskBuilder as MaskBuilder
from softlookup.widgets.memory_explorer import MemoryExplorer as MemoryExplorer
from softlookup.widgets.patch_explorer import PatchExplorer as PatchExplorer
from softlookup.widgets.patch_explorer import Picture as Picture
from softlookup.widgets.position_explorer import PositionExplorer as PositionExplorer
from softlookup.widgets.product_shapes import ProductShapes as ProductShapes
from softlookup.widgets.rate_explorer import RateExplorer as RateExplorer
from softlookup.widgets.roofline_explorer import RooflineExplorer as RooflineExplorer
from softlookup.widgets.sampling_explorer import Choice as Choice
from softlookup.widgets.sampling_explorer import SamplingExplorer as SamplingExplorer
from softlookup.widgets.tokenizer import Learned as Learned
from softlookup.widgets.tokenizer import TokenizerFigure as TokenizerFigure
