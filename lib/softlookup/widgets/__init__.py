"""Interactive figures: Python computes the numbers, the browser shows and explains them.

Where a reader may drag or type, the script computes as well, and a browser test compares it with the library.
"""

from softlookup.widgets.attention_steps import AttentionSteps, Example
from softlookup.widgets.tokenizer import Learned, TokenizerFigure

__all__ = ["AttentionSteps", "Example", "Learned", "TokenizerFigure"]
from softlookup.widgets.head_shapes import HeadShapes, Sizes

__all__ = ["AttentionSteps", "Example", "HeadShapes", "Sizes"]
from softlookup.widgets.lookup_plane import LookupPlane, Store

__all__ = ["AttentionSteps", "Example", "LookupPlane", "Store"]
from softlookup.widgets.machine_map import MachineMap

__all__ = ["AttentionSteps", "Example", "MachineMap"]
from softlookup.widgets.product_shapes import ProductShapes

__all__ = ["AttentionSteps", "Example", "ProductShapes"]
