"""Published weights for the code of this course, where there are two stacks: Marian and T5.

As in published.py, names and orders are translated, and a model is run in two lines:

    model = Transformer(t5_config(description))
    model.load_state_dict(t5_weights(tensors, model.config))
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from softlookup.describing.entries import Entries
from softlookup.model.parts.config import Activation, Config
from softlookup.model.published._renaming import ACTIVATIONS, layers, shapes, spread, translated
from softlookup.model.whole.transformer import Transformer

_T5_ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "gated-gelu": "geglu_tanh", "gated-silu": "swiglu"}

_MARIAN_LAYER = {
    "attention.{}_q": "self_attn.q_proj",
    "attention.{}_k": "self_attn.k_proj",
    "attention.{}_v": "self_attn.v_proj",
    "attention.{}_o": "self_attn.out_proj",
    "attention_residual.norm": "self_attn_layer_norm",
    "cross_attention.{}_q": "encoder_attn.q_proj",
    "cross_attention.{}_k": "encoder_attn.k_proj",
    "cross_attention.{}_v": "encoder_attn.v_proj",
    "cross_attention.{}_o": "encoder_attn.out_proj",
    "cross_residual.norm": "encoder_attn_layer_norm",
    "feed_forward.{}_1": "fc1",
    "feed_forward.{}_2": "fc2",
    "feed_forward_residual.norm": "final_layer_norm",
}
_MARIAN = {
    "embedder.tokens.table": "model.shared",
    "head.b_out": "final_logits_bias",
}
_T5 = {
    "embedder.tokens.table": "shared",
    "encoder.bias.table": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "decoder.bias.table": "decoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    "encoder.norm": "encoder.final_layer_norm",
    "decoder.norm": "decoder.final_layer_norm",
    "head.w_out": "lm_head.weight",
}


def marian_config(description: Any) -> Config:
    """Describe a Marian (the OPUS-MT translators) for Transformer: the paper's model, with biases throughout.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().

    Returns:
        The same model in our words.

    Raises:
        TypeError: If the description is neither.
        ValueError: If the description asks for what this library does not have (two vocabularies, another encoder
            than decoder), lacks a field, or has one that is not understood; the message names the field.

    Source: Junczys-Dowmunt et al. 2018.
    """
    entries = Entries(description, ["marian"])
    vocab_size, n_heads = entries.size("vocab_size"), entries.size("encoder_attention_heads")
    n_layers, d_hidden = entries.size("encoder_layers"), entries.size("encoder_ffn_dim")
    entries.only(share_encoder_decoder_embeddings=True, tie_word_embeddings=True, decoder_vocab_size=vocab_size)
    for name, expected in (("decoder_ffn_dim", d_hidden), ("decoder_attention_heads", n_heads)):
        entries.size(name)
        entries.only(**{name: expected})
    entries.only(num_hidden_layers=n_layers)
    entries.only(normalize_before=False, normalize_embedding=False, add_final_layer_norm=False)
    entries.only(static_position_embeddings=True, is_encoder_decoder=True)
    pad_id = entries.token_id("pad_token_id")
    config = Config(
        vocab_size=vocab_size,
        d_model=entries.size("d_model"),
        n_heads=n_heads,
        n_layers=n_layers,
        n_decoder_layers=entries.size("decoder_layers"),
        d_hidden=d_hidden,
        max_length=entries.size("max_position_embeddings"),
        positions="sinusoidal_halves",
        activation=entries.one_of("activation_function", ACTIVATIONS, "gelu"),
        attention_bias=True,
        dropout=entries.number("dropout", 0.1),
        scale_embeddings=entries.flag("scale_embedding", False),
        tied=True,
        output_bias=True,
        pad_id=pad_id,
        start_id=entries.token_id("decoder_start_token_id", pad_id),
        end_id=entries.token_id("eos_token_id"),
    )
    entries.refuse_the_rest(["extra_pos_embeddings"])  # of the fairseq files that some were made from
    return config


def marian_weights(tensors: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Rename the tensors of a Marian: post-LN layers, one table for sources, targets and output.

    Args:
        tensors: Its state dict, of MarianMTModel.
        config: What marian_config made.

    Returns:
        A state dict for Transformer.

    Raises:
        ValueError: If tensors are missing, left over or of the wrong shape; the message names them.
    """
    tensors = dict(tensors)
    if "final_logits_bias" in tensors:
        tensors["final_logits_bias"] = tensors["final_logits_bias"].flatten()  # kept as (1, V)
    others = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")
    same = dict.fromkeys(others, "model.shared.weight")
    names = spread(_MARIAN)
    for stack, n_layers in _stacks(config):
        names |= layers(n_layers, f"{stack}.layers", f"model.{stack}.layers", _MARIAN_LAYER)
    sinusoids = (r"model\.(en|de)coder\.embed_positions\.weight",)  # a formula gives them
    return translated(tensors, shapes(Transformer, config), names, same=same, unused=sinusoids)


def t5_config(description: Any) -> Config:
    """Describe a T5, version 1.0 or 1.1, for Transformer.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().

    Returns:
        The same model in our words. Its targets begin with the id of padding.

    Raises:
        TypeError: If the description is neither.
        ValueError: If the description asks for what this library does not have, lacks a field, or has one that is not
            understood; the message names the field.

    Source: Raffel et al. 2020, section 2.1; Shazeer 2020 (version 1.1).
    """
    entries = Entries(description, ["t5"])
    entries.only(relative_attention_num_buckets=32, relative_attention_max_distance=128, is_encoder_decoder=True)
    pad_id, d_model = entries.token_id("pad_token_id"), entries.size("d_model")
    # Only tied logits are scaled; the newest descriptions keep no other trace of untied ones.
    tied = entries.flag("scale_decoder_outputs", entries.flag("tie_word_embeddings", True))
    n_layers = entries.size("num_layers")
    config = Config(
        vocab_size=entries.size("vocab_size"),
        d_model=d_model,
        n_heads=entries.size("num_heads"),
        n_layers=n_layers,
        n_decoder_layers=entries.size("num_decoder_layers", n_layers),
        d_hidden=entries.size("d_ff"),
        head_width=entries.size("d_kv"),
        max_length=entries.size("n_positions", 512),
        positions="t5",
        norm="rms",
        norm_eps=entries.number("layer_norm_epsilon", 1e-6),
        pre_norm=True,
        activation=entries.one_of("feed_forward_proj", _T5_ACTIVATIONS, "relu"),
        hidden_bias=False,
        attention_scale=1.0,
        dropout=entries.number("dropout_rate", 0.1),
        scale_embeddings=False,
        tied=tied,
        tied_scale=d_model**-0.5 if tied else None,
        pad_id=pad_id,
        start_id=entries.token_id("decoder_start_token_id", pad_id),
        end_id=entries.token_id("eos_token_id"),
    )
    entries.refuse_the_rest(["dense_act_fn", "is_gated_act"])  # both follow from feed_forward_proj
    return config


def t5_weights(tensors: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Rename the tensors of a T5: pre-LN layers without biases; the first layer of each stack keeps all its distances.

    Args:
        tensors: Its state dict, of T5ForConditionalGeneration.
        config: What t5_config made.

    Returns:
        A state dict for Transformer.

    Raises:
        ValueError: If tensors are missing, left over or of the wrong shape; the message names them.
    """
    same = {f"{stack}.embed_tokens.weight": "shared.weight" for stack in ("encoder", "decoder")}
    if config.tied:
        same["lm_head.weight"] = "shared.weight"
    names = spread(_T5)
    for stack, n_layers in _stacks(config):
        names |= layers(n_layers, f"{stack}.layers", f"{stack}.block", _t5_layer(stack, config))
    # Some files keep a table for cross-attention, which no code reads.
    unused = (r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",)
    return translated(tensors, shapes(Transformer, config), names, same=same, unused=unused)


def _t5_layer(stack: str, config: Config) -> dict[str, str]:
    """T5 counts its sublayers, so that the feed-forward network's number depends on the stack."""
    last = 1 if stack == "encoder" else 2
    network = f"layer.{last}.DenseReluDense"
    gated = config.activation != "relu"
    return (
        {f"attention.{{}}_{letter}": f"layer.0.SelfAttention.{letter}" for letter in "qkvo"}
        | {f"cross_attention.{{}}_{letter}": f"layer.1.EncDecAttention.{letter}" for letter in "qkvo"}
        | {"attention_residual.norm": "layer.0.layer_norm", "cross_residual.norm": "layer.1.layer_norm"}
        | {"feed_forward_residual.norm": f"layer.{last}.layer_norm", "feed_forward.{}_2": f"{network}.wo"}
        | {"feed_forward.{}_1": f"{network}.wi_1" if gated else f"{network}.wi"}
        | {"feed_forward.{}_gate": f"{network}.wi_0"}
    )


def _stacks(config: Config) -> tuple[tuple[str, int], ...]:
    return ("encoder", config.n_layers), ("decoder", config.n_decoder_layers or config.n_layers)
