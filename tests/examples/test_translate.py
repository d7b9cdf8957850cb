"""The encoder-decoder in one file: its numbers are the library's, its cache changes nothing, and it learns."""

import re
from pathlib import Path

import pytest
import torch
import translate

from softlookup.model.parts.config import Config
from softlookup.model.whole.transformer import Transformer
from softlookup.text.grammar import sample

SIZES = {"vocab_size": 50, "d_model": 24, "n_heads": 4, "n_layers": 3, "d_hidden": 40}


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch):
    monkeypatch.setattr(translate, "DEVICE", "cpu")


def drawn():
    """A model in float64 whose weights, biases and gains are all drawn, so that none of them goes unseen."""
    model = translate.Transformer(translate.Config(**SIZES)).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.3)
    return model


def sentences(B, T):
    """Rows of ids, each a word shorter than the one before, filled up with padding."""
    ids_BT = torch.randint(4, 50, (B, T))
    for i, row in enumerate(ids_BT):
        row[T - i :] = translate.PAD
    return ids_BT


def in_the_library(model):
    """The same weights in softlookup's model, whose matrices stand as (in, out)."""
    weights = {"embedder.tokens.table": model.embedding.weight}
    for stack, norms in (("encoder", "attention feed_forward"), ("decoder", "attention cross feed_forward")):
        for i, layer in enumerate(getattr(model, stack)):
            place = f"{stack}.layers.{i}"
            for name, attention in (("attention", layer.attention), ("cross_attention", layer.cross)):
                if attention is not None:
                    weights |= {f"{place}.{name}.w_{x}": getattr(attention, f"w_{x}").weight.mT for x in "qkvo"}
            for number, linear in ((1, layer.feed_forward[0]), (2, layer.feed_forward[2])):
                weights[f"{place}.feed_forward.w_{number}"] = linear.weight.mT
                weights[f"{place}.feed_forward.b_{number}"] = linear.bias
            for name, norm in zip(norms.split(), layer.norms, strict=True):
                weights[f"{place}.{name}_residual.norm.gain"] = norm.weight
                weights[f"{place}.{name}_residual.norm.shift"] = norm.bias
    library = Transformer(Config(**SIZES, pad_id=translate.PAD)).double().eval()
    library.load_state_dict(weights)
    return library


def test_logits_equal_those_of_the_library():
    model, source_BS, target_BT = drawn(), sentences(4, 9), sentences(4, 7)
    expected_BTV = in_the_library(model)(source_BS, target_BT)
    torch.testing.assert_close(model(source_BS, target_BT), expected_BTV, rtol=1e-10, atol=1e-10)


def test_translate_with_its_cache_writes_what_whole_passes_choose():
    model, source_BS = drawn(), sentences(3, 6)
    written_BT = model.translate(source_BS, max_length=8)
    target_BT = torch.full((3, 1), translate.START)
    for t in range(written_BT.shape[1]):
        assert torch.equal(written_BT[:, t], model(source_BS, target_BT)[:, -1].argmax(dim=-1))
        target_BT = torch.cat((target_BT, written_BT[:, t : t + 1]), dim=1)
    assert written_BT.shape[1] == 8 or (written_BT == translate.END).any(dim=1).all()


def test_translate_stops_when_all_sentences_have_ended():
    model, source_BS = drawn(), sentences(3, 6)
    with torch.no_grad():  # the last norm gives every position the same state, which is most like <end>
        model.decoder[-1].norms[-1].weight.zero_()
        model.decoder[-1].norms[-1].bias.copy_(100 * model.embedding.weight[translate.END])
    assert model.translate(source_BS).tolist() == [[translate.END]] * 3


def test_words_cut_and_joined_give_the_sentence():
    sentence = "L'homme en t-shirt n'est pas là, dit-on."
    words = [*translate.SPECIAL, *dict.fromkeys(translate.cut(sentence))]
    assert words[4:8] == ["L'", "homme", "en", "t-shirt"]
    start, *ids = translate.batch([sentence], words)[0].tolist()
    assert start == translate.START and translate.join([*ids, 4, 5], words) == sentence
    assert translate.batch(["homme", "quoi ?"], words).tolist() == [[2, 5, 3, 0], [2, 1, 1, 3]]


def test_batches_hold_every_pair_once_before_the_next_round():
    pairs = [["a " * (i % 7), "b " * (i % 5), str(i)] for i in range(10)]
    drawn_batches = translate.batches(pairs, size=4)
    first_round = [next(drawn_batches) for _ in range(3)]
    assert sorted(len(batch) for batch in first_round) == [2, 4, 4]
    assert sorted(int(pair[2]) for batch in first_round for pair in batch) == list(range(10))


@pytest.mark.slow
def test_training_lowers_the_loss_and_the_checkpoint_translates(tmp_path, capsys):
    file, checkpoint = tmp_path / "pairs.tsv", tmp_path / "translate.pt"
    pairs = sample(150, seed=1)
    file.write_text("".join(f"{pair.english}\t{pair.french}\n" for pair in pairs), encoding="utf-8")
    translate.main([str(file), "--steps", "25", "--checkpoint", str(checkpoint)])
    losses = [[float(n) for n in re.findall(r"\d+\.\d+", line)] for line in capsys.readouterr().out.splitlines()]
    assert len(losses) == 2 and all(last < first - 0.5 for first, last in zip(*losses, strict=True)), losses
    translate.main(["--checkpoint", str(checkpoint), "--say", pairs[0].english, "--say", pairs[1].english])
    known = {word for pair in pairs for word in translate.cut(pair.french)} | {*translate.SPECIAL}
    translations = capsys.readouterr().out.splitlines()
    assert len(translations) == 2
    assert all({*translate.cut(sentence)} <= known | {"<", ">", "unknown"} for sentence in translations)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.tsv"], r"missing\.tsv cannot be used: No such file or directory\."),
        (["three.tsv"], r"Line 2 of three\.tsv must hold a sentence, a tab and its translation; got \['a', 'b', 'c'"),
        (["few.tsv"], r"few\.tsv has 19 pairs of sentences, and training needs at least 20\."),
        (["--checkpoint", "missing.pt"], r"There is no checkpoint missing\.pt: train a model first\."),
        (["--checkpoint", "few.tsv"], r"few\.tsv is not a checkpoint of this program"),
    ],
)
def test_bad_input_gets_a_sentence(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    Path("three.tsv").write_text("a\tb\na\tb\tc\n", encoding="utf-8")
    Path("few.tsv").write_text("a\tb\n" * 19, encoding="utf-8")
    with pytest.raises(SystemExit, match=sentence):
        translate.main(arguments)
