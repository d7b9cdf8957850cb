"""The kernels of ``kernels.py`` with Triton's names in place of the library's, on its interpreter or compiled."""

import importlib.util
import os
import sys
import types
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

INTERPRETED, COMPILED = "1", "0"


def import_triton(mode: str) -> Any:
    """Triton, which decides once for a process whether it interprets kernels or compiles them."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed: `make test-long` adds it on Linux")
    if "triton" not in sys.modules:
        os.environ["TRITON_INTERPRET"] = mode
    elif os.environ.get("TRITON_INTERPRET", COMPILED) != mode:
        pytest.skip("Triton was imported to do the other in this process: run these tests alone")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("triton")


def kernels_for_triton(triton: Any) -> Any:
    """The module of kernels, with Triton's ``jit`` and ``tl``."""
    names = types.SimpleNamespace(jit=triton.jit, tl=triton.language)
    spec = importlib.util.spec_from_file_location("kernels_for_triton", Path(__file__).with_name("kernels.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {"softlookup.tiles": names}):
        spec.loader.exec_module(module)
    return module


def launched(kernel: Any, grid: tuple[int, ...], args: Sequence[Any], named: dict[str, Any], device: str) -> list[Any]:
    """What a launch by Triton leaves in copies of the arrays."""
    copies = [torch.from_numpy(arg.copy()).to(device) if isinstance(arg, np.ndarray) else arg for arg in args]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        kernel[grid](*copies, **named)
    return [copy.cpu().numpy() if isinstance(copy, torch.Tensor) else copy for copy in copies]
