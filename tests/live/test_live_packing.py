"""The shipped models' int8 weights, and the text that a script carries."""

import zlib

import numpy as np
import pytest
import torch

from softlookup.live import as_text, pack, quantise, rounded
from softlookup.live.packing import UNSAFE
from softlookup.live.rounding import matrices
from softlookup.model import load_translator, load_writer


@pytest.fixture(scope="module", params=[load_translator, load_writer])
def shipped(request):
    return request.param()


def bytes_of(text):
    """Undo as_text in other words: one long binary number."""
    bits = "".join(f"{ord(sign) & 127:07b}" for sign in text)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8))


def test_as_text_comes_back_and_can_stand_in_a_script():
    data = np.random.default_rng(0).integers(0, 256, 3001, dtype=np.uint8).tobytes()
    text = as_text(data)
    assert zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(bytes_of(text)) == data
    assert not set(text) & {chr(sign) for sign in UNSAFE}
    assert len(text.encode()) < 1.22 * len(data)


def test_quantise_is_off_by_half_a_step_at_most():
    w = torch.randn(7, 33)
    numbers, scales = quantise(w)
    assert numbers.dtype == torch.int8 and int(numbers.abs().amax()) == 127
    assert ((numbers * scales[:, None] - w).abs() <= 0.5001 * scales[:, None]).all()


def test_rounded_changes_matrices_alone_and_leaves_the_shipped_model(shipped):
    before = {name: tensor.clone() for name, tensor in shipped.model.state_dict().items()}
    after = rounded(shipped).model
    for name, parameter in after.named_parameters():
        assert torch.equal(parameter, before[name]) == (parameter.ndim == 1), name
    assert all(torch.equal(tensor, before[name]) for name, tensor in shipped.model.state_dict().items())
    for w in matrices(after).values():  # rounding twice is rounding once
        numbers, scales = quantise(w)
        torch.testing.assert_close(numbers * scales[:, None], w, rtol=1e-6, atol=0)


def test_packed_bytes_hold_every_number_once(shipped):
    header, data = pack(shipped)
    whole = sum(outs * ins for _, outs, ins in header["matrices"])
    floats = sum(outs for _, outs, _ in header["matrices"]) + sum(length for _, length in header["vectors"])
    assert len(data) == whole + -whole % 4 + 4 * floats
    names = [name for name, *_ in header["matrices"] + header["vectors"]]
    assert sorted(names) == sorted(name for name, _ in shipped.model.named_parameters())


def test_packed_model_is_under_ten_megabytes(shipped):
    assert len(as_text(pack(shipped)[1]).encode()) < 9.7e6
