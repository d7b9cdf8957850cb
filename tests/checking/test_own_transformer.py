"""The capstone of chapter 8: the published encoder-decoder equals the library's and nn.Transformer's."""

import pytest
import torch
from torch import nn

from published import world
from softlookup import model

V, D, N, F, L, PAD = 23, 12, 3, 20, 2, 0
SOURCE = torch.tensor([[5, 6, 7, 8, 9], [10, 11, 12, PAD, PAD]])
TARGET = torch.tensor([[2, 20, 21, 22], [2, 4, 13, 14]])


@pytest.fixture
def notebook_model():
    torch.manual_seed(3)
    transformer = world(8)["Transformer"](V, D, N, F, L, PAD).double()
    with torch.no_grad():
        for parameter in transformer.parameters():
            parameter.copy_(torch.randn_like(parameter) / (D**0.5 if parameter.ndim > 1 else 4))
    return transformer


def library_names(state):
    """The notebook's names as the library's."""
    renamed = {"embedder.tokens.table": state["embedding"]}
    residuals = {"encoder": ("attention", "feed_forward"), "decoder": ("attention", "cross", "feed_forward")}
    for stack, parts in residuals.items():
        for i in range(L):
            layer, library_layer = f"{stack}.{i}", f"{stack}.layers.{i}"
            for number, part in enumerate(parts, start=1):
                long = "cross_attention" if part == "cross" else part
                short = long.replace("_attention", "")
                for kind, name in (("weight", "gain"), ("bias", "shift")):
                    renamed[f"{library_layer}.{short}_residual.norm.{name}"] = state[f"{layer}.norm_{number}.{kind}"]
                if part != "feed_forward":
                    for w in ("w_q", "w_k", "w_v", "w_o"):
                        renamed[f"{library_layer}.{long}.{w}"] = state[f"{layer}.{part}.{w}"]
            for place, number in ((0, 1), (2, 2)):
                renamed[f"{library_layer}.feed_forward.w_{number}"] = state[f"{layer}.feed_forward.{place}.weight"].T
                renamed[f"{library_layer}.feed_forward.b_{number}"] = state[f"{layer}.feed_forward.{place}.bias"]
        for kind, name in (("weight", "gain"), ("bias", "shift")):
            renamed[f"{stack}.norm.{name}"] = state[f"{stack}_norm.{kind}"]
    return renamed


@torch.no_grad()
def test_own_transformer_equals_the_librarys(notebook_model):
    config = model.Config(
        vocab_size=V, d_model=D, n_heads=N, n_layers=L, d_hidden=F, dropout=0.0, pre_norm=True, pad_id=PAD
    )
    library = model.Transformer(config).double().eval()
    library.load_state_dict(library_names(notebook_model.state_dict()))
    torch.testing.assert_close(notebook_model(SOURCE, TARGET), library(SOURCE, TARGET), rtol=1e-11, atol=1e-11)


@torch.no_grad()
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # of no use with the norm first, torch says
def test_own_transformer_equals_torchs_between_embeddings_and_logits(notebook_model):
    torch_transformer = nn.Transformer(
        D, N, L, L, F, dropout=0.0, norm_first=True, batch_first=True, dtype=torch.float64
    ).eval()
    named = {}
    for stack, parts in (
        ("encoder", {"attention": "self_attn"}),
        ("decoder", {"attention": "self_attn", "cross": "multihead_attn"}),
    ):
        for i, layer in enumerate(getattr(notebook_model, stack)):
            place = f"{stack}.layers.{i}"
            for part, name in parts.items():
                attention = getattr(layer, part)
                stacked = torch.cat([attention.w_q.T, attention.w_k.T, attention.w_v.T])
                named[f"{place}.{name}.in_proj_weight"] = stacked
                named[f"{place}.{name}.in_proj_bias"] = torch.zeros(3 * D, dtype=torch.float64)
                named[f"{place}.{name}.out_proj.weight"] = attention.w_o.T
                named[f"{place}.{name}.out_proj.bias"] = torch.zeros(D, dtype=torch.float64)
            for number, at in ((1, 0), (2, 2)):
                named[f"{place}.linear{number}.weight"] = layer.feed_forward[at].weight
                named[f"{place}.linear{number}.bias"] = layer.feed_forward[at].bias
            for number in range(1, len(parts) + 2):
                for kind in ("weight", "bias"):
                    named[f"{place}.norm{number}.{kind}"] = getattr(getattr(layer, f"norm_{number}"), kind)
        for kind in ("weight", "bias"):
            named[f"{stack}.norm.{kind}"] = getattr(getattr(notebook_model, f"{stack}_norm"), kind)
    torch_transformer.load_state_dict(named)
    hidden = SOURCE.eq(PAD)
    future = ~torch.ones(4, 4, dtype=torch.bool).tril()
    y = torch_transformer(
        notebook_model.embed(SOURCE),
        notebook_model.embed(TARGET),
        tgt_mask=future,
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
    )
    torch.testing.assert_close(notebook_model(SOURCE, TARGET), y @ notebook_model.embedding.T, rtol=1e-11, atol=1e-11)


@torch.no_grad()
def test_own_transformer_keeps_the_future_and_the_padding_out(notebook_model):
    logits = notebook_model(SOURCE, TARGET)
    later = TARGET.clone()
    later[:, -1] = 19
    assert torch.equal(notebook_model(SOURCE, later)[:, :-1], logits[:, :-1])
    longer = nn.functional.pad(SOURCE, (0, 3), value=PAD)
    torch.testing.assert_close(notebook_model(longer, TARGET), logits, rtol=1e-11, atol=1e-11)
    other = SOURCE.clone()
    other[:, 0] = 18
    assert (notebook_model(other, TARGET) - logits).abs().max() > 1e-3
