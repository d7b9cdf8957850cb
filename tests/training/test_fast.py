"""The fast path: the plain model's loss and gradients, and random numbers that drop what they should."""

import math

import pytest
import torch
import torch.nn.functional as F

from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.objectives import cross_entropy
from softlookup.model.whole.transformer import Transformer
from softlookup.training import fast as fast_module
from softlookup.training.data import Batch
from softlookup.training.fast import FastLoss, keep_mask, quick_dtype
from softlookup.training.loop import summed_loss
from softlookup.training.vocabulary_loss import VocabularyLoss

V = 37
SMALL = Config(V, d_model=24, n_heads=4, n_layers=2, d_hidden=40, max_length=12, pre_norm=True, dropout=0.0)
KINDS = {
    "pre-LN": {},
    "post-LN": {"pre_norm": False},
    "biases": {"attention_bias": True},
    "no biases": {"hidden_bias": False},
    "grouped heads": {"n_kv_heads": 2, "attention_bias": True},
    "one kv head": {"n_kv_heads": 1, "head_width": 10},
    "learned": {"positions": "learned"},
    "no positions": {"positions": "none", "scale_embeddings": False},
    "sinusoids in halves": {"positions": "sinusoidal_halves", "attention_scale": 0.3},
    "rms": {"norm": "rms", "embedding_norm": True, "n_decoder_layers": 3},
    "pads begin": {"pad_id": 0, "start_id": 0, "pre_norm": False},
}


def a_model(seed=0, dtype=torch.float32, **changes):
    """A model whose gains and biases are drawn too: zeros and ones would hide where they are left out."""
    torch.manual_seed(seed)
    model = Transformer(SMALL.but(**changes)).to(dtype)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return model


def some_ids(seed=0, rows=5, longest=(9, 8), pad_id=0, start_id=2):
    """Sources, inputs and labels, filled up behind rows of all lengths."""
    rng = torch.Generator().manual_seed(seed)
    sides = [torch.randint(4, V, (rows, length), generator=rng) for length in (longest[0], longest[1] + 1)]
    for ids in sides:
        for row in range(1, rows):
            ids[row, int(torch.randint(2, ids.shape[1] + 1, (), generator=rng)) :] = pad_id
    source, target = sides
    inputs, labels = target[:, :-1].clone(), target[:, 1:]
    inputs[:, 0] = start_id
    return source, inputs, labels


def plain_loss(model, ids, epsilon=0.1):
    source, inputs, labels = ids
    return cross_entropy(model(source, inputs), labels, pad_id=model.config.pad_id, epsilon=epsilon)


def gradients(model, loss):
    model.zero_grad(set_to_none=True)
    loss.backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


def worst(got, expected):
    """The largest difference of any gradient, over the largest number of the same one.

    A hundredth of the largest of all counts at least: the gradient of the keys' bias is 0, and rounding alone.
    """
    assert got.keys() == expected.keys()
    floor = 1e-2 * max(w.abs().max() for w in expected.values())
    return max(((got[n] - w).abs().max() / w.abs().max().clamp(min=floor)).item() for n, w in expected.items())


@pytest.mark.parametrize("kind", KINDS)
def test_fast_loss_and_every_gradient_equal_those_of_the_plain_model(device, kind):
    model = a_model(**KINDS[kind]).to(device)
    ids = [t.to(device) for t in some_ids(start_id=model.config.start_id)]
    expected_loss = plain_loss(model, ids)
    loss = FastLoss(model, epsilon=0.1, dtype=torch.float32, chunk=7)(*ids)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected_loss, rtol=1e-6, atol=1e-6)
    assert worst(gradients(model, loss), gradients(model, expected_loss)) < 1e-5


@pytest.mark.parametrize("chunk", [1, 4, 5, 64, 1000])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_fast_loss_in_float64_is_exact_for_every_chunk(chunk, epsilon):
    model = a_model(dtype=torch.float64, attention_bias=True)
    ids = some_ids(seed=chunk)
    expected_loss = plain_loss(model, ids, epsilon)
    loss = FastLoss(model, epsilon=epsilon, dtype=torch.float64, chunk=chunk)(*ids)
    torch.testing.assert_close(loss, expected_loss, rtol=1e-12, atol=1e-12)
    assert worst(gradients(model, loss), gradients(model, expected_loss)) < 1e-10


def test_fast_losses_that_write_over_each_others_logits_are_exact():
    model = a_model(dtype=torch.float64)
    fast = FastLoss(model, dtype=torch.float64, chunk=100)
    batches = [some_ids(seed, rows) for seed, rows in enumerate((2, 15, 3))]
    losses = [fast(*ids) for ids in batches]  # none has been through backward() when the next one comes
    for loss, ids in zip(losses, batches, strict=True):
        expected_loss = plain_loss(model, ids, 0.0)
        torch.testing.assert_close(loss, expected_loss, rtol=1e-12, atol=1e-12)
        assert worst(gradients(model, loss), gradients(model, expected_loss)) < 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_bfloat16_errs_no_more_than_autocast_does(device, seed):
    model = a_model(seed, d_model=64, d_hidden=128, attention_bias=True).to(device)
    ids = [t.to(device) for t in some_ids(seed, rows=24)]
    exact = gradients(model, plain_loss(model, ids))
    with torch.autocast(device.type, dtype=torch.bfloat16):
        under_autocast = plain_loss(model, ids)
    fast = FastLoss(model, epsilon=0.1)(*ids)
    assert fast.dtype == torch.float32
    expected = plain_loss(model, ids).item()
    assert abs(fast.item() - expected) < 2e-3 * expected
    errors = []
    for loss in (fast, under_autocast):
        got = gradients(model, loss)
        assert all(gradient.dtype == torch.float32 for gradient in got.values())
        errors.append([((got[n] - w).norm() / w.norm()).item() for n, w in exact.items()])
    fast_errors, autocast_errors = (torch.tensor(error) for error in errors)
    assert autocast_errors.mean() > 1e-3, "else autocast did nothing, and the comparison says nothing"
    assert fast_errors.mean() < 2 * autocast_errors.mean() and fast_errors.max() < 2 * autocast_errors.max()


def test_summed_is_what_the_plain_objective_sums(device):
    model = a_model().to(device)
    source, inputs, labels = some_ids()
    target = torch.cat([inputs[:, :1], labels], dim=1)
    batch = Batch(target, source).to(device)
    torch.testing.assert_close(
        FastLoss(model, epsilon=0.1, dtype=torch.float32).summed(batch), summed_loss(model, batch, 0.1)
    )


# Dropout.


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_keep_mask_keeps_the_share_and_the_mean(device, share):
    n = 400_000
    mask = keep_mask(torch.empty(n // 400, 400, device=device), share)
    kept_share = (mask > 0).double().mean().item()
    rounded = 1 - round(share * 256) / 256
    assert abs(kept_share - rounded) < 5 * math.sqrt(share * (1 - share) / n)
    assert mask.unique().tolist() == pytest.approx([0.0, 1 / rounded])
    assert mask.shape == (n // 400, 400) and mask.device.type == device.type


def test_keep_mask_draws_neighbours_independently_and_anew():
    mask = (keep_mask(torch.empty(160_000), 0.5) > 0).double() - 0.5
    spread = 0.25 / math.sqrt(len(mask))
    for distance in (*range(1, 17), 64):
        together = (mask[distance:] * mask[:-distance]).mean().abs()
        assert together < 4.5 * spread, f"numbers {distance} apart hang together"
    by_place = mask.unflatten(0, (-1, 8)).mean(dim=0)
    assert (by_place.abs() < 4.5 * 0.5 / math.sqrt(len(mask) / 8)).all(), "each byte of a random number counts alike"
    assert not torch.equal(keep_mask(mask, 0.5), keep_mask(mask, 0.5))


def test_keep_mask_reaches_all_256_values():
    x = torch.empty(300_000)
    rare_kept = (keep_mask(x, 255 / 256) > 0).double().mean().item()
    rare_dropped = (keep_mask(x, 1 / 256) == 0).double().mean().item()
    for share in (rare_kept, rare_dropped):
        assert abs(share * 256 - 1) < 0.15
    # The numbers of every threshold from one seed: the byte itself, read off from where it begins to be dropped.
    masks = []
    for threshold in range(256):
        torch.manual_seed(1)
        masks.append(keep_mask(torch.empty(20_000), threshold / 256) > 0)
    values = torch.stack(masks).sum(dim=0) - 1
    assert len(values.unique()) == 256


def test_keep_mask_of_nothing_and_of_all():
    assert torch.equal(keep_mask(torch.empty(5), 0.0), torch.ones(5))
    assert keep_mask(torch.empty(0, 4), 0.5).shape == (0, 4)
    for share in (1.0, 0.999, -0.01):
        with pytest.raises(ValueError, match=f"probability is {share}; wanted at least 0, and below 1 by a 512th"):
            keep_mask(torch.empty(5), share)


def test_dropout_stands_at_the_places_of_the_plain_model_and_only_in_training(monkeypatch):
    model, ids, shares = a_model(dropout=0.25, n_decoder_layers=3), some_ids(), []

    def spy(x, share):
        shares.append(share)
        return keep_mask(x, share)

    monkeypatch.setattr(fast_module, "keep_mask", spy)
    fast = FastLoss(model.eval(), dtype=torch.float32)
    torch.testing.assert_close(fast(*ids), plain_loss(model, ids, 0.0))
    assert shares == []
    model.train()
    fast(*ids)
    assert shares == [0.25] * (2 + 2 * 2 + 3 * 3)
    with torch.no_grad():
        drawn, plainly = (
            torch.stack([loss() for _ in range(60)])
            for loss in (lambda: fast(*ids), lambda: plain_loss(model, ids, 0.0))
        )
    apart = (drawn.mean() - plainly.mean()).abs() / (drawn.var() / 60 + plainly.var() / 60).sqrt()
    assert apart < 4 and 0.6 < drawn.std() / plainly.std() < 1.6


# The losses over the vocabulary by themselves.


def test_vocabulary_loss_has_a_gradient_for_each_side_where_the_other_is_frozen():
    states, table = (torch.randn(n, 5, dtype=torch.float64, requires_grad=True) for n in (7, 11))
    labels = torch.randint(0, 11, (7,))

    def loss(states, table):
        return VocabularyLoss.apply(states, table, labels, 0.2, torch.float64, 3)

    expected = F.cross_entropy(states @ table.mT, labels, label_smoothing=0.2)
    torch.testing.assert_close(loss(states, table), expected)
    for part in (states, table):  # each by itself: the other may be frozen
        frozen = [t.detach().requires_grad_(t is part) for t in (states, table)]
        (loss(*frozen) * 3).backward()
        (got,) = (t.grad for t in frozen if t.requires_grad)
        torch.testing.assert_close(got, 3 * torch.autograd.grad(expected, part, retain_graph=True)[0])
    assert not loss(states.detach(), table.detach()).requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_vocabulary_loss_of_a_label_whose_probability_underflows_is_exact(dtype):
    states = torch.tensor([[200.0, 0.0], [0.0, 1.0], [300.0, 0.0]], requires_grad=True)
    table, labels = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), torch.tensor([1, 2, 1])
    loss = VocabularyLoss.apply(states, table, labels, 0.0, dtype, 2)
    expected = F.cross_entropy(states @ table.mT, labels)
    assert expected > 300
    torch.testing.assert_close(loss, expected, rtol=1e-2, atol=0)
    torch.testing.assert_close(
        *(torch.autograd.grad(each, states)[0] for each in (loss, expected)), rtol=1e-2, atol=1e-2
    )


# Refusals.


@pytest.mark.parametrize(
    "name, value",
    [
        ("positions", "rotary"),
        ("positions", "alibi"),
        ("tied", False),
        ("tied_scale", 0.5),
        ("output_bias", True),
        ("window", 3),
        ("qk_norm", "head"),
        ("attention_sinks", True),
        ("activation", "gelu"),
        ("n_segments", 2),
        ("mlm_transform", True),
    ],
)
def test_parts_that_the_fast_path_does_not_know_are_refused(name, value):
    with pytest.raises(ValueError, match=f"the fast path knows {name} in .*; the model has {value!r}"):
        FastLoss(Transformer(SMALL.but(**{name: value})))


def test_without_torchs_own_call_for_many_copies_loss_and_gradients_are_the_same(monkeypatch):
    model, ids = a_model(dropout=0.0), some_ids()

    def run():
        model.zero_grad()
        loss = FastLoss(model, dtype=torch.float32)(*ids)
        loss.backward()
        return [loss.detach(), *(parameter.grad.clone() for parameter in model.parameters())]

    expected = run()
    monkeypatch.delattr(torch, "_foreach_copy_")
    for got, want in zip(run(), expected, strict=True):
        assert torch.equal(got, want)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"dtype": torch.int32}, TypeError, r"dtype is torch.int32; wanted a floating-point dtype"),
        ({"epsilon": 1.5}, ValueError, r"epsilon is 1.5; wanted a share from 0 to 1"),
        ({"epsilon": -0.5}, ValueError, r"epsilon is -0.5"),
        ({"chunk": 0}, ValueError, r"chunk is 0; wanted at least 1 token"),
    ],
)
def test_numbers_out_of_range_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        FastLoss(a_model(), **options)


def test_other_models_are_refused(unchecked):
    with pytest.raises(TypeError, match="the model is a DecoderLM; the fast path trains a Transformer"):
        FastLoss(DecoderLM(SMALL))


def test_ids_that_do_not_fit_are_refused(unchecked):
    fast = FastLoss(a_model())
    source, inputs, labels = some_ids()
    long = torch.full((5, 13), 4)
    for ids, message in [
        ((source[:4], inputs, labels), r"shapes \(4, 9\), \(5, 8\) and \(5, 8\); wanted \(B, S\), \(B, T\) and"),
        ((source, inputs[:, :5], labels), r"shapes \(5, 9\), \(5, 5\) and \(5, 8\)"),
        ((source, inputs, torch.zeros_like(labels)), r"all labels are padding \(id 0\)"),
        ((torch.zeros_like(source), inputs, labels), r"a sentence of source_ids is nothing but padding \(id 0\)"),
        ((long, inputs, labels), "source_ids has length 13; the model has positions for 12"),
        ((source, long, long), "inputs has length 13; the model has positions for 12"),
        ((source + V, inputs, labels), r"source_ids .* 0 to 36"),
        ((source, inputs, labels + V), r"labels .* 0 to 36"),
        ((source[:0], inputs[:0], labels[:0]), r"source_ids has shape \(0, 9\): an empty batch"),
    ]:
        with pytest.raises(ValueError, match=message):
            fast(*ids)
    with pytest.raises(TypeError, match="inputs has dtype torch.float32; wanted whole numbers"):
        fast(source, inputs.float(), labels)
    with pytest.raises(ValueError, match="the batch has no source_ids: this path trains encoder-decoders"):
        fast.summed(Batch(inputs))
    with pytest.raises(ValueError, match="the batch is padded with id 1, the model takes 0 for padding"):
        fast.summed(Batch(torch.full((1, 3), 4), torch.full((1, 3), 4), pad_id=1))


def test_labels_on_another_device_are_refused(device):
    fast, (source, inputs, labels) = FastLoss(a_model().to(device)), (t.to(device) for t in some_ids())
    with pytest.raises(ValueError, match=f"inputs are on {device}.*, labels on meta: move one to the other"):
        fast(source, inputs, labels.to("meta"))


def test_quick_dtype_is_one_that_the_device_can_do(device):
    assert quick_dtype(device) in (torch.bfloat16, torch.float32)
    assert quick_dtype(str(device)) == quick_dtype(device)
