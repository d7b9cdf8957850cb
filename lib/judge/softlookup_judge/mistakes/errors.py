"""Exceptions of Python, torch and numpy that habits lead to, in words: what they mean, and what to write."""

import re
from collections.abc import Mapping

from softlookup_inside.asking.probe import Failure

_NUMPY_WORDS = "torch calls an axis `dim` and keeps it with `keepdim`, where numpy says `axis` and `keepdims`."
_FROM_THE_END = "count axes from the end, where -1 is the last one."
_HABITS: dict[str, tuple[str, str]] = {
    "axis-not-said": (
        r"missing 1 required positional arguments?: .?dim\b",
        "torch has to be told the axis: pass `dim=`.",
    ),
    "numpy-words": (r"unexpected keyword argument '(axis|keepdims|dim|keepdim)'", _NUMPY_WORDS),
    "numpy-function": (
        r"invalid combination of arguments - got \(.*\bout=NoneType",
        f"A function of numpy was called with a tensor: use torch's. {_NUMPY_WORDS}",
    ),
    "values-and-indices": (
        r"torch\.return_types\.\w+",
        "Along an axis, torch's `max`, `min`, `sort`, `topk` and `median` give values and indices: take `.values` or "
        "`.indices`.",
    ),
    "two-axes-only": (
        r"(self|mat2|input) must be a matrix|t\(\) expects a tensor with <= 2 dimensions",
        "`mm`, `mv` and `t` take matrices alone: `@` and `.mT` take any number of axes in front.",
    ),
    "three-axes-only": (
        r"batch[12] must be a 3D tensor",
        "`bmm` takes exactly one axis in front of the matrices: `@` takes any number of them.",
    ),
    "fixed-axis": (
        r"Dimension out of range \(expected .* but got \d|axis \d+ is out of bounds for array of dimension",
        f"There is no axis of that number in every question: {_FROM_THE_END}",
    ),
    "fixed-axes": (
        r"does not match the length of the desired ordering|axes don't match array",
        "`permute`, and `transpose` in numpy, name all axes, and there may be more or fewer: swap two, counted from "
        "the end.",
    ),
    "fixed-shape": (
        r"values to unpack \(expected \d.*\bshape\b",
        f"The number of axes is not always the one that is unpacked from `shape` here: {_FROM_THE_END}",
    ),
    "number-for-tensor": (
        r"argument '(input|self)' \(position 1\) must be Tensor, not (int|float)",
        "torch's functions take tensors, and this is a plain number: use `math`, or `** 0.5` for a root.",
    ),
    "method-not-called": (
        r"'(builtin_function_or_method|method)' object is not subscriptable",
        "A method is called with round brackets, as in `x.size(-1)`; `x.shape[-1]` is no method.",
    ),
    "shape-called": (
        r"'torch\.Size' object is not callable|'tuple' object is not callable.*\.shape\(",
        "`x.shape` is no method: write `x.shape[-1]`, or `x.size(-1)`.",
    ),
    "truth-of-many": (
        r"[Bb]oolean value of Tensor with more than one value|truth value of an array with more than one element",
        "`if`, `and`, `or`, `not`, `min` and `max` of Python ask for one truth value: use `torch.where` (`np.where`), "
        "`&`, `|` and `~`, or `.any()` and `.all()`.",
    ),
    "numpy-method": (
        r"'Tensor' object has no attribute '(astype|copy)'",
        "That is a method of numpy's arrays: tensors have `.to(dtype)` and `.clone()`.",
    ),
    "torch-method": (
        r"'numpy\.ndarray' object has no attribute '\w+'",
        "This is a numpy array, and that is none of its methods: torch's tensors have some that arrays have not.",
    ),
    "view-for-reshape": (
        r"view size is not compatible with input tensor's size and stride",
        "After a transpose the numbers do not lie in their order in memory: use `reshape` in place of `view`.",
    ),
    "changed-in-place": (
        r"leaf Variable that requires grad is being used in an in-place operation|modified by an inplace operation",
        "A tensor that the backward pass needs was changed in place (`+=`, `x[i] = …`, a method that ends with `_`): "
        "make a new one.",
    ),
}
_SIDES = "A matrix product needs as many columns on the left as there are rows on the right, and here they differ."
_BROADCAST = "Broadcasting aligns axes from the right: two lengths have to be equal, or one of them 1."
_WHOLE = (
    "An array of whole numbers takes no floats: write `x = x / y` for `x /= y`, and so for `+=`, `-=` and `*=`. That "
    "makes a new array, which holds floats."
)
_OTHERS: tuple[tuple[str, str], ...] = (
    (r"Cannot cast ufunc '\w+' output from .*float.* to .*int|result type Float can't be cast to .*(Long|Int)", _WHOLE),
    (
        r"mat1 and mat2 shapes cannot be multiplied|first two dimensions of batch2 tensor|in its core dimension 0",
        _SIDES,
    ),
    (r"must match the size of tensor b|could not be broadcast together", _BROADCAST),
)

SAYS = {name: sentence for name, (_, sentence) in _HABITS.items()}
"""What is said of habits that show as an exception."""


def habit_of(message: str, where: str) -> str:
    """The habit behind an exception's message and the line that raised it; empty where there may be several."""
    text = f"{message} {where}"
    return next((name for name, (pattern, _) in _HABITS.items() if re.search(pattern, text)), "")


def meaning(message: str, where: str) -> str:
    """What an exception (its kind and message, and the line that raised it) means, in a sentence; empty for most."""
    if name := habit_of(message, where):
        return SAYS[name]
    return next((sentence for pattern, sentence in _OTHERS if re.search(pattern, message)), "")


def whose(failure: Failure, task_ids: Mapping[str, str]) -> str:
    """Say which earlier task asks for the function that a failure names, and what to do; empty if it names none."""
    name = next((name for name in failure.elsewhere if name in task_ids), "")
    if not name:
        return ""
    what = "write that first" if failure.calls_blank else "look there, and at what you hand over to it"
    return f"`{name}` is your answer to task {task_ids[name]}: {what}."
