"""What chapters 1 and 6 say in words holds: of committed runs, of gradients, of the lecture's list of parts."""

import json
import re

import numpy as np
import pytest
import torch
from built_book import ROOT

from softlookup import model
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


def gradients(layer, tokens, width=32):
    """The size of the gradient at each position before the last, the nearest first."""
    x = torch.randn(32, tokens, width, dtype=torch.float64, requires_grad=True)
    y = layer.double()(x)
    y = y[0] if isinstance(y, tuple) else y
    (y[:, -1] * torch.randn(32, width)).sum().backward()
    return x.grad.norm(dim=-1).median(dim=0).values.flip(0)[1:]


def reach(layer):
    sizes = gradients(layer, 41)
    return (sizes[-5:].mean() / sizes[:5].mean()).item()


@pytest.mark.parametrize("seed", range(3))
def test_attention_begins_with_a_smaller_gradient_than_a_recurrent_layer_and_keeps_it(seed):
    torch.manual_seed(seed)
    recurrent, attention = (
        gradients(layer, 61) for layer in (torch.nn.RNN(32, 32, batch_first=True), MultiHeadAttention(32, 4))
    )
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


def test_every_component_of_the_lectures_list_stands_in_the_table():
    table = PAGE.split("(motivation-parts)=")[1].split("\n(motivation-")[0].lower()
    listed = (
        "tokenization, input embedding, position encoding, query, key, value, attention, self-attention, "
        "multi-head attention, feed-forward, add and norm, residual, masked, causal, linear, softmax, encoder, "
        "decoder, encoder-decoder"
    )
    assert [name for name in listed.split(", ") if name not in table] == []


RACE = json.loads((ROOT / "book" / "measured" / "positions.json").read_text(encoding="utf-8"))


def measured(kind, part):
    return {method: float(np.mean(parts[part])) for method, parts in RACE[kind].items()}


def test_race_is_told_as_it_was_run():
    """What the list under the curves asserts in words, beside the numbers that it prints."""
    fetched, nats = measured("back", "trained"), measured("text", "trained")
    assert min(fetched, key=fetched.get) == "none" == max(nats, key=nats.get)
    assert fetched["none"] > 2 / RACE["letters"]
    assert all(fetched[method] > 0.995 for method in ("sinusoidal", "t5", "rotary", "rotary_halves"))
    assert fetched["alibi"] < 0.5 and fetched["learned"] < 0.7
    far = measured("text", "four_times")
    assert sorted(far, key=far.get)[-2:] == ["rotary", "rotary_halves"]
    assert min(far, key=far.get) == "alibi" and far["alibi"] - nats["alibi"] < 0.15
    assert all(far[method] > 3 * nats[method] * 0.9 for method in ("sinusoidal", "learned"))
    assert nats["t5"] < measured("text", "twice")["t5"] < far["t5"] < far["none"]
    far_fetched = measured("back", "four_times")
    assert set(sorted(nats, key=nats.get)[:3]) == {"t5", "rotary", "rotary_halves"}
    assert max(far_fetched, key=far_fetched.get) == "t5" and far_fetched["t5"] < 0.55 and far_fetched["alibi"] < 0.4
    assert far_fetched["rotary"] < 0.15 < 0.85 < measured("back", "twice")["rotary"]
    assert abs(measured("back", "twice")["learned"] - 1 / RACE["letters"]) < 0.01
    assert nats["learned"] > nats["sinusoidal"] and fetched["learned"] < fetched["sinusoidal"]
    for kind, gap in (("back", 0.1), ("text", 0.15)):
        for part in ("trained", "twice", "four_times"):
            results = measured(kind, part)
            assert abs(results["rotary"] - results["rotary_halves"]) < gap


def test_far_distances_of_the_race_fall_into_buckets_that_never_occurred_and_none_into_the_last():
    bucket = model.t5_bucket(-torch.arange(RACE["times"] * RACE["length"]), bidirectional=False)
    met, later = (set(part.tolist()) for part in bucket.tensor_split([RACE["length"]]))
    assert not met & later and max(later) < 31


def test_set_up_cell_of_the_page_prints_nothing():
    """A last line with a value would be shown, and torch's generator has another address each time."""
    assert "\ntorch.manual_seed(6)\n```" not in (ROOT / "book" / "06_positions.md").read_text(encoding="utf-8")
