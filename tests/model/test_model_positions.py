"""Positions: against the float64 reference and published models; offsets, dtypes and kept rows."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from softlookup.model.parts.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    rotate,
    sinusoidal,
    sinusoids_at,
)
from softlookup.reference import positions as reference
from tests.refusing import refused

B, N, T, D = 2, 3, 5, 8
LAYOUTS = ["interleaved", "halves"]
PAIRINGS = ["neighbours", "halves"]


def tokens(device, dtype=torch.float64):
    return torch.randn(B, T, D, dtype=torch.float64).to(device, dtype)


def heads(device, dtype=torch.float64, length=T):
    return torch.randn(B, N, length, D, dtype=torch.float64).to(device, dtype)


def filled(length=9):
    layer = LearnedPositions(length, D).double()
    return layer


MODULES = {
    **{f"sinusoidal-{layout}": (lambda layout=layout: SinusoidalPositions(D, layout=layout)) for layout in LAYOUTS},
    "learned": filled,
    **{f"rotary-{pairing}": (lambda pairing=pairing: RotaryPositions(D, pairing=pairing)) for pairing in PAIRINGS},
}


def module_and_input(kind, device, dtype=torch.float64):
    module = MODULES[kind]().to(device, dtype)
    return module, heads(device, dtype) if kind.startswith("rotary") else tokens(device, dtype)


# Sinusoids


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("length", "width", "offset", "base"), [(1, 2, 0, 10000.0), (7, 6, 0, 50.0), (5, 8, 90, 10.0)])
def test_sinusoids_equal_the_reference(device, layout, length, width, offset, base):
    options = {"offset": offset, "base": base, "layout": layout}
    got = sinusoidal(length, width, dtype=torch.float64, device=device, **options)
    assert got.device.type == device.type
    np.testing.assert_allclose(got.cpu(), reference.sinusoidal(length, width, **options), rtol=0, atol=1e-12)


def test_halves_equal_a_published_model_and_interleaved_are_the_same_columns(device):
    expected = MarianSinusoidalPositionalEmbedding(40, 12).create_weight()
    got = sinusoidal(40, 12, layout="halves", device=device)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.cpu(), expected, rtol=0, atol=1e-7)
    interleaved = sinusoidal(40, 12, device=device)
    assert torch.equal(torch.cat([interleaved[:, 0::2], interleaved[:, 1::2]], dim=1), got)


def test_angles_of_far_positions_are_exact_whatever_the_result_dtype():
    far = 10**6
    expected = reference.sinusoidal(1, D, offset=far)[0]
    got = sinusoidal(1, D, offset=far, dtype=torch.float32)[0]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7)
    got = SinusoidalPositions(D)(torch.zeros(1, 1, D), offset=far)[0, 0]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sinusoidal_module_adds_the_rows(device, layout):
    x = tokens(device)
    got = SinusoidalPositions(D, base=30.0, layout=layout)(x, offset=2)
    expected = x + sinusoidal(T, D, offset=2, base=30.0, layout=layout, dtype=torch.float64, device=device)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def test_offsets_of_a_batch_give_each_row_its_own_start(device):
    offset = torch.tensor([0, -2, 7], device=device)
    got = sinusoidal(4, D, offset=offset, dtype=torch.float64)
    for row, start in zip(got, (0, -2, 7), strict=True):
        expected = reference.sinusoidal(4, D, offset=start)
        np.testing.assert_allclose(row.cpu(), expected, rtol=0, atol=1e-12)


def test_results_take_the_default_dtype_or_the_one_asked_for():
    assert sinusoidal(2, 4).dtype == torch.float32
    assert sinusoidal(2, 4, dtype=torch.float16).dtype == torch.float16
    assert sinusoids_at(torch.tensor([[1, 2], [3, 4]]), 6).shape == (2, 2, 6)
    assert sinusoids_at(torch.tensor([1]), 4, dtype=torch.float64)[0, 2].item() == pytest.approx(
        np.sin(0.01), abs=1e-15
    )


# Learned rows


def test_learned_rows_are_added_by_position_and_get_the_gradient(device):
    layer, x = filled().to(device), tokens(device)
    got = layer(x, offset=3)
    torch.testing.assert_close(got, x + layer.table[3:8])
    got.backward(torch.ones_like(got))
    expected = torch.zeros(9, D, dtype=torch.float64)
    expected[3:8] = B
    assert torch.equal(layer.table.grad.cpu(), expected)


def test_learned_rows_begin_small_and_serve_up_to_the_last(device):
    layer = LearnedPositions(400, 32)
    for _ in range(2):
        assert layer.table.std().item() == pytest.approx(0.02, rel=0.05)
        nn.init.ones_(layer.table)
        layer.reset_parameters()
    filled(T)(tokens("cpu"))
    filled(T + 2)(tokens("cpu"), offset=2)
    filled(T)(tokens("cpu"), positions=torch.tensor([0, 4, 4, 0, 1]))


# Rotations


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize(("offset", "base"), [(0, 10000.0), (13, 20.0)])
def test_rotation_equals_the_reference(device, pairing, offset, base):
    x = heads(device)
    got = RotaryPositions(D, base=base, pairing=pairing)(x, offset)
    expected = reference.rotary(x.cpu().numpy(), offset=offset, base=base, pairing=pairing)
    np.testing.assert_allclose(got.cpu(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("offset", [0, 29])
def test_halves_equal_llama(device, offset):
    q, k = heads(device, torch.float32), heads(device, torch.float32)
    config = LlamaConfig(hidden_size=N * D, num_attention_heads=N)
    positions = torch.arange(offset, offset + T, device=device)[None].expand(B, T)
    cos, sin = LlamaRotaryEmbedding(config).to(device)(q, positions)
    rotary = RotaryPositions(D, base=config.rope_parameters["rope_theta"], pairing="halves")
    for got, expected in zip((rotary(q, offset), rotary(k, offset)), apply_rotary_pos_emb(q, k, cos, sin), strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_half_precision_turns_by_float32_angles(device, dtype):
    x = heads(device, dtype)
    got = RotaryPositions(D).to(dtype)(x, offset=5000)
    assert got.dtype == dtype
    expected = RotaryPositions(D)(x.double(), offset=5000)
    # In half precision the result is rounded once, at the end: half a unit of its last place.
    limit = (4 if dtype == torch.float32 else 0.51) * torch.finfo(dtype).eps * expected.abs().max().item()
    torch.testing.assert_close(got.double(), expected, rtol=0, atol=limit)


def test_rotate_turns_a_point_by_a_right_angle():
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    cos, sin = torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 0.0]])
    assert rotate(x, cos, sin).tolist() == [[-2.0, 1.0, 3.0, 4.0]]
    assert rotate(x, cos, sin, "halves").tolist() == [[-3.0, 2.0, 1.0, 4.0]]


# What all of them keep


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("offset", [0, 1, 3])
def test_an_offset_equals_a_slice_of_the_whole(device, kind, offset):
    module, x = module_and_input(kind, device)
    whole = module(x)
    torch.testing.assert_close(module(x[..., offset:, :], offset), whole[..., offset:, :], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", MODULES)
def test_offsets_and_positions_in_tensors_equal_rows_one_by_one(device, kind):
    module, x = module_and_input(kind, device)
    each = torch.stack([module(x[b : b + 1], offset)[0] for b, offset in enumerate((0, 4))])
    torch.testing.assert_close(module(x, torch.tensor([0, 4], device=device)), each, rtol=0, atol=1e-12)
    grid = torch.tensor([[0, 1, 2, 3, 4], [4, 5, 6, 7, 8]], device=device)
    torch.testing.assert_close(module(x, positions=grid), each, rtol=0, atol=1e-12)
    line = torch.tensor([3, 0, 0, 8, 1], device=device, dtype=torch.int32)
    got = module(x, positions=line)
    for t, position in enumerate(line.tolist()):
        single = module(x[..., t : t + 1, :], position)
        torch.testing.assert_close(got[..., t : t + 1, :], single, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in MODULES if kind != "learned"])
def test_padding_in_front_leaves_the_sentence_as_it_was(device, kind):
    module, x = module_and_input(kind, device)
    got = module(x, torch.tensor([0, -2], device=device))
    torch.testing.assert_close(got[1:, ..., 2:, :], module(x[1:, ..., 2:, :]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", MODULES)
def test_gradients_pass_through(kind):
    module, x = module_and_input(kind, "cpu")
    assert torch.autograd.gradcheck(module, [x.requires_grad_()])


@pytest.mark.parametrize("kind", [kind for kind in MODULES if kind != "learned"])
def test_kept_rows_grow_and_never_mix_dtypes_nor_modes(device, kind):
    module, x = module_and_input(kind, device)
    fresh = copy.deepcopy(module)
    with torch.inference_mode():
        module(x[..., :2, :])
        module(x)
    module(x.float())
    module(x[..., :1, :], offset=40)
    torch.testing.assert_close(module(x), fresh(x), rtol=0, atol=0)
    y = x.clone().requires_grad_()
    module(y).sum().backward()  # rows kept by inference mode would be refused here
    assert y.grad is not None
    assert not list(module.state_dict())
    short = module(x[..., :1, :], offset=40)
    torch.testing.assert_close(short, fresh(x[..., :1, :], offset=40), rtol=0, atol=0)


def test_rows_are_made_once_while_decoding_goes_on_and_alone_for_far_positions(monkeypatch):
    module = RotaryPositions(D)
    made = []
    make = module._rows
    monkeypatch.setattr(module, "_rows", lambda positions: made.append(len(positions)) or make(positions))
    for step in range(100):
        module(torch.zeros(1, 1, 1, D), offset=step)
    assert sum(made) < 300
    made.clear()
    module(torch.zeros(1, 1, 3, D), offset=10**9)
    assert made == [3]


@pytest.mark.parametrize("kind", MODULES)
def test_dtype_of_the_input_is_kept(device, kind):
    for dtype in (torch.float32, torch.bfloat16):
        module, x = module_and_input(kind, device, dtype)
        assert module(x).dtype == dtype
        assert module(x, torch.tensor([1, 2], device=device)).dtype == dtype


def at(*numbers, dtype=torch.int64, device="cpu"):
    return torch.tensor(numbers, dtype=dtype, device=device)


X, Q = torch.zeros(2, 3, 4), torch.zeros(2, 1, 3, 4)
test_what_does_not_fit_is_named = refused(
    (lambda: sinusoidal(3, 5), "d_model must be even and at least 2, for pairs of numbers; got 5"),
    (lambda: sinusoidal(3, 0), "d_model must be even and at least 2.* got 0"),
    (lambda: sinusoidal(0, 4), "length 0"),
    (lambda: sinusoidal(3, 4, offset=-1), "offset must be at least 0; got -1"),
    (lambda: sinusoidal(3, 4, base=0.0), "base must be positive; got 0.0"),
    (lambda: sinusoidal(3, 4, layout="mixed"), "layout is 'mixed'; wanted interleaved or halves"),
    (lambda: sinusoidal(3, 4, offset=at([1])), r"offset has shape \(1, 1\); wanted a number"),
    (lambda: sinusoidal(3, 4, offset=1.5), TypeError, "offset is 1.5; wanted an integer"),
    (lambda: sinusoids_at(torch.zeros(3), 4), TypeError, "positions has dtype torch.float32; wanted integers"),
    (lambda: SinusoidalPositions(5), "d_model must be even"),
    (lambda: SinusoidalPositions(4, base=-1.0), "base must be positive"),
    (lambda: SinusoidalPositions(4, layout="mixed"), "layout is 'mixed'"),
    (lambda: SinusoidalPositions(6)(X), r"x has shape \(2, 3, 4\); wanted \(B, T, D\) with D = 6"),
    (lambda: SinusoidalPositions(4)(X[0]), r"x has shape \(3, 4\); wanted \(B, T, D\)"),
    (lambda: SinusoidalPositions(4)(X.long()), TypeError, "int64; wanted a floating-point"),
    (lambda: SinusoidalPositions(4)(X, True), TypeError, "offset is True; wanted an integer"),
    (lambda: SinusoidalPositions(4)(X, -1), "offset must be at least 0; got -1"),
    (lambda: SinusoidalPositions(4)(X, at(1)), r"offset has shape \(1,\); .* each sequence, \(2,\)"),
    (lambda: SinusoidalPositions(4)(X, at(1.0, 2.0, dtype=torch.float32)), TypeError, "offset has dtype torch.float32"),
    (lambda: SinusoidalPositions(4)(X, 1, positions=at(0, 1, 2)), "offset or positions, not both"),
    (lambda: SinusoidalPositions(4)(X, at(1, 1), positions=at(0, 1, 2)), "offset or positions, not both"),
    (lambda: SinusoidalPositions(4)(X, positions=at(0, 1)), r"\(2,\); wanted \(3,\) or \(2, 3\)"),
    (lambda: SinusoidalPositions(4)(X, positions=torch.zeros(3)), TypeError, "positions has dtype torch.float32"),
    (lambda: SinusoidalPositions(4)(X, positions=at(0, 1, 2, device="meta")), "on meta, x on cpu"),
    (lambda: SinusoidalPositions(4)(X, at(0, 1, device="meta")), "offset is on meta, x on cpu"),
    (lambda: LearnedPositions(0, 4), "max_length 0"),
    (lambda: LearnedPositions(4, 0), "d_model 0"),
    (lambda: LearnedPositions(2, 4)(X), "positions run from 0 to 2; .* max_length = 2"),
    (lambda: LearnedPositions(4, 4)(X, 2), "positions run from 2 to 4; .* max_length = 4 rows, 0 to 3"),
    (lambda: LearnedPositions(4, 4)(X, at(0, 2)), "positions run from 0 to 4; .* max_length = 4"),
    (lambda: LearnedPositions(4, 4)(X, at(0, -1)), "positions run from -1 to 2"),
    (lambda: LearnedPositions(4, 4)(X, positions=at(0, 9, 1)), "positions run from 0 to 9"),
    (lambda: LearnedPositions(4, 6)(X), r"wanted \(B, T, D\) with D = 6"),
    (lambda: LearnedPositions(4, 4)(X.double()), TypeError, "float64, the layer's weights torch.float32"),
    (lambda: LearnedPositions(4, 4)(X.to("meta")), "x is on meta"),
    (lambda: RotaryPositions(5), "head_width must be even and at least 2, for pairs of numbers; got 5"),
    (lambda: RotaryPositions(4, base=0.0), "base must be positive"),
    (lambda: RotaryPositions(4, pairing="thirds"), "pairing is 'thirds'; wanted neighbours or halves"),
    (lambda: RotaryPositions(6)(Q), r"x has shape \(2, 1, 3, 4\); wanted \(B, N, T, H\) with H = 6"),
    (lambda: RotaryPositions(4)(X), r"x has shape \(2, 3, 4\); wanted \(B, N, T, H\)"),
    (lambda: RotaryPositions(4)(Q, positions=at(0)), r"wanted \(3,\) or \(2, 3\)"),
    (lambda: rotate(Q, Q, Q), "4 numbers in a row, beside 4 angles; wanted twice as many"),
    (lambda: rotate(Q, Q[..., :2], Q[..., :2], "thirds"), "pairing is 'thirds'"),
)
