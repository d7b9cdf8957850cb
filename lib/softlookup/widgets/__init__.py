"""Interactive figures: Python computes the numbers, the browser shows and explains them.

Where a reader may drag or type, the script computes as well, and a browser test compares it with the library.
"""

from softlookup.widgets.attention_steps import AttentionSteps, Example
from softlookup.widgets.batching_explorer import BatchingExplorer
from softlookup.widgets.beam_tree import BeamTree
from softlookup.widgets.cache_growth import CacheGrowth
from softlookup.widgets.encoder_stepper import EncoderStepper, LayerExample
from softlookup.widgets.first_lookup import FirstLookup
from softlookup.widgets.head_shapes import HeadShapes, Sizes
from softlookup.widgets.lookup_plane import LookupPlane, Store
from softlookup.widgets.machine_map import MachineMap
from softlookup.widgets.mask_builder import Look, MaskBuilder
from softlookup.widgets.memory_explorer import MemoryExplorer
from softlookup.widgets.patch_explorer import PatchExplorer, Picture
from softlookup.widgets.position_explorer import PositionExplorer
from softlookup.widgets.product_shapes import ProductShapes
from softlookup.widgets.rate_explorer import RateExplorer
from softlookup.widgets.roofline_explorer import RooflineExplorer
from softlookup.widgets.sampling_explorer import Choice, SamplingExplorer
from softlookup.widgets.tokenizer import Learned, TokenizerFigure

__all__ = [
    "RateExplorer",
    "AttentionSteps",
    "BeamTree",
    "CacheGrowth",
    "Choice",
    "BatchingExplorer",
    "EncoderStepper",
    "Example",
    "FirstLookup",
    "HeadShapes",
    "LayerExample",
    "Learned",
    "Look",
    "LookupPlane",
    "MachineMap",
    "PatchExplorer",
    "Picture",
    "PositionExplorer",
    "MaskBuilder",
    "MemoryExplorer",
    "ProductShapes",
    "SamplingExplorer",
    "RooflineExplorer",
    "Sizes",
    "Store",
    "TokenizerFigure",
]
