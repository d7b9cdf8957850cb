"""Kernels of two files with Triton's names in place of the library's, on its interpreter or compiled."""

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


def kernels_for_triton(triton: Any, file: str = "kernels.py") -> Any:
    """A module of kernels, with Triton's ``jit`` and ``tl``."""
    names = types.SimpleNamespace(jit=triton.jit, tl=triton.language)
    spec = importlib.util.spec_from_file_location("kernels_for_triton", Path(__file__).with_name(file))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {"softlookup.tiles": names}):
        spec.loader.exec_module(module)
    return module


def kernel_in(path: Path, text: str, jit: Any, tl: Any) -> Any:
    """The function ``kernel`` of a text, which is written to a file, since Triton reads it there."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(jit=jit, tl=tl)
    spec.loader.exec_module(module)
    return module.kernel


def compiled(triton: Any, kernel: Any, args: Sequence[Any], named: dict[str, Any], architecture: int) -> Any:
    """A kernel compiled for a GPU that need not be there."""
    names = kernel.arg_names
    signature = dict.fromkeys(names, "constexpr") | dict(zip(names, map(type_of, args), strict=False))
    constants = {(names.index(name),): value for name, value in named.items()}
    target = triton.backends.compiler.GPUTarget("cuda", architecture, 32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return triton.compile(triton.compiler.ASTSource(kernel, signature, constants), target=target)


def type_of(value: Any) -> str:
    """What a compiled kernel is told of an argument."""
    if isinstance(value, np.ndarray):
        name = value.dtype.name.replace("bool", "int1")
        return "*" + name.replace("float", "fp").replace("uint", "u").replace("int", "i")
    return "i32" if isinstance(value, int) else "fp32"


def launched(kernel: Any, grid: tuple[int, ...], args: Sequence[Any], named: dict[str, Any], device: str) -> list[Any]:
    """What a launch by Triton leaves in copies of the arrays."""
    copies = [torch.from_numpy(arg.copy()).to(device) if isinstance(arg, np.ndarray) else arg for arg in args]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        kernel[grid](*copies, **named)
    return [copy.cpu().numpy() if isinstance(copy, torch.Tensor) else copy for copy in copies]
