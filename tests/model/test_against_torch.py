"""The layers and stacks of this library and torch's own, with the same weights: equal outputs, equal gradients.

torch's boolean masks mean the opposite of ours (True = hidden). Its products and sums are ordered otherwise, so that
float64 results differ by rounding alone: 1e-12.
"""

import warnings

import pytest
import torch
from torch import nn

from softlookup.model.parts.config import Config
from softlookup.model.parts.layers import Layer
from softlookup.model.whole.stack import Decoder, Encoder
from softlookup.model.whole.transformer import Transformer

D, N, F, L, B, T, S = 12, 3, 20, 2, 3, 6, 5
EXACT = {"rtol": 1e-12, "atol": 1e-12}
SHAPES = [(pre_norm, activation) for pre_norm in (False, True) for activation in ("relu", "gelu")]
NAMES = [f"{'pre' if pre_norm else 'post'}-LN-{activation}" for pre_norm, activation in SHAPES]


def config_of(pre_norm, activation):
    return Config(
        vocab_size=9, d_model=D, n_heads=N, n_layers=L, d_hidden=F, attention_bias=True, dropout=0.0,
        pre_norm=pre_norm, activation=activation,
    )  # fmt: skip


def options_of(pre_norm, activation):
    return {"norm_first": pre_norm, "activation": activation, "dropout": 0.0, "batch_first": True}


def stirred(module):
    """Move every weight off its first value: biases of zero and gains of one would hide a forgotten one."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in module.parameters():
            weight.add_(0.3 * torch.randn(weight.shape, generator=generator))
    return module.double()


def attention_of(torch_tensors, name, library_name):
    """Cut torch's packed projections, and transpose: its Linear keeps (out, in)."""
    q, k, v = torch_tensors[f"{name}.in_proj_weight"].chunk(3)
    matrices = {"w_q": q.mT, "w_k": k.mT, "w_v": v.mT, "w_o": torch_tensors[f"{name}.out_proj.weight"].mT}
    biases = zip(("b_q", "b_k", "b_v"), torch_tensors[f"{name}.in_proj_bias"].chunk(3), strict=True)
    return {f"{library_name}.{key}": value for key, value in (matrices | dict(biases)).items()} | {
        f"{library_name}.b_o": torch_tensors[f"{name}.out_proj.bias"]
    }


def norm_of(torch_tensors, name, library_name):
    return {
        f"{library_name}.gain": torch_tensors[f"{name}.weight"],
        f"{library_name}.shift": torch_tensors[f"{name}.bias"],
    }


def layer_of(torch_tensors):
    """Name the tensors of one of torch's layers (weights, or their gradients) as ours are named."""
    tensors = attention_of(torch_tensors, "self_attn", "attention") | norm_of(
        torch_tensors, "norm1", "attention_residual.norm"
    )
    last = "norm2"
    if "multihead_attn.in_proj_weight" in torch_tensors:
        tensors |= attention_of(torch_tensors, "multihead_attn", "cross_attention")
        tensors |= norm_of(torch_tensors, "norm2", "cross_residual.norm")
        last = "norm3"
    tensors |= norm_of(torch_tensors, last, "feed_forward_residual.norm")
    for i in (1, 2):
        tensors[f"feed_forward.w_{i}"] = torch_tensors[f"linear{i}.weight"].mT
        tensors[f"feed_forward.b_{i}"] = torch_tensors[f"linear{i}.bias"]
    return tensors


def stack_of(torch_tensors):
    layers = {}
    for name, tensor in torch_tensors.items():
        if name.startswith("layers."):
            _, i, rest = name.split(".", 2)
            layers.setdefault(i, {})[rest] = tensor
    tensors = {f"layers.{i}.{name}": t for i, layer in layers.items() for name, t in layer_of(layer).items()}
    return tensors | (norm_of(torch_tensors, "norm", "norm") if "norm.weight" in torch_tensors else {})


def gradients(module):
    return {name: weight.grad for name, weight in module.named_parameters()}


def assert_same_gradients(module, expected_gradients, **inputs):
    for name, weight in module.named_parameters():
        torch.testing.assert_close(
            weight.grad, expected_gradients[name], **EXACT, msg=lambda text, n=name: f"{n}: {text}"
        )
    for name, (x, y) in inputs.items():
        torch.testing.assert_close(x.grad, y.grad, **EXACT, msg=lambda text, n=name: f"{n}: {text}")


def twice(*shape):
    x = torch.randn(*shape, dtype=torch.float64)
    return x.clone().requires_grad_(), x.requires_grad_()


def padding(length):
    """Which tokens are real; every row keeps at least one."""
    return torch.arange(length) < torch.tensor([length, length - 2, 1])[:, None]


# None, causal, a random mask in which every token sees itself, padding, and two at once.
RANDOM = torch.rand(T, T, generator=torch.Generator().manual_seed(2)) < 0.4
SELF_MASKS = {
    "all": (None, None),
    "causal": (torch.ones(T, T, dtype=torch.bool).tril(), None),
    "random": (RANDOM | torch.eye(T, dtype=torch.bool), None),
    "padding": (None, padding(T)),
    "causal-padding": (torch.ones(T, T, dtype=torch.bool).tril(), padding(T)),
}


def library_mask(mask, real):
    """Both of torch's masks as one of ours, (B, 1, T, S)."""
    both = None if mask is None else mask[None, None]
    keys = None if real is None else real[:, None, None, :]
    return keys if both is None else both if keys is None else both & keys


def torch_mask(mask):
    return None if mask is None else ~mask


@pytest.mark.parametrize(("pre_norm", "activation"), SHAPES, ids=NAMES)
@pytest.mark.parametrize(
    ("masks", "memory_real"),
    [*((masks, None) for masks in SELF_MASKS.values()), (SELF_MASKS["causal-padding"], padding(S))],
    ids=[*SELF_MASKS, "padded-memory"],
)
def test_decoder_layer_equals_torchs(pre_norm, activation, masks, memory_real):
    mask, real = masks
    torch_layer = stirred(nn.TransformerDecoderLayer(D, N, F, **options_of(pre_norm, activation)))
    layer = Layer(config_of(pre_norm, activation), cross=True).double()
    layer.load_state_dict(layer_of(torch_layer.state_dict()))
    x, y = twice(B, T, D)
    memory, memory_copy = twice(B, S, D)
    got = layer(x, library_mask(mask, real), memory, library_mask(None, memory_real))
    expected = torch_layer(
        y,
        memory_copy,
        tgt_mask=torch_mask(mask),
        tgt_key_padding_mask=torch_mask(real),
        memory_key_padding_mask=torch_mask(memory_real),
    )
    torch.testing.assert_close(got, expected, **EXACT)
    weights = torch.randn_like(got)
    (got * weights).sum().backward()
    (expected * weights).sum().backward()
    assert_same_gradients(layer, layer_of(gradients(torch_layer)), x=(x, y), memory=(memory, memory_copy))


def pair_of_transformers(pre_norm, activation):
    """Our encoder and decoder, and nn.Transformer with the same weights.

    nn.Transformer has a norm after each stack always. That is right for pre-LN; post-LN layers end in a norm
    already, and the paper has no other: there torch's last norms are taken off.
    """
    with warnings.catch_warnings():
        # torch notes, in words that depend on the options, that its fast path for inference is not taken.
        warnings.filterwarnings("ignore", message="enable_nested_tensor is True", category=UserWarning)
        torch_transformer = nn.Transformer(D, N, L, L, F, **options_of(pre_norm, activation))
    if not pre_norm:
        torch_transformer.encoder.norm = torch_transformer.decoder.norm = None
    torch_transformer = stirred(torch_transformer)
    config = config_of(pre_norm, activation)
    encoder, decoder = Encoder(config).double(), Decoder(config).double()
    encoder.load_state_dict(stack_of(torch_transformer.encoder.state_dict()))
    decoder.load_state_dict(stack_of(torch_transformer.decoder.state_dict()))
    return encoder, decoder, torch_transformer


@pytest.mark.parametrize(("pre_norm", "activation"), SHAPES, ids=NAMES)
def test_transformer_equals_nn_transformer_between_its_embeddings_and_its_head(pre_norm, activation):
    encoder, decoder, torch_transformer = pair_of_transformers(pre_norm, activation)
    model = Transformer(config_of(pre_norm, activation)).double()
    model.encoder.load_state_dict(encoder.state_dict())
    model.decoder.load_state_dict(decoder.state_dict())
    source = torch.tensor([[4, 5, 6, 7], [8, 3, 0, 0]])
    target = torch.tensor([[2, 5, 5], [2, 7, 0]])
    table = model.embedder.tokens.table.detach().clone().requires_grad_()
    # The paper's sinusoids, number by number.
    angles = [[p / 10000 ** (i // 2 * 2 / D) for i in range(D)] for p in range(source.shape[1])]
    places = torch.tensor(angles, dtype=torch.float64)
    places[:, 0::2], places[:, 1::2] = places[:, 0::2].sin(), places[:, 1::2].cos()
    states = torch_transformer(
        nn.functional.embedding(source, table, padding_idx=0) * D**0.5 + places[:4],
        nn.functional.embedding(target, table, padding_idx=0) * D**0.5 + places[:3],
        tgt_mask=torch.ones(3, 3, dtype=torch.bool).triu(1),
        src_key_padding_mask=source == 0,
        memory_key_padding_mask=source == 0,
    )
    real = target != 0
    got, expected = model(source, target)[real], nn.functional.linear(states, table)[real]
    torch.testing.assert_close(got, expected, **EXACT)
    weights = torch.randn_like(got)
    (got * weights).sum().backward()
    (expected * weights).sum().backward()
    assert_same_gradients(model.encoder, stack_of(gradients(torch_transformer.encoder)))
    assert_same_gradients(
        model.decoder, stack_of(gradients(torch_transformer.decoder)), table=(model.embedder.tokens.table, table)
    )
