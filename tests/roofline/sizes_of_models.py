"""Small models of every kind that is counted, the library's own models of these sizes, and a card that was measured."""

import json
from pathlib import Path

import torch

from softlookup import model
from softlookup.roofline import TransformerSizes, measured_hardware

MEASURED_H100 = measured_hardware(
    json.loads((Path(__file__).parents[2] / "book" / "measured" / "roofline_h100.json").read_text(encoding="utf-8"))
)

SMALL = (
    TransformerSizes("plain", D=24, N=4, F=40, V=50, L=3, hidden_bias=True),
    TransformerSizes("biased", D=24, N=4, F=40, V=50, L=3, attention_bias=True, hidden_bias=True, positions=64),
    TransformerSizes("grouped", D=20, N=6, K=2, H=7, F=30, V=41, L=2, gated=True, activation="silu", norm="rms"),
    TransformerSizes("untied", D=16, N=2, K=1, F=24, V=33, L=4, gated=True, activation="silu", norm="rms", tied=False),
    TransformerSizes("pair", D=24, N=4, F=40, V=50, L=3, decoder_layers=2, hidden_bias=True),
    TransformerSizes("grouped pair", D=24, N=4, K=2, H=5, F=40, V=50, L=2, decoder_layers=3, tied=False),
)


def built(sizes):
    """The library's own model of these sizes, on the device that holds no numbers."""
    config = model.Config(
        sizes.V,
        d_model=sizes.D,
        n_heads=sizes.N,
        n_layers=sizes.L,
        n_decoder_layers=sizes.decoder_layers,
        d_hidden=sizes.F,
        head_width=sizes.H,
        n_kv_heads=sizes.K,
        max_length=sizes.positions or 64,
        positions="learned" if sizes.positions else "none",
        norm=sizes.norm,
        pre_norm=sizes.last_norm,
        activation="swiglu" if sizes.gated else sizes.activation,
        attention_bias=sizes.attention_bias,
        hidden_bias=sizes.hidden_bias,
        tied=sizes.tied,
        dropout=0.0,
    )
    with torch.device("meta"):
        return (model.Transformer if sizes.decoder_layers else model.DecoderLM)(config)
