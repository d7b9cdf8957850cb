"""Drawing a token: the filters equal those of transformers, and the draw is judged number by number."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from softlookup.model.decoding.sampling import largest, log_probabilities, next_token_probabilities, pick

INF = math.inf


def logits_of(seed, b=3, v=11, dtype=torch.float64, device="cpu"):
    return torch.from_numpy(np.random.default_rng(seed).normal(0, 2, (b, v))).to(device, dtype)


@given(
    st.integers(0, 10**6),
    st.sampled_from([torch.float64, torch.float32]),
    st.sampled_from([0.1, 0.7, 1.0, 3.0]),
    st.sampled_from([None, 1, 2, 5, 11, 40]),
    st.sampled_from([None, 0.05, 0.5, 0.9, 0.999, 1.0]),
)
def test_probabilities_equal_the_three_warpers_of_transformers(seed, dtype, temperature, top_k, top_p):
    logits = logits_of(seed, dtype=dtype)
    warped_logits = TemperatureLogitsWarper(temperature)(None, logits)
    if top_k is not None:
        warped_logits = TopKLogitsWarper(top_k)(None, warped_logits)
    if top_p is not None:
        warped_logits = TopPLogitsWarper(top_p)(None, warped_logits)
    got = next_token_probabilities(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    assert got.dtype == dtype
    atol = 1e-12 if dtype == torch.float64 else 1e-6
    torch.testing.assert_close(got, torch.softmax(warped_logits, dim=-1), rtol=0, atol=atol)
    assert torch.equal(got > 0, warped_logits > -INF)


def test_temperature_zero_leaves_the_likeliest_token_alone_and_of_equal_ones_the_first(device):
    logits = torch.tensor([[0.0, 3.0, 3.0], [1.0, 1.0, 1.0], [0.0, 1.0, 2.0]], device=device)
    for more in ({}, {"top_k": 2}, {"top_p": 0.5}):
        got = next_token_probabilities(logits, temperature=0, **more)
        assert got.tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_a_temperature_near_zero_does_not_overflow():
    logits = torch.tensor([[1000.0, -1000.0, 999.0]])
    assert next_token_probabilities(logits, temperature=1e-37).tolist() == [[1.0, 0.0, 0.0]]
    assert next_token_probabilities(torch.zeros(1, 4), temperature=1e-40).tolist() == [[0.25] * 4]


def test_top_k_keeps_exactly_k_and_of_equal_ones_the_lowest_ids(device):
    logits = torch.tensor([[1.0, 2.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]], device=device)
    got = next_token_probabilities(logits, top_k=3)
    assert (got > 0).tolist() == [[True, True, True, False], [True, True, True, False]]
    torch.testing.assert_close(got[1, :3], torch.full((3,), 1 / 3, device=device))
    assert next_token_probabilities(logits, top_k=1).tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]


def test_top_p_of_equal_tokens_keeps_the_lowest_ids_and_always_one(device):
    logits = torch.zeros(1, 4, device=device)
    assert next_token_probabilities(logits, top_p=0.5).tolist() == [[0.5, 0.5, 0, 0]]
    assert next_token_probabilities(logits, top_p=0.0).tolist() == [[1, 0, 0, 0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("v", "n_kept"), [(10, 3), (10, 6), (10, 7), (10, 8), (10, 9), (5, 3), (11, 6), (20, 17), (64, 48)]
)
def test_top_p_of_equal_tokens_keeps_none_too_many_where_sums_are_rounded(device, dtype, v, n_kept):
    got = next_token_probabilities(torch.zeros(1, v, dtype=dtype, device=device), top_p=n_kept / v)
    assert (got > 0).sum() == n_kept
    more = next_token_probabilities(torch.zeros(1, v, dtype=dtype, device=device), top_p=n_kept / v + 1e-5)
    assert (more > 0).sum() == n_kept + 1


def test_top_p_one_keeps_every_token_even_where_sums_round_to_one():
    logits = torch.tensor([[30.0] + [0.0] * 5])  # the first holds all that float32 can see
    assert (next_token_probabilities(logits, top_p=1.0) > 0).all()


def test_ruled_out_tokens_stay_out():
    logits = torch.tensor([[-INF, 1.0, -INF, 2.0]])
    for more in ({}, {"top_k": 3}, {"top_p": 1.0}, {"temperature": 100.0}, {"temperature": 0.0}):
        got = next_token_probabilities(logits, **more)
        assert got[0, 0] == got[0, 2] == 0 and got.sum() == pytest.approx(1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_logits_give_float32_probabilities(device, dtype):
    logits = logits_of(2, v=4096, dtype=dtype, device=device)
    got = next_token_probabilities(logits)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.sum(-1), torch.ones(3, device=device), rtol=0, atol=1e-5)
    assert log_probabilities(logits).dtype == torch.float32


def test_inputs_are_left_unchanged():
    logits = logits_of(3)
    before = logits.clone()
    next_token_probabilities(logits, temperature=0.5, top_k=3, top_p=0.5)
    assert torch.equal(logits, before)


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_pick_is_the_inverse_of_the_cumulative_distribution(seed, v):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.3] * v)
    p[rng.random(v) < 0.3] = 0.0
    if p.sum() == 0:
        p[0] = 1.0
    p /= p.sum()
    uniform = rng.random()
    got = pick(torch.from_numpy(p)[None], torch.tensor([uniform], dtype=torch.float64)).item()
    below = 0.0
    for token in range(v):  # walk along the line until the uniform number is passed
        if below <= uniform < below + p[token]:
            break
        below += p[token]
    assert got == token and p[got] > 0


def test_pick_at_the_edges_of_the_stretches(device):
    p = torch.tensor([[0.0, 0.25, 0.25, 0.5, 0.0]], device=device).expand(6, 5)
    just_below = 1 - 2**-24
    uniforms = torch.tensor([0.0, 0.2499, 0.25, 0.4999, 0.5, just_below], device=device)
    assert pick(p, uniforms).tolist() == [1, 1, 2, 2, 3, 3]


def test_pick_never_draws_an_impossible_token_where_the_sum_is_rounded():
    # 0.1 ten times sums to less than 1 in float64, and float32 numbers to more; behind them stand two zeros.
    for p in (torch.full((1, 10), 0.1, dtype=torch.float64), torch.full((1, 10), 0.1)):
        p = torch.cat((p, torch.zeros(1, 2, dtype=p.dtype)), dim=1)
        last = torch.tensor([1 - 2**-53], dtype=torch.float64)
        assert pick(p, last).tolist() == [9]


@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans())
def test_largest_are_those_of_a_stable_sort(seed, k, ties):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (3, 12)) * 1.0 if ties else rng.normal(size=(3, 12))
    if ties:
        values[rng.random((3, 12)) < 0.2] = -INF
    got, places = largest(torch.from_numpy(values), k)
    for row, got_row, places_row in zip(values.tolist(), got.tolist(), places.tolist(), strict=True):
        expected = sorted(range(12), key=lambda i: (-row[i], i))[:k]
        assert places_row == expected and got_row == [row[i] for i in expected]


@pytest.mark.parametrize("k", [0, 4])
def test_largest_refuses_more_than_there_are(k):
    with pytest.raises(ValueError, match=f"the {k} largest of 3 numbers; k must be 1 to 3"):
        largest(torch.zeros(2, 3), k)


@given(st.integers(0, 16), st.sampled_from([math.nan, INF]), st.booleans())
def test_one_faulty_logit_anywhere_is_seen(column, fault, also_ruled_out):
    logits = logits_of(4, 3, 17, torch.float32)
    if also_ruled_out:
        logits[1] = -INF
    logits[1, column] = fault
    with pytest.raises(ValueError, match=r"row 1 of the logits holds " + ("NaN" if fault != fault else r"\+inf")):
        next_token_probabilities(logits)


def test_a_row_that_rules_out_everything_is_refused():
    logits = torch.zeros(3, 4)
    logits[2] = -INF
    with pytest.raises(ValueError, match="row 2 of the logits is -inf throughout, so that no token may follow"):
        next_token_probabilities(logits)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"temperature": -0.5}, "temperature must be a finite number of at least 0; got -0.5"),
        ({"temperature": INF}, "temperature .* got inf"),
        ({"temperature": math.nan}, "temperature .* got nan"),
        ({"top_k": 0}, "top_k must be at least 1, or None to keep all tokens; got 0"),
        ({"top_p": 1.5}, "top_p must be between 0 and 1, or None to keep all tokens; got 1.5"),
        ({"top_p": -0.1}, "top_p .* got -0.1"),
        ({"top_p": math.nan}, "top_p .* got nan"),
    ],
)
def test_settings_out_of_range_are_named(settings, says):
    with pytest.raises(ValueError, match=says):
        next_token_probabilities(torch.zeros(1, 3), **settings)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (2, 0)])
def test_logits_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=rf"logits have shape \({shape[0]}.*wanted \(B, V\)"):
        next_token_probabilities(torch.zeros(shape))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("p", "u", "says"),
    [
        ([[0.5, 0.5]], [1.0], r"uniforms must be at least 0 and below 1; got \[1.0\]"),
        ([[0.5, 0.5]], [-0.1], "uniforms must be at least 0"),
        ([[0.5, 0.5]], [math.nan], "uniforms must be at least 0"),
        ([[0.5, 0.5]], [0.1, 0.2], r"uniforms have shape \(2,\), probabilities \(1, 2\)"),
        ([0.5, 0.5], [0.1, 0.2], r"uniforms have shape \(2,\), probabilities \(2,\)"),
        ([[0.5, 0.7]], [0.1], r"summing to 1; the least number is 0.5, the sums are \[1.19"),
        ([[1.5, -0.5]], [0.1], "the least number is -0.5"),
        ([[math.nan, 0.5]], [0.1], "each row must be a distribution"),
    ],
)
def test_pick_refuses_what_is_no_distribution_and_no_uniform_number(p, u, says):
    with pytest.raises(ValueError, match=says):
        pick(torch.tensor(p), torch.tensor(u))
