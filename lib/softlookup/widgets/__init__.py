"""Interactive figures: Python computes the numbers, the browser shows and explains them.

Where a reader may drag or type, the script computes as well, and a browser test compares it with the library.
"""

from softlookup.widgets.attention_steps import AttentionSteps, Example
from softlookup.widgets.encoder_stepper import EncoderStepper, LayerExample
from softlookup.widgets.head_shapes import HeadShapes, Sizes
from softlookup.widgets.lookup_plane import LookupPlane, Store
from softlookup.widgets.machine_map import MachineMap
from softlookup.widgets.mask_builder import Look, MaskBuilder
from softlookup.widgets.position_explorer import PositionExplorer
from softlookup.widgets.product_shapes import ProductShapes
from softlookup.widgets.tokenizer import Learned, TokenizerFigure

__all__ = [
    "AttentionSteps",
    "EncoderStepper",
    "Example",
    "HeadShapes",
    "LayerExample",
    "Learned",
    "Look",
    "LookupPlane",
    "MachineMap",
    "PositionExplorer",
    "MaskBuilder",
    "ProductShapes",
    "Sizes",
    "Store",
    "TokenizerFigure",
]
