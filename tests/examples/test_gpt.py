"""The model in one file: its numbers are those of the library and of transformers, it learns, it refuses in words."""

import re
from pathlib import Path

import gpt
import pytest
import torch
from safetensors.torch import save_file

from softlookup.model.parts.config import Config
from softlookup.model.published.families import gpt2_weights
from softlookup.model.whole.language import DecoderLM

SIZES = {"vocab_size": 60, "max_length": 20, "d_model": 24, "n_heads": 4, "n_layers": 3}
SMALL = ["--max-length", "16", "--d-model", "16", "--n-heads", "2", "--n-layers", "1", "--dropout", "0"]
TEXT = "the cat sat on the mat, and the dog sat on the cat. " * 20


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch):
    monkeypatch.setattr(gpt, "DEVICE", "cpu")


def drawn(**changes):
    """A model in float64 whose weights, biases and gains are all drawn, so that none of them goes unseen."""
    model = gpt.GPT(gpt.Config(**(SIZES | changes))).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.3)
    return model


def trained(tmp_path: Path, *options: str) -> Path:
    """The checkpoint of a few steps on a small text."""
    text, checkpoint = tmp_path / "text.txt", tmp_path / "gpt.pt"
    text.write_text(TEXT, encoding="utf-8")
    gpt.main([str(text), "--checkpoint", str(checkpoint), "--tokens", "5", *SMALL, *options])
    return checkpoint


def test_logits_equal_those_of_the_library():
    model, ids_BT = drawn(), torch.randint(60, (2, 13))
    parts = {"positions": "learned", "pre_norm": True, "activation": "gelu_tanh", "attention_bias": True}
    config = Config(**SIZES, d_hidden=96, scale_embeddings=False, dropout=0.0, **parts)
    library = DecoderLM(config).double()
    library.load_state_dict(gpt2_weights(model.state_dict(), config))
    torch.testing.assert_close(model(ids_BT), library(ids_BT), rtol=1e-10, atol=1e-10)


def test_weights_of_transformers_give_their_logits_from_a_state_dict_and_from_a_file(tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    description = transformers.GPT2Config(
        vocab_size=60, n_positions=20, n_embd=128, n_head=2, n_layer=2, attn_implementation="eager",
        bos_token_id=5, eos_token_id=5,
    )  # fmt: skip
    published = transformers.GPT2LMHeadModel(description).double().eval()
    ids_BT = torch.randint(60, (2, 20))
    expected_BTV = published(ids_BT).logits
    torch.testing.assert_close(gpt.load_gpt2(published.state_dict())(ids_BT), expected_BTV, rtol=1e-10, atol=1e-10)
    # The first files have no prefix, no output matrix, and the causal mask beside the weights.
    tensors = {name: tensor.clone() for name, tensor in published.transformer.state_dict().items()}
    tensors["h.0.attn.bias"] = torch.ones(1, 1, 20, 20).tril()
    save_file(tensors, tmp_path / "model.safetensors")
    from_file = gpt.load_gpt2(tmp_path / "model.safetensors")
    torch.testing.assert_close(from_file(ids_BT), expected_BTV, rtol=1e-10, atol=1e-10)


def test_load_gpt2_refuses_other_weights():
    weights = drawn().state_dict()
    with pytest.raises(ValueError, match="wte.weight"):
        gpt.load_gpt2({"model.embed_tokens.weight": weights["wte.weight"]})
    with pytest.raises(ValueError, match="lm_head.weight differs"):
        gpt.load_gpt2(weights | {"lm_head.weight": weights["wte.weight"] + 1}, n_heads=4)


def test_a_position_does_not_see_later_ones():
    model, ids_BT = drawn(), torch.randint(60, (1, 12))
    changed_BT = ids_BT.clone()
    changed_BT[0, 8] = (ids_BT[0, 8] + 1) % 60
    before_BTV, after_BTV = model(ids_BT), model(changed_BT)
    assert torch.equal(before_BTV[:, :8], after_BTV[:, :8])
    assert not torch.allclose(before_BTV[:, 8:], after_BTV[:, 8:])


def test_write_appends_probable_tokens_beyond_the_longest_input():
    model, prompt_BT = drawn(), torch.randint(60, (2, 3))
    written_BT = model.write(prompt_BT, n_tokens=30, top_k=1)
    assert written_BT.shape == (2, 33) and torch.equal(written_BT[:, :3], prompt_BT)
    for t in range(3, 33):
        assert torch.equal(written_BT[:, t], model(written_BT[:, max(0, t - 20) : t])[:, -1].argmax(dim=-1))


def test_training_lowers_the_loss_and_writes(tmp_path, capsys):
    trained(tmp_path, "--steps", "60")
    *lines, sample = capsys.readouterr().out.strip("\n").split("\n", 2)
    losses = [[float(number) for number in re.findall(r"\d+\.\d+", line)] for line in lines]
    assert all(last < first - 1 for first, last in zip(*losses, strict=True)), losses
    assert sample


def test_checkpoint_comes_back_to_the_same_logits(tmp_path):
    model = gpt.GPT(gpt.Config(**SIZES)).eval()
    gpt.save(tmp_path / "gpt.pt", model)
    back, ids_BT = gpt.load(tmp_path / "gpt.pt"), torch.randint(60, (2, 20))
    assert back.config == model.config and torch.equal(back(ids_BT), model(ids_BT))


def test_checkpoint_writes_after_a_prompt(tmp_path, capsys):
    checkpoint = trained(tmp_path, "--steps", "1")
    capsys.readouterr()
    gpt.main(["--checkpoint", str(checkpoint), "--prompt", "été", "--tokens", "7"])
    assert capsys.readouterr().out.startswith("été")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing.txt"], r"missing\.txt cannot be used: No such file or directory\."),
        (["short.txt"], "The text has 40 bytes, and a model of 64 positions needs 650: give a longer text"),
        (["--checkpoint", "missing.pt"], r"There is no checkpoint missing\.pt: train a model first\."),
        (["--checkpoint", "short.txt"], r"short\.txt is not a checkpoint of this program: train a model first\."),
        (["short.txt", "--n-heads", "3"], "d_model a multiple of n_heads; got .*n_heads=3"),
        (["short.txt", "--n-layers", "0"], "Sizes must be at least 1.*n_layers=0"),
    ],
)
def test_bad_input_gets_a_sentence(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    Path("short.txt").write_text("too short " * 4, encoding="utf-8")
    with pytest.raises(SystemExit, match=sentence):
        gpt.main(arguments)
