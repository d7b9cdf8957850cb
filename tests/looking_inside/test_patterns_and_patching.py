"""Scores of heads that are made by hand, and patches that bring back what they should."""

import pytest
import torch

from softlookup.looking_inside import (
    activation_patching,
    induction_scores,
    previous_token_scores,
    repeated_blocks,
    silence,
    sink_shares,
)
from softlookup.model import Config, DecoderLM, Trace, Transformer

V, L, N = 40, 2, 4
SMALL = Config(V, d_model=16, n_heads=N, n_layers=L, d_hidden=16, max_length=32, dropout=0.0, pre_norm=True)
IDS = torch.randint(4, V, (2, 6), generator=torch.Generator().manual_seed(3))
OTHER = IDS.clone()
OTHER[:, 2] = 4 + (IDS[:, 2] - 3) % (V - 4)  # another token, whichever stood there


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    model = DecoderLM(SMALL)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    return model.double().eval()


class Staged(DecoderLM):
    """A model whose first three heads look where they are told: one after an earlier copy, one back, one to the first.

    The fourth spreads evenly over the last half.
    """

    def forward(self, ids, mask=None, *, trace=None):
        n = ids.shape[1]
        weights_NTS = torch.zeros(4, n, n)
        for t in range(n):
            weights_NTS[0, t, max(t - n // 2 + 1, 0)] = 1
            weights_NTS[1, t, max(t - 1, 0)] = 1
            weights_NTS[2, t, 0] = 1
            weights_NTS[3, t, n // 2 :] = 1 / (n - n // 2)
        trace.weights += [weights_NTS[None].expand(len(ids), -1, -1, -1)] * 2
        return torch.zeros(*ids.shape, V)


def test_scores_name_the_heads_that_do_it():
    staged, ids = Staged(SMALL), repeated_blocks(range(4, V), 8, rows=2)
    for score, row in (
        (induction_scores, [1, 0, 0]),
        (previous_token_scores, [1 / 15, 1, 1 / 15]),
        (sink_shares, [0, 0, 1]),
    ):
        found_LN = score(staged, ids)
        assert found_LN.shape == (L, N)
        for head, expected in enumerate(row):
            assert found_LN[0, head].item() == pytest.approx(expected, abs=1e-6), (score, head)
    # The fourth head spreads over the second copy, and the token after an earlier copy stands there for one query only.
    assert induction_scores(staged, ids)[0, 3].item() == pytest.approx(1 / 8 / 8)


def test_blocks_are_drawn_without_repeats_and_come_twice():
    ids = repeated_blocks([7, 8, 9, 20], 3, rows=50, seed=2)
    assert ids.shape == (50, 6) and torch.equal(ids[:, :3], ids[:, 3:])
    assert set(ids.unique().tolist()) == {7, 8, 9, 20}
    assert all(len(set(row)) == 3 for row in ids.tolist())
    with pytest.raises(ValueError, match="a block of 5 different tokens out of 4; wanted 2 to 4"):
        repeated_blocks(4, 5)


def test_scores_refuse_texts_that_say_nothing(model):
    with pytest.raises(ValueError, match="ids have 6 tokens; wanted a block of two or more, repeated once"):
        induction_scores(model, IDS)
    for score in (previous_token_scores, sink_shares):
        with pytest.raises(ValueError, match="ids have 1 token in a row; wanted at least 2"):
            score(model, IDS[:, :1])


def test_silence_by_zero_and_by_mean_puts_those_in_place(model):
    reference = Trace()
    model(OTHER.flip(0), trace=reference)
    for how, baseline in (("zero", None), ("mean", reference)):
        trace = Trace(silence([(0, 1), (0, 3), (1, 0)], how, reference=baseline))
        model(IDS, trace=trace)
        for layer, heads in ((0, [1, 3]), (1, [0])):
            for head in range(N):
                z_BTH = trace.heads[layer][:, head]
                stays = torch.zeros(4).double() if how == "zero" else reference.heads[layer][:, head].mean(dim=(0, 1))
                assert torch.allclose(z_BTH, stays.expand_as(z_BTH)) == (head in heads)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": []}, "no head to silence"),
        ({"heads": [(0, 0)], "how": "mean"}, "reference is missing; a mean wants one"),
        ({"heads": [(0, 0)], "reference": Trace()}, "reference is given"),
        ({"heads": [(1, 0)], "how": "mean", "reference": Trace()}, "layer 1 is not in the reference, which has 0"),
        ({"heads": [(0, 0)], "how": "median"}, "how is 'median'; wanted zero or mean"),
    ],
)
def test_silence_refuses_what_it_cannot_do(unchecked, options, message):
    with pytest.raises(ValueError, match=message):
        silence(**options)


def test_silence_of_a_head_that_there_is_not_is_refused(model):
    with pytest.raises(ValueError, match="layer 1 has no head 4; its heads are 0 to 3"):
        model(IDS, trace=Trace(silence([(1, 4)])))


def difference(model):
    def run(ids, trace):
        logits_V = model(ids, trace=trace)[0, -1]
        return logits_V[5] - logits_V[6]

    return run


def test_patching_whole_states_recovers_everything_where_the_inputs_differ_and_nothing_before(model):
    shares = activation_patching(
        difference(model), IDS[:1], OTHER[:1], [("state", 0), ("state", L)], positions=range(IDS.shape[1])
    )
    assert shares.shape == (2, 6)
    torch.testing.assert_close(shares[0], torch.tensor([0.0, 0, 1, 0, 0, 0]), rtol=0, atol=1e-6)
    torch.testing.assert_close(shares[1], torch.tensor([0.0, 0, 0, 0, 0, 1]), rtol=0, atol=1e-6)
    at_once = activation_patching(difference(model), IDS[:1], OTHER[:1], [("state", 1)])
    torch.testing.assert_close(at_once, torch.ones(1, 1))


def test_patching_several_heads_together_is_patching_their_layer(model):
    run, heads = difference(model), [("heads", 1, head) for head in range(N)]
    one_by_one, together, layer = (
        activation_patching(run, IDS[:1], OTHER[:1], places) for places in (heads, [heads], [("attention", 1)])
    )
    torch.testing.assert_close(together, layer)
    assert (one_by_one.abs() > 1e-3).any() and one_by_one.shape == (N, 1)
    by_hand, clean = Trace(), Trace()
    run(IDS[:1], clean)
    patch = Trace({("heads", 1): lambda z: torch.cat((z[:, :2], clean.heads[1][:, 2:3], z[:, 3:]), dim=1)})
    got, expected = run(OTHER[:1], by_hand), run(IDS[:1], Trace())
    share = (run(OTHER[:1], patch) - got) / (expected - got)
    torch.testing.assert_close(one_by_one[2, 0].double(), share, rtol=1e-4, atol=0)


def test_patching_reaches_either_stack_of_a_translator():
    two = Transformer(SMALL).double().eval()

    def into(keyword):
        return lambda source, trace: two(source, IDS[:1], **{keyword: trace})[0, -1, 5]

    for keyword, place in (("trace", "cross_attention"), ("encoder_trace", "state")):
        shares = activation_patching(into(keyword), IDS[:1], OTHER[:1], [[(place, layer) for layer in range(L)]])
        torch.testing.assert_close(shares, torch.ones(1, 1))


@pytest.mark.parametrize(
    ("corrupted", "places", "options", "message"),
    [
        (IDS[:1], [("state", 0)], {}, "both give .*; wanted two answers that differ"),
        (OTHER[:1], [], {}, "no place to patch"),
        (OTHER[:1], [("state", 0, 1)], {}, r"\('state', 0, 1\) names a head; state has none"),
        (OTHER[:1], [("heads", 2)], {}, r"left nothing at \('heads', 2\): it has 2 tensors of heads"),
        (OTHER[:1], [("heads", 0, 9)], {}, "layer 0 has no head 9"),
        (OTHER[:1], [("nowhere", 0)], {}, "wanted .place, layer."),
        (OTHER[:1, :5], [("heads", 0)], {}, r"clean pass has shape \(1, 4, 6, 4\), the corrupted one \(1, 4, 5, 4\)"),
        (OTHER[:1], [("heads", 0)], {"positions": [6]}, "position 6 is not among the 6"),
    ],
)
def test_patching_refuses_what_tells_nothing(model, corrupted, places, options, message):
    with pytest.raises(ValueError, match=message):
        activation_patching(difference(model), IDS[:1], corrupted, places, **options)
