"""What a decoder keeps: all that was added, in order; and writing with it equals computing everything anew."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lively_weights import lively

from softlookup.model.parts.cache import KVCache, LayerCache
from softlookup.model.parts.config import Config, Positions
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.transformer import Transformer

POSITIONS = list(Positions.__args__)
EXACT = {"rtol": 1e-10, "atol": 1e-10}
SMALL = Config(vocab_size=11, d_model=16, n_heads=4, n_layers=2, d_hidden=20, max_length=24, dropout=0.0)


def piece(b, k, t, h=3):
    return torch.randn(b, k, t, h, dtype=torch.float64)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=8), st.booleans(), st.integers(0, 10**6))
def test_layer_cache_holds_all_that_was_added_in_order(lengths, with_gradients, seed):
    torch.manual_seed(seed)
    cache = LayerCache()
    assert cache.length == 0
    keys = [piece(2, 2, n).requires_grad_(with_gradients) for n in lengths]
    values = [piece(2, 2, n, 4).requires_grad_(with_gradients) for n in lengths]
    for i, (k, v) in enumerate(zip(keys, values, strict=True)):
        k_all, v_all = cache.append(k, v)
        assert torch.equal(k_all, torch.cat(keys[: i + 1], dim=2)) and torch.equal(cache.k, k_all)
        assert torch.equal(v_all, torch.cat(values[: i + 1], dim=2)) and torch.equal(cache.v, v_all)
        assert cache.length == sum(lengths[: i + 1]) and not cache.complete
    if with_gradients:
        (cache.k.sum() + 2 * cache.v.sum()).backward()
        assert all(bool((k.grad == 1).all()) for k in keys) and all(bool((v.grad == 2).all()) for v in values)


def test_adding_token_by_token_copies_seldom():
    cache = LayerCache()
    places = set()
    for _ in range(500):
        cache.append(piece(1, 1, 1), piece(1, 1, 1))
        places.add(cache.k.data_ptr())
    assert len(places) <= 8  # 1, then rooms of 16, 32, 64, ... 512


def test_a_cache_of_an_encoders_keys_is_complete_after_the_first_call():
    cache = LayerCache(once=True)
    assert not cache.complete
    cache.append(piece(1, 1, 3), piece(1, 1, 3))
    assert cache.complete and cache.select(torch.tensor([0, 0])).complete


def test_select_takes_rows_in_order_and_leaves_the_first_cache_alone():
    cache = LayerCache()
    k = piece(3, 2, 4)
    cache.append(k, 2 * k)
    chosen = cache.select(torch.tensor([2, 0, 2, 1]))
    assert torch.equal(chosen.k, k[[2, 0, 2, 1]]) and torch.equal(chosen.v, 2 * k[[2, 0, 2, 1]])
    more = piece(4, 2, 1)
    chosen.append(more, more)
    assert chosen.length == 5 and cache.length == 4 and torch.equal(cache.k, k)
    cache.append(piece(3, 2, 1), piece(3, 2, 1))
    assert torch.equal(chosen.k[:, :, :4], k[[2, 0, 2, 1]])
    assert LayerCache().select(torch.tensor([0])).length == 0


def test_select_of_everything_takes_mask_memory_and_padding_along():
    state = KVCache(2, cross=True, memory_mask=torch.rand(3, 1, 1, 5) < 0.5)
    state.memory, state.padding = torch.randn(3, 5, 4), torch.rand(3, 2) < 0.5
    for layer in (*state.layers, *state.cross):
        layer.append(piece(3, 1, 2), piece(3, 1, 2))
    rows = torch.tensor([1, 1, 0])
    chosen = state.select(rows)
    for name in ("memory", "memory_mask", "padding"):
        assert torch.equal(getattr(chosen, name), getattr(state, name)[rows])
    for got, original in zip((*chosen.layers, *chosen.cross), (*state.layers, *state.cross), strict=True):
        assert torch.equal(got.k, original.k[rows])
    assert chosen.length == 2
    assert KVCache(1).select(rows).cross is None


def test_bytes_are_those_of_the_tokens_kept():
    model = DecoderLM(SMALL.but(n_kv_heads=2)).eval()
    with torch.no_grad():
        _, state = model.step(torch.ones(3, 5, dtype=torch.int64))
        model.step(torch.ones(3, 1, dtype=torch.int64), state)
    # 2 * L * B * K * S * H numbers of 4 bytes; there is room for more, which does not count.
    assert state.bytes == 2 * 2 * 3 * 2 * 6 * 4 * 4


def test_an_empty_or_unfitting_cache_says_so():
    cache = LayerCache()
    for name in ("k", "v"):
        with pytest.raises(ValueError, match="the cache is empty: no keys have been kept yet"):
            getattr(cache, name)
    cache.append(piece(2, 2, 3), piece(2, 2, 3))
    for wrong in (piece(3, 2, 1), piece(2, 1, 1), piece(2, 2, 1, 5)):
        with pytest.raises(ValueError, match=r"keys have shape \(.*\), beside kept ones of \(2, 2, 3, 3\)"):
            cache.append(wrong, wrong[..., :3])
    with pytest.raises(ValueError, match=r"beside kept ones"):
        cache.append(piece(2, 2, 1), piece(2, 2, 1, 5))


# Every kind of positions, with all heads alike and with one pair of keys and values for all, and with a window.
KINDS = [*itertools.product(POSITIONS, (4,), (None,)), *itertools.product(POSITIONS, (1,), (3,)), ("rotary", 2, None)]
# How 7 tokens come in: one by one, and in pieces.
PIECES = [(1,) * 7, (3, 1, 1, 2)]


def steps(model, ids, state, pieces):
    """Feed ids in pieces; return the logits after each piece."""
    seen, logits = 0, []
    for length in pieces:
        row, state = model.step(ids[:, seen : seen + length], state)
        logits.append(row)
        seen += length
    return logits


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("positions", "n_kv_heads", "window"), KINDS)
def test_decoder_with_a_cache_equals_without(positions, n_kv_heads, window):
    model = lively(DecoderLM(SMALL.but(positions=positions, n_kv_heads=n_kv_heads, window=window)))
    ids = torch.randint(11, (2, 7))
    ends = {pieces: torch.tensor(pieces).cumsum(0) - 1 for pieces in PIECES}
    with torch.no_grad():
        expected = model(ids)
        for pieces in PIECES:
            got = torch.stack(steps(model, ids, None, pieces), dim=1)
            torch.testing.assert_close(got, expected[:, ends[pieces]], **EXACT)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("positions", "n_kv_heads", "window"), KINDS[: len(POSITIONS)] + [("rotary", 2, 3)])
def test_encoder_decoder_with_a_cache_equals_without(positions, n_kv_heads, window):
    model = lively(Transformer(SMALL.but(positions=positions, n_kv_heads=n_kv_heads, window=window)))
    source = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 0, 0, 0], [3, 3, 7, 0, 0]])
    # A target may hold the id of padding as a word: T5's begins with it.
    target = torch.randint(11, (3, 7))
    target[1, 3] = 0
    with torch.no_grad():
        expected = model(source, target)
        for pieces in PIECES:
            got = torch.stack(steps(model, target, model.start(source), pieces), dim=1)
            torch.testing.assert_close(got, expected[:, torch.tensor(pieces).cumsum(0) - 1], **EXACT)


def test_steps_after_select_continue_the_chosen_rows(device):
    config = SMALL.but(positions="rotary", n_kv_heads=2)
    rows = torch.tensor([2, 0, 2], device=device)
    ids = torch.randint(11, (3, 6), device=device)
    more = torch.randint(11, (3, 2), device=device)
    model = lively(DecoderLM(config)).to(device)
    with torch.no_grad():
        _, state = model.step(ids)
        got, _ = model.step(more, state.select(rows))
        torch.testing.assert_close(got, model(torch.cat((ids[rows], more), dim=1))[:, -1], **EXACT)
        translator = lively(Transformer(config)).to(device)
        source = torch.randint(1, 11, (3, 4), device=device)
        _, state = translator.step(ids, translator.start(source))
        got, _ = translator.step(more, state.select(rows))
        expected = translator(source[rows], torch.cat((ids[rows], more), dim=1))[:, -1]
        torch.testing.assert_close(got, expected, **EXACT)


def test_gradients_flow_through_a_cache():
    model = lively(DecoderLM(SMALL.but(positions="t5")))
    ids = torch.randint(1, 11, (2, 6))
    torch.stack(steps(model, ids, None, (2, 1, 3)), dim=1).sum().backward()
    got = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    model(ids)[:, [1, 2, 5]].sum().backward()
    for name, weight in model.named_parameters():
        torch.testing.assert_close(got[name], weight.grad, **EXACT)


def test_a_state_of_another_kind_or_another_batch_is_refused(unchecked):
    model, translator = DecoderLM(SMALL), Transformer(SMALL)
    with pytest.raises(ValueError, match=r"the state holds no encoder's output: make it with start\(source_ids\)"):
        translator.step(torch.ones(1, 1, dtype=torch.int64), model.start())
    _, state = model.step(torch.ones(2, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match="beside kept ones"):
        model.step(torch.ones(3, 1, dtype=torch.int64), state)
    state = translator.start(torch.ones(2, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match="x has 3 sequences, x_kv has 2"):
        translator.step(torch.ones(3, 1, dtype=torch.int64), state)
    with pytest.raises(ValueError, match="1 tokens from position 24 on; the model has positions for 24"):
        _, state = model.step(torch.ones(2, 24, dtype=torch.int64))
        model.step(torch.ones(2, 1, dtype=torch.int64), state)
