"""What judges of tasks need, torch included, where it is there; importing this module is all it is for."""

import contextlib
import gc

gc.disable()

with contextlib.suppress(ImportError):  # a course without tasks of ours needs no torch
    import torch.fx.experimental.symbolic_shapes  # noqa: F401 - the first backward pass imports it, and 500 more

import softlookup_grader.workers.preloaded  # noqa: E402, F401
