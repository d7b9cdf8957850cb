"""What chapter 1 says in words holds: of the committed run, of gradients, of crossings, of a slide's sentence."""

import json
import re

import numpy as np
import pytest
import torch
from built_book import ROOT

from softlookup import reference
from softlookup.model import MultiHeadAttention

PAGE = (ROOT / "book" / "01_motivation.md").read_text(encoding="utf-8")
MORE = (ROOT / "book" / "01_motivation_more.md").read_text(encoding="utf-8")
RUN = json.loads((ROOT / "book" / "measured" / "layers.json").read_text(encoding="utf-8"))


def test_on_one_core_attention_is_quicker_for_short_texts_and_recurrence_for_long_ones():
    clock = RUN["training"]["cpu"]
    assert "one core" in MORE and "1 cores" in RUN["machine"]
    for other in ("RNN", "GRU", "LSTM"):
        wins = [a < b for a, b in zip(clock["attention"], clock[other], strict=True)]
        assert wins[0] and not wins[-1]
        assert wins == sorted(wins, reverse=True), "the sentence 'up to N tokens' needs one crossing"
    growth = {name: clock[name][-1] / clock[name][-2] for name in ("RNN", "attention")}
    assert growth["attention"] > growth["RNN"]


@pytest.mark.parametrize(("gates", "width"), [(3, 512), (4, 512), (4, 30), (6, 7)])
def test_operations_are_equal_where_the_page_says(gates, width):
    tokens = (gates - 2) * width
    assert reference.recurrent_flops(tokens, width, gates) == reference.attention_flops(tokens, width)
    assert reference.recurrent_flops(tokens - 1, width, gates) > reference.attention_flops(tokens - 1, width)
    assert reference.recurrent_flops(width, width) == reference.attention_flops(width, width, projections=False)


def test_attention_never_has_fewer_operations_than_a_plain_recurrent_layer():
    for tokens in (1, 10, 1000):
        for width in (1, 64, 4096):
            assert reference.attention_flops(tokens, width) > 2 * reference.recurrent_flops(tokens, width)


def reach(layer, tokens=41, width=32, batch=32):
    x = torch.randn(batch, tokens, width, dtype=torch.float64, requires_grad=True)
    y = layer.double()(x)
    y = y[0] if isinstance(y, tuple) else y
    (y[:, -1] * torch.randn(batch, width)).sum().backward()
    sizes = x.grad.norm(dim=-1).median(dim=0).values.flip(0)[1:]
    return (sizes[-5:].mean() / sizes[:5].mean()).item()


def test_jacobian_of_a_recurrent_layer_is_the_product_with_the_last_step_in_front():
    """J_T ... J_(t+1), each diag(1 - h^2) W_h^T, as the page has it; the other order gives another matrix."""
    torch.manual_seed(0)
    w, first = torch.randn(3, 3, dtype=torch.float64), torch.randn(3, dtype=torch.float64)

    def last(state):
        for _ in range(4):
            state = torch.tanh(state @ w)
        return state

    states, state = [], first
    for _ in range(4):
        state = torch.tanh(state @ w)
        states.append(torch.diag(1 - state**2) @ w.T)
    j_1, j_2, j_3, j_4 = states
    whole = torch.autograd.functional.jacobian(last, first)
    assert torch.allclose(whole, j_4 @ j_3 @ j_2 @ j_1) and not torch.allclose(whole, j_1 @ j_2 @ j_3 @ j_4)
    assert "J_T\\, J_{T-1} \\cdots J_{t+1}" in MORE


@pytest.mark.parametrize("seed", range(3))
def test_attention_begins_with_a_smaller_gradient_than_a_recurrent_layer_and_keeps_it(seed):
    torch.manual_seed(seed)
    width = 32
    near = []
    for layer in (torch.nn.RNN(width, width, batch_first=True), MultiHeadAttention(width, 4)):
        x = torch.randn(32, 61, width, dtype=torch.float64, requires_grad=True)
        y = layer.double()(x)
        y = y[0] if isinstance(y, tuple) else y
        (y[:, -1] * torch.randn(32, width)).sum().backward()
        near.append(x.grad.norm(dim=-1).median(dim=0).values.flip(0)[1:])
    recurrent, attention = near
    assert 0.05 < attention[0] / recurrent[0] < 0.2 and (attention[9:] > recurrent[9:]).all()


@pytest.mark.parametrize("seed", range(3))
def test_gradients_fade_in_new_recurrent_layers_and_not_with_open_gates_or_attention(seed):
    torch.manual_seed(seed)
    width = 32
    lstm = torch.nn.LSTM(width, width, batch_first=True)
    opened = torch.nn.LSTM(width, width, batch_first=True)
    opened.bias_hh_l0.data[width : 2 * width] = 3.0
    assert reach(torch.nn.RNN(width, width, batch_first=True)) < 1e-8
    assert reach(lstm) < 1e-5
    assert reach(torch.nn.GRU(width, width, batch_first=True)) < 1e-5
    assert reach(opened) > 0.1
    assert 0.5 < reach(MultiHeadAttention(width, 4)) < 2


def test_pairs_come_from_the_opening_sentence_and_the_label_is_the_very_next_word():
    words = re.search(r'^sentence = \("(.*) "\n +"(.*)"\)', PAGE, re.M)
    sentence = f"{words[1]} {words[2]}".split()
    assert len(sentence) == 11 and f"after *{' '.join(sentence[:3])}*, which word" in PAGE
    quiz = "the cat sat on the mat".split()
    assert quiz[len("the cat sat".split())] == "on"


def test_a_step_raises_the_label_alone_and_lowers_the_likeliest_other_most():
    rng = np.random.default_rng(0)
    for _ in range(50):
        logits = rng.normal(size=6)
        p = reference.softmax(logits)
        step = -0.5 * (p - np.eye(6)[2])
        assert step[2] > 0 and (np.delete(step, 2) < 0).all() and abs(step.sum()) < 1e-12
        assert np.argmin(step) == np.argmax(np.where(np.arange(6) == 2, -1, p))
        assert reference.softmax(logits + step)[2] > p[2]


def test_every_component_of_the_lectures_list_stands_in_the_table():
    table = PAGE.split("(motivation-parts)=")[1].split("\n(motivation-")[0].lower()
    listed = (
        "tokenization, input embedding, position encoding, query, key, value, attention, self-attention, "
        "multi-head attention, feed-forward, add and norm, residual, masked, causal, linear, softmax, encoder, "
        "decoder, encoder-decoder"
    )
    assert [name for name in listed.split(", ") if name not in table] == []
