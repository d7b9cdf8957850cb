"""The state of torch and numpy around a check: one thread, gradients switched on, nothing compiled, no warnings."""

import contextlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from softlookup_inside.torch_internals import compiler_is_loaded


@contextlib.contextmanager
def calm_torch() -> Iterator[None]:
    """One thread (small tensors would wait for each other), gradients on, nothing compiled, no warnings of numpy's."""
    if "torch" not in sys.modules and find_spec("torch") is None:
        with np.errstate(all="ignore"):
            yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode(False), torch.enable_grad(), np.errstate(all="ignore"):
            with torch.autograd.set_detect_anomaly(False), uncompiled():
                yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def gradients_as_before() -> Iterator[None]:
    """Whether torch keeps gradients is afterwards what it was: an alarm may fall into the end of ``no_grad()``."""
    torch = sys.modules.get("torch")
    keeps_gradients = torch is not None and torch.is_grad_enabled()
    try:
        yield
    finally:
        if torch is not None:
            torch.set_grad_enabled(keeps_gradients)


@contextlib.contextmanager
def uncompiled() -> Iterator[None]:
    """Run as written what ``torch.compile`` has made, or makes meanwhile; torch's compiler is not imported for it."""
    import torch

    torch_compile: Any = torch.compile
    with contextlib.ExitStack() as stack:

        def in_eager(*args: Any, **kwargs: Any) -> Any:
            compiled = torch_compile(*args, **kwargs)
            stack.enter_context(torch.compiler.set_stance("force_eager"))
            return compiled

        if compiler_is_loaded():
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        torch.compile = in_eager
        try:
            yield
        finally:
            torch.compile = torch_compile
