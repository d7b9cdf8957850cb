"""Every name of Triton's language is here, or refused with what to write instead; so are keywords and methods."""

import inspect
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from softlookup import tiles
from softlookup.tiles import KernelError, tl
from softlookup_inside.tiles.names import REASONS, refusal, refusal_of_method
from softlookup_inside.tiles.tile import METHODS, ChipTile
from tests.tiles.bodies import launched
from tests.tiles.twice import import_triton


def _public(module: Any) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_")}


HERE = {name for name in vars(tl) if not name.startswith("_")}


@pytest.mark.slow
def test_every_name_of_triton_is_here_or_has_a_reason() -> None:
    triton_language = import_triton("1").language
    assert HERE | set(REASONS) >= _public(triton_language)
    # `advance` was a function, and modules are there once they are imported.
    assert _public(triton_language) | {"advance", "core", "random", "semantic", "standard"} >= HERE | set(REASONS)


@pytest.mark.slow
def test_every_name_of_the_math_module_is_here() -> None:
    math = import_triton("1").language.math
    functions = {name for name in _public(math) if getattr(getattr(math, name), "__module__", "") == math.__name__} - {
        "T"
    }
    assert {name for name in vars(tl.math) if not name.startswith("_")} == functions


@pytest.mark.slow
def test_every_method_of_a_tile_is_here_or_has_a_reason() -> None:
    tensor = import_triton("1").language.tensor
    missing = {name for name in _public(tensor) if name not in METHODS and not hasattr(ChipTile, name)}
    assert {name for name in missing if "where Triton has it" not in refusal_of_method(name, METHODS)} == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name in HERE if inspect.isfunction(getattr(tl, name))))
def test_function_takes_the_arguments_of_triton(name: str) -> None:
    of_library: Any = getattr(import_triton("1").language, name)
    of_triton = inspect.signature(getattr(of_library, "fn", of_library)).parameters.values()
    of_tiles = inspect.signature(getattr(tl, name)).parameters.values()
    expected = [(p.name, p.kind) for p in of_triton if p.name not in ("_semantic", "_generator")]
    assert [(p.name, p.kind) for p in of_tiles] == expected


def test_no_name_is_both_here_and_refused() -> None:
    assert not HERE & set(REASONS)
    assert set(METHODS) <= HERE


def test_reasons_are_whole_sentences_that_fit_behind_a_colon() -> None:
    for reason in REASONS.values():
        assert reason.endswith(".") and reason[0].islower() and len(reason) < 200


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sort", "tl has no 'sort' here, where Triton has it: take the largest with tl.max and tl.argmax"),
        ("make_block_ptr", "block pointers are refused by Triton 3.9 as well"),
        ("float8e5", "use tl.float16 or tl.bfloat16"),
        ("extra", "use those of tl.math"),
        ("lod", "tl has no 'lod' here: did you mean tl.load?"),
        ("progam_id", "did you mean tl.program_id?"),
        ("tanh", "tl has no 'tanh', and neither has Triton 3.9"),
        ("mean", "tl has no 'mean', and neither has Triton 3.9"),
        ("soft", "tl has no 'soft', and neither has Triton 3.9"),
        ("math.sinn", "tl.math has no 'sinn' here: did you mean tl.math.sin?"),
        ("math.tanh", "tl.math has no 'tanh', and neither has Triton 3.9"),
    ],
)
def test_unknown_name_gets_a_reason_or_a_near_name_and_no_list(name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        attrgetter(name)(tl)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("name", ["sin", "sort", "softmax", "atomic_cas", "histogram", "item", "gather", "exec"])
def test_no_other_function_is_suggested_for_one_that_exists(name: str) -> None:
    assert "did you mean" not in refusal(name, HERE - {name})


@pytest.mark.parametrize("name", ["autotune", "heuristics", "Config", "next_power_of_2"])
def test_name_of_the_package_triton_gets_a_reason(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': (nothing is timed here|write )"):
        getattr(tiles, name)


def test_grid_may_depend_on_arguments_by_name() -> None:
    x = np.arange(100, dtype=np.float32)
    out = np.zeros_like(x)
    meta = {"BLOCK": 32}
    doubled[lambda meta: (tiles.cdiv(meta["n"], meta["BLOCK"]),)](x, out, n=100, num_warps=4, num_stages=2, **meta)
    np.testing.assert_array_equal(out, 2 * x)


@tiles.jit
def doubled(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


REFUSED = [
    ("tl.load(x + at, boundary_check=(0,))", "tl.load takes pointer, mask, other, .*unexpected keyword argument"),
    ("tl.load(x + at, cache_modifier='.xy')", r"cache_modifier of tl.load is one of .*'.ca'"),
    ("tl.store(out + at, at, eviction_policy='first')", "eviction_policy of tl.store is one of"),
    ("tl.max(at, 0, return_indices=True, keepdims=True)", "tl.max takes input, axis, return_indices"),
    ("tl.max(at, return_indices=True)", "tl.argmax takes one axis, such as 0 or 1: flatten the tile"),
    ("tl.argmin(at, None)", "tl.argmin takes one axis"),
    ("tl.exp(tl.load(x), tl.load(y))", "tl.exp takes x: too many positional arguments"),
    ("tl.maximum(at, 0, propagate_nan='all')", "propagate_nan of tl.maximum is tl.PropagateNan.ALL or NONE"),
    ("tl.load(x + at).to(tl.float16, 'rtz')", "floats are rounded to the nearest here, 'rtne', not 'rtz'"),
    ("at.to(tl.float16, bitcast=True)", "the bits of int32 are no float16"),
    ("(at > 2).to(tl.int8, bitcast=True)", "the bits of bool are no int8"),
    ("tl.cumsum(at, 1)", r"a tile of shape \(32,\) has no axis 1, which tl.cumsum is called with"),
    ("tl.flip(at, n)", "tl.flip takes one axis, such as 0 or 1"),
    ("tl.softmax(at)", r"tl.exp takes float32, got int32"),
    ("tl.split(at)", r"tl.split takes a tile whose last axis has length 2, got shape \(32,\): reshape it first"),
    ("tl.join(at, at.to(tl.float32))", "tl.join takes two tiles of one dtype, got tl.int32 and tl.float32"),
    ("tl.cat(at, at[None, :])", "tl.cat takes tiles of one shape"),
    ("tl.permute(at[None, :], 0, 0)", "are ordered by each of their numbers once"),
    ("tl.squeeze(at, 0)", "tl.squeeze takes an axis of length 1"),
    ("tl.gather(at, tl.load(x + at), 0)", "tl.gather takes whole numbers of shape"),
    ("tl.gather(at, at[None, :], 0)", "tl.gather takes whole numbers of shape"),
    ("tl.fdiv(at, at)", "tl.fdiv takes floats: write `/`"),
    ("tl.fdiv(at.to(tl.float64), 2.0, True)", "ieee_rounding and approx of tl.fdiv are for float32"),
    ("tl.sqrt_rn(at.to(tl.float64))", "tl.sqrt_rn takes float32, got float64"),
    ("tl.umulhi(at.to(tl.int64), 3)", "tl.umulhi takes int32 or uint32 here, got int64"),
    ("tl.fma(at, at, 2)", "tl.fma takes floats, got int32"),
    ("tl.rand(tl.load(x), at)", "a seed is a whole number, got tl.float32"),
    ("tl.make_tensor_descriptor(x, [n], [2], [32])", "the last stride is the number 1"),
    ("tl.make_tensor_descriptor(x, [4, 5], [5, 1], [4, 4])", "rows lie at multiples of 16 bytes, got a stride of 5"),
    ("tl.make_tensor_descriptor(x, [n], [1], [2])", "a row of a block has at least 16 bytes"),
    ("tl.make_tensor_descriptor(x, [n], [1, 1], [32])", "have one number for each axis, got 1, 2 and 1"),
    ("tl.make_tensor_descriptor(x, [n], [1], [32]).load([1, 2])", "begins at 1 offsets, got"),
    ("tl.make_tensor_descriptor(at, [n], [1], [32])", "takes a pointer to where an array begins"),
]


@pytest.mark.parametrize(("body", "message"), REFUSED, ids=[body for body, _ in REFUSED])
def test_what_a_function_does_not_take_is_refused_with_a_sentence(body: str, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        launched(body)


def test_printing_while_the_kernel_is_built_is_done_once(capsys: pytest.CaptureFixture[str]) -> None:
    launched("tl.static_print('tile', at.shape, BLOCK, sep=': ')")
    assert capsys.readouterr().out == "tile: (32,): 32\n"


def test_hints_change_nothing() -> None:
    tile = "tl.load(x + at, mask=mask, volatile=True, cache_modifier='.cg', eviction_policy='evict_last')"
    hints = f"tl.max_constancy({tile}, [1])\ntl.assume(n > 0)\ntl.device_assert(at < 0, 'no', mask=mask)"
    out, traffic = launched(f"write({hints.partition(chr(10))[0]})\n{hints.partition(chr(10))[2]}")
    np.testing.assert_array_equal(out, np.arange(100))
    assert traffic.read_bytes == 400


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("at.sort()", "a tile has no 'sort' here, where Triton has it: take the largest"),
        ("at.item()", "a tile has no 'item' here, where Triton has it: the number is not known"),
        ("at.sun()", "a tile has no 'sun', and neither has Triton"),
        ("x.dtype.is_fp16()", "the dtype of a pointer has no 'is_fp16': write `.dtype.element_ty`"),
        ("at.dtype.is_fp16()", r"tl.int32 has no 'is_fp16' here: compare dtypes, as in `x.dtype == tl.float16`"),
        ("x.to(tl.float16)", "a pointer has no 'to': read what it points to with tl.load"),
        ("tl.make_tensor_descriptor(x, [n], [1], [32]).gather(at, 0)", "a tensor descriptor has no 'gather' here"),
        ("at.reshap(4, 8)", "a tile has no 'reshap': did you mean 'reshape'"),
    ],
)
def test_unknown_method_says_what_to_write(body: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        launched(body)
