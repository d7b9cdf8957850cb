"""The names of ``triton.language`` 3.9 that are not here, and what to write instead."""

import difflib
from collections.abc import Collection, Mapping

_SENTENCES = {
    "atomic_add atomic_and atomic_cas atomic_load atomic_max atomic_min atomic_or atomic_poll atomic_store atomic_xchg "
    "atomic_xor": "programs run one after the other and may not write to one place, so let each store its part, and "
    "put the parts together in a second kernel.",
    "associative_scan map_elementwise reduce": "it takes a function of yours; use tl.sum, tl.max, tl.min, tl.argmax, "
    "tl.cumsum or tl.cumprod.",
    "reduce_or": "for booleans write tl.max(mask.to(tl.int32), axis).",
    "xor_sum": "no kernel of the course needs it.",
    "bitonic_merge sort topk": "take the largest with tl.max and tl.argmax, set it to -inf with tl.where, and repeat.",
    "histogram": "compare with all bins and add up, as in "
    "tl.sum((x[:, None] == tl.arange(0, BINS)[None, :]).to(tl.int32), 0).",
    "inline_asm_elementwise": "it takes the instructions of a GPU; use the functions of tl.",
    "extra": "it holds functions of one vendor's GPUs; use those of tl.math, and write tanh(x) as "
    "2 * tl.sigmoid(2 * x) - 1.",
    "dot_scaled float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16": "numpy has no floats of 8 or 4 bits; use "
    "tl.float16 or tl.bfloat16, or unpack whole numbers as the chapter does.",
    "advance make_block_ptr": "block pointers are refused by Triton 3.9 as well; use pointers and masks, or "
    "tl.make_tensor_descriptor.",
    "load_tensor_descriptor store_tensor_descriptor": "write descriptor.load(offsets) and "
    "descriptor.store(offsets, value).",
    "device_print": "a kernel is recorded before there are numbers; store what you want to see with tl.store, and "
    "print the array after the launch. tl.static_print prints shapes and dtypes.",
    "block_type const constexpr_type dtype pi32_t pointer_type slice str_to_ty tensor tensor_descriptor "
    "tensor_descriptor_type tuple tuple_type void": "it is a type of Triton's compiler; a kernel needs "
    "tl.constexpr and the dtypes alone.",
    "TRITON_MAX_TENSOR_NUMEL": "a tile here may hold 131,072 numbers.",
    "aggregate_replace": "it changes an object of triton.aggregate; hand over the numbers one by one.",
    "condition": "it gives hints to the compiler; write `while x:`.",
    "expect_zero": "it serves Triton's own checks; leave it out.",
    "target_info": "it asks which GPU there is; there is none.",
    "core random semantic standard": "it is a module inside of Triton; its names stand in tl itself.",
}

REASONS: Mapping[str, str] = {name: sentence for names, sentence in _SENTENCES.items() for name in names.split()}
"""For each name that Triton has and that is not here what to write instead."""

_METHOD_REASONS: Mapping[str, str] = {
    **REASONS,
    "item": "the number is not known while the kernel is built; go on with the tile.",
    "logical_and": "write `a & b` with booleans.",
    "logical_or": "write `a | b` with booleans.",
    "store": "write tl.store(pointer, value).",
}
"""The same of the methods of a tile."""

_NEAR = 0.8
"""How alike two names are at least, where one is taken for a misspelt other: below it are ``sin`` and ``min``."""


def refusal(name: str, here: Collection[str], prefix: str = "tl.") -> str:
    """What is said of a name of ``tl`` that is not among those that are here."""
    module = prefix.rstrip(".")
    if name in REASONS and prefix == "tl.":
        return f"{module} has no {name!r} here, where Triton has it: {REASONS[name]}"
    near = difflib.get_close_matches(name, here, 1, _NEAR)
    if near:
        return f"{module} has no {name!r} here: did you mean {prefix}{near[0]}?"
    return (
        f"{module} has no {name!r}, and neither has Triton 3.9: write it with what there is, such as tl.exp and tl.sum."
    )


def refusal_of_method(name: str, here: Collection[str]) -> str:
    """What is said of a method or attribute of a tile that is not among those that are here."""
    if name in _METHOD_REASONS:
        return f"a tile has no {name!r} here, where Triton has it: {_METHOD_REASONS[name]}"
    near = difflib.get_close_matches(name, (*here, "dtype", "numel", "shape"), 1, _NEAR)
    if near:
        return f"a tile has no {name!r}: did you mean {near[0]!r}?"
    return (
        f"a tile has no {name!r}, and neither has Triton 3.9: write it with what there is, such as tl.exp and tl.sum."
    )
