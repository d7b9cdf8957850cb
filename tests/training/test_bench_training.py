"""The training bench: an honest peer, the right counts, and a record of what was measured. Times are not tested."""

import gzip
import json

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import training as bench
from benchmarks.harness import machine
from benchmarks.measures import product_rate, quantile, step_flops, wait
from benchmarks.training_peer import TorchTransformer, copy_of, plain_loss
from softlookup.model.parts.config import Config
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.objectives import cross_entropy
from softlookup.model.whole.transformer import Transformer
from softlookup.text.grammar import sample
from softlookup.training.data import Batch, PlainBatches

SMALL = Config(
    29,
    d_model=16,
    n_heads=2,
    n_layers=2,
    n_decoder_layers=3,
    d_hidden=20,
    max_length=9,
    pre_norm=True,
    attention_bias=True,
    dropout=0.25,
)


def a_model(config=SMALL):
    torch.manual_seed(0)
    model = Transformer(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return model


def a_batch():
    source = torch.tensor([[4, 5, 6, 3], [7, 3, 0, 0], [8, 9, 3, 0]])
    target = torch.tensor([[2, 10, 3, 0, 0, 0], [2, 11, 12, 13, 14, 3], [2, 15, 16, 3, 0, 0]])
    return Batch(target, source)


# The peer.


@pytest.mark.parametrize("everywhere", [False, True])
def test_the_peer_gives_the_same_loss_and_as_many_parameters(device, everywhere):
    model = a_model().to(device).eval()
    peer = copy_of(model, dropout_everywhere=everywhere)
    assert sum(p.numel() for p in peer.parameters()) == sum(p.numel() for p in model.parameters())
    assert not peer.training and copy_of(model.train()).training
    model.eval()
    batch = a_batch().to(device)
    inputs, labels = batch.target_ids[:, :-1], batch.target_ids[:, 1:]
    logits, peer_logits = model(batch.source_ids, inputs), peer(batch.source_ids, inputs)
    real = labels != 0
    torch.testing.assert_close(peer_logits[real], logits[real], rtol=1e-4, atol=1e-5)
    expected = cross_entropy(logits, labels, pad_id=0, epsilon=0.1)
    torch.testing.assert_close(plain_loss(peer, batch, 0.1), expected, rtol=1e-5, atol=1e-5)
    assert isinstance(peer.body, nn.Transformer)


def test_the_peer_of_equal_work_drops_where_the_paper_does_and_the_other_where_torch_does(monkeypatch):
    shares = []
    real = nn.functional.dropout
    monkeypatch.setattr(nn.functional, "dropout", lambda x, p=0.5, *rest: shares.append(p) or real(x, p, *rest))
    batch = a_batch()
    for everywhere, expected in ((False, 2 + 2 * 2 + 3 * 3), (True, 2 + 3 * 2 + 4 * 3)):
        peer = copy_of(a_model(), dropout_everywhere=everywhere)
        shares.clear()
        plain_loss(peer, batch, 0.1)
        assert shares.count(0.25) == expected and set(shares) <= {0.0, 0.25}
        attentions = [part for part in peer.modules() if isinstance(part, nn.MultiheadAttention)]
        assert {part.dropout for part in attentions} == {0.25 if everywhere else 0.0} and len(attentions) == 2 + 2 * 3


def test_a_step_of_the_peer_gives_the_gradients_of_the_plain_model():
    model = a_model(SMALL.but(dropout=0.0))
    peer, batch = copy_of(model), a_batch()
    plain_loss(peer, batch, 0.1).backward()
    cross_entropy(
        model(batch.source_ids, batch.target_ids[:, :-1]), batch.target_ids[:, 1:], pad_id=0, epsilon=0.1
    ).backward()
    torch.testing.assert_close(peer.table.weight.grad, model.embedder.tokens.table.grad, rtol=1e-4, atol=1e-6)
    peer_gradient = peer.body.decoder.layers[1].multihead_attn.out_proj.weight.grad
    torch.testing.assert_close(peer_gradient, model.decoder.layers[1].cross_attention.w_o.grad.mT, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("change", [{"pre_norm": False}, {"attention_bias": False}, {"positions": "learned"}])
def test_a_model_that_torch_has_not_is_refused(change):
    with pytest.raises(ValueError, match=r"nn.Transformer is compared with .*; got "):
        TorchTransformer(SMALL.but(**change))


def test_a_batch_without_sources_is_refused():
    for call in (
        lambda batch: plain_loss(copy_of(a_model()), batch, 0.0),
        lambda batch: step_flops(batch, SMALL, padded_labels=True),
    ):
        with pytest.raises(ValueError, match="the batch has no source_ids"):
            call(Batch(torch.tensor([[2, 4, 3]])))


# The counts.


def test_step_flops_are_what_torch_counts():
    """Against torch's own counter, on the open formula of attention: three times the forward products."""
    model, batch = a_model().to("meta").train(), a_batch()
    source, inputs = batch.source_ids.to("meta"), batch.target_ids[:, :-1].to("meta")
    with FlopCounterMode(display=False) as counter:
        memory, mask = model.encode(source, trace=Trace())
        x = model.decoder(model.embedder(inputs), memory, memory_mask=mask, trace=Trace())
        model.head(x)
    assert step_flops(batch, SMALL, padded_labels=True) == 3 * counter.get_total_flops()
    padding = 3 * 5 - batch.tokens
    less = step_flops(batch, SMALL, padded_labels=True) - step_flops(batch, SMALL, padded_labels=False)
    assert less == 3 * 2 * padding * 16 * 29


def test_product_rate_is_a_rate(device):
    rate = product_rate(torch.float32, device, (32, 64), 0.01)
    assert 1e6 < rate < 1e16


def test_quantile_is_one_of_the_values():
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [quantile(values, share) for share in (0.0, 0.1, 0.5, 0.9, 1.0)] == [1.0, 1.0, 3.0, 5.0, 5.0]


def test_the_machine_is_named(device):
    text = machine(device)
    assert "cores" in text and f"{torch.get_num_threads()} threads" in text and "Python" in text
    wait(torch.zeros(1, device=device))
    wait(a_batch().to(device))


# The record.


@pytest.fixture(scope="module")
def record():
    return bench.bench_training(quick=True)


@pytest.mark.slow
def test_the_record_has_what_every_bench_has(record):
    assert record == json.loads(json.dumps(record))
    assert record["bench"] == "training" and record["ratio"] > 0 and record["time_ratio"] > 0
    assert record["peer"] == f"torch {torch.__version__}, nn.Transformer" and "cores" in record["machine"]
    assert record["ratio_p10"] <= record["ratio"] <= record["ratio_p90"]
    assert "generated grammar, whose vocabulary is small" in record["data"] and record["vocab_size"] <= 200
    assert {row["name"] for row in record["rows"]} == {
        "fast path",
        "torch float32",
        "torch float32, its own dropout",
        "torch autocast bfloat16",
    }
    for row in record["rows"]:
        assert row["tokens_per_s_p10"] <= row["tokens_per_s"] <= row["tokens_per_s_p90"]
        assert 0 < row["share_of_product_rate"] < 2
        assert row["product_dtype"] in record["product_rate_gflop_per_s"]


@pytest.mark.slow
def test_both_ways_learn_alike_from_the_same_tokens(record):
    before, fast, torchs = (record[f"validation_loss_{name}"] for name in ("before", "fast", "torch"))
    assert fast < before - 0.5
    assert abs(fast - torchs) < 0.1 * (before - fast)


@pytest.mark.slow
def test_the_padded_pipeline_stops_when_it_is_as_good(record):
    padded = record["padded"]
    assert padded["reached"] and padded["validation_loss"] <= record["validation_loss_fast"]
    assert padded["steps"] <= bench._QUICK.most_steps * record["steps"] and 0 < padded["share_of_padding"] < 1
    assert "at least so much" not in record["time_ratio_of"]
    assert record["time_ratio"] == pytest.approx(padded["seconds"] / record["fast_s"])


def test_the_padded_pipeline_gives_up_in_the_end():
    plan = bench._QUICK
    tokenizer, training, validation, _ = bench._data(None, plan)
    batches = PlainBatches(validation, pad_id=0, rows=10, shuffle=False)
    run = bench._padded_run(training, batches, plan, len(tokenizer), "cpu", 8, target_loss=-1.0)
    assert not run.reached and run.steps == plan.most_steps * plan.steps
    assert run.seconds > 0
    done = bench._padded_run(training, batches, plan, len(tokenizer), "cpu", 8, target_loss=1e9)
    assert done.reached and done.steps == 0 and done.seconds == 0


def test_a_folder_of_text_files_is_taken(tmp_path):
    drawn = [(pair.english, pair.french) for pair in sample(60, 5)]
    for name, pairs in (("train", drawn[:40]), ("val", drawn[40:])):
        for ending, side in (("en", 0), ("fr", 1)):
            lines = "".join(pair[side] + "\n" for pair in pairs).encode()
            (tmp_path / f"{name}.{ending}.gz").write_bytes(gzip.compress(lines))
    tokenizer, training, validation, data = bench._data(tmp_path, bench._QUICK)
    assert len(training) == 40 and len(validation) == 20 and data == f"40 pairs of {tmp_path.name}"
    assert tokenizer.decode(training[0][0]) == drawn[0][0]
    with pytest.raises(FileNotFoundError, match="train.en"):
        bench.bench_training(tmp_path / "none", quick=True)


def test_the_rate_stays_up_so_that_a_loss_may_be_reached_at_any_step():
    plan = bench._Plan()
    rates = [bench._rate(plan, step) for step in (1, plan.warmup, plan.steps, plan.most_steps * plan.steps)]
    assert rates[0] < rates[1] == rates[2] == rates[3] == plan.peak
