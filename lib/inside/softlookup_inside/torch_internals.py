"""What this library uses of torch that torch promises to nobody, here alone: each with another way, or a sentence."""

import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

GATES_PLACE = "AutocastIPU"
"""A place in torch's dispatcher that every operation comes past once a thread asks for it, at which nothing else
stands, since it belongs to a kind of processor that torch itself does not come with."""

_FOR_GATES = (
    "DispatchKey",
    "_VariableFunctions",
    "_nn",
    "_dispatch_get_all_op_names",
    "_dispatch_keyset_full_after",
    "_dispatch_tls_is_dispatch_key_excluded",
    "_dispatch_tls_is_dispatch_key_included",
    "_dispatch_tls_set_dispatch_key_excluded",
    "_dispatch_tls_set_dispatch_key_included",
)
"""Names of ``torch._C`` by which operations are led past gates."""


@functools.cache
def dispatcher() -> Any:
    """The part of torch by which operations are led past gates; RuntimeError if it lacks a name: none may stay open."""
    import torch

    gone = [name for name in _FOR_GATES if not hasattr(torch._C, name)]
    if not gone and not hasattr(torch._C.DispatchKey, GATES_PLACE):
        gone = [f"DispatchKey.{GATES_PLACE}"]
    if gone:
        raise _needs(f"torch._C.{gone[0]}", "by which forbidden functions are kept out")
    return torch._C


@functools.cache
def dispatch_mode() -> Any:
    """The class whose instances see each operation of torch, to count products; RuntimeError if this torch has none."""
    try:
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError:
        raise _needs("torch.utils._python_dispatch", "by which products are counted") from None

    class Mode(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # or torch imports its compiler at the first count, some 800 modules

    return Mode


def operation_name(operation: Any) -> str:
    """The full name of an operation that a mode is handed, "aten::mm"."""
    schema = getattr(operation, "_schema", None)
    return str(operation).replace(".", "::", 1).partition(".")[0] if schema is None else str(schema.name)


def copy_each(targets: Sequence["Tensor"], parts: Sequence["Tensor"]) -> None:
    """Copy each part into the place of the same shape: in one call where torch has it, else one after the other."""
    import torch

    together = getattr(torch, "_foreach_copy_", None)
    if together is not None:
        together(list(targets), list(parts))
        return
    for target, part in zip(targets, parts, strict=True):
        target.copy_(part)


def packed_weight(w: "Tensor") -> "Tensor":
    """A weight w (D_in, D_out), float32, as oneDNN multiplies it fastest; AttributeError if this torch cannot."""
    import torch

    return torch.ops.mkldnn._reorder_linear_weight(w.detach().T.contiguous())


def product_by_packed(x: "Tensor", packed: "Tensor", b: "Tensor | None") -> "Tensor":
    """X @ w + b of x (B, D_in), by what ``packed_weight`` made of w; b is (D_out,) or None."""
    import torch

    return torch.ops.mkldnn._linear_pointwise(x, packed, b, "none", [], "")


def compiler_is_loaded() -> bool:
    """Whether torch's compiler has been imported in this process; to import it takes a second."""
    return "torch._dynamo" in sys.modules


def _needs(name: str, what_for: str) -> RuntimeError:
    import torch

    return RuntimeError(
        f"torch {torch.__version__} has no {name}, {what_for}: install the torch that softlookup asks for, by "
        "`pip install --upgrade softlookup`"
    )
