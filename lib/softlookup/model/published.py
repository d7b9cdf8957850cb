"""Published weights for the code of this course: BERT, GPT-2 and Llama, as Hugging Face's `transformers` writes them.

Nothing is computed: names and orders are translated. Each model has one function that reads its description
(config.json) and one that renames its tensors; it is then run in two lines:

    model = DecoderLM(gpt2_config(description))
    model.load_state_dict(gpt2_weights(tensors, model.config))

What the models do differently from each other is what the tables below say; _renaming.py says how they are read.
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from softlookup.model._renaming import ACTIVATIONS, fields_of, id_of, layers, one_of, only, shapes, spread, translated
from softlookup.model.config import Config
from softlookup.model.language import DecoderLM, EncoderLM

_BERT_LAYER = {
    "attention.{}_q": "attention.self.query",
    "attention.{}_k": "attention.self.key",
    "attention.{}_v": "attention.self.value",
    "attention.{}_o": "attention.output.dense",
    "attention_residual.norm": "attention.output.LayerNorm",
    "feed_forward.{}_1": "intermediate.dense",
    "feed_forward.{}_2": "output.dense",
    "feed_forward_residual.norm": "output.LayerNorm",
}
_BERT = {
    "embedder.tokens.table": "embeddings.word_embeddings",
    "embedder.positions.table": "embeddings.position_embeddings",
    "embedder.segments.table": "embeddings.token_type_embeddings",
    "embedder.norm": "embeddings.LayerNorm",
    "head.transform.{}": "cls.predictions.transform.dense",
    "head.transform.norm": "cls.predictions.transform.LayerNorm",
    "head.b_out": "cls.predictions.bias",
}
_GPT2_LAYER = {
    "attention.{}_q": "attn.q",
    "attention.{}_k": "attn.k",
    "attention.{}_v": "attn.v",
    "attention.{}_o": "attn.c_proj",
    "attention_residual.norm": "ln_1",
    "feed_forward.{}_1": "mlp.c_fc",
    "feed_forward.{}_2": "mlp.c_proj",
    "feed_forward_residual.norm": "ln_2",
}
_GPT2 = {
    "embedder.tokens.table": "wte",
    "embedder.positions.table": "wpe",
    "decoder.norm": "ln_f",
    "head.w_out": "lm_head.weight",
}
_LLAMA_LAYER = {
    "attention.{}_q": "self_attn.q_proj",
    "attention.{}_k": "self_attn.k_proj",
    "attention.{}_v": "self_attn.v_proj",
    "attention.{}_o": "self_attn.o_proj",
    "attention_residual.norm": "input_layernorm",
    "feed_forward.{}_gate": "mlp.gate_proj",
    "feed_forward.{}_1": "mlp.up_proj",
    "feed_forward.{}_2": "mlp.down_proj",
    "feed_forward_residual.norm": "post_attention_layernorm",
}
_LLAMA = {
    "embedder.tokens.table": "model.embed_tokens",
    "decoder.norm": "model.norm",
    "head.w_out": "lm_head.weight",
}


def bert_config(description: Any, *, start_id: int = 101, end_id: int = 102) -> Config:
    """Describe a BERT for EncoderLM.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().
        start_id: The id of [CLS], which the description does not hold; 101 in the English vocabularies.
        end_id: The id of [SEP].

    Returns:
        The same model in our words.

    Raises:
        ValueError: If the description asks for what this library does not have, or lacks a field; the message names
            the field.

    Source: Devlin et al. 2019. Book: 13_beyond_text.html#beyond-text-published.
    """
    fields = fields_of(description, "bert")
    only(fields, hidden_act="gelu", position_embedding_type="absolute", tie_word_embeddings=True)
    only(fields, is_decoder=False, add_cross_attention=False)
    return Config(
        vocab_size=fields["vocab_size"],
        d_model=fields["hidden_size"],
        n_heads=fields["num_attention_heads"],
        n_layers=fields["num_hidden_layers"],
        d_hidden=fields["intermediate_size"],
        max_length=fields["max_position_embeddings"],
        positions="learned",
        norm_eps=fields["layer_norm_eps"],
        embedding_norm=True,
        activation="gelu",
        attention_bias=True,
        dropout=fields["hidden_dropout_prob"],
        scale_embeddings=False,
        tied=True,
        output_bias=True,
        n_segments=fields["type_vocab_size"],
        mlm_transform=True,
        pad_id=id_of(fields, "pad_token_id", 0),
        start_id=start_id,
        end_id=end_id,
    )


def bert_weights(tensors: Mapping[str, Tensor], config: Config, *, head: bool = True) -> dict[str, Tensor]:
    """Rename the tensors of a BERT: post-LN layers, whose matrices stand as (out, in).

    Args:
        tensors: Its state dict, of BertForMaskedLM, BertForPreTraining or (without head) BertModel.
        config: What bert_config made.
        head: Whether there is a head to predict hidden tokens; else only the embedder and the encoder are wanted.

    Returns:
        A state dict for EncoderLM.

    Raises:
        ValueError: If tensors are missing, left over or of the wrong shape; the message names them.

    Book: 13_beyond_text.html#beyond-text-published.
    """
    # The first files call a norm's gain and shift gamma and beta.
    tensors = {re.sub(r"\.gamma$", ".weight", re.sub(r"\.beta$", ".bias", name)): t for name, t in tensors.items()}
    tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    wanted = {name: shape for name, shape in shapes(EncoderLM, config).items() if head or not name.startswith("head.")}
    same = {
        "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }
    names = spread(_BERT) | layers(config.n_layers, "encoder.layers", "encoder.layer", _BERT_LAYER)
    # The pooler and the next-sentence head stand on top of the encoder: nothing here looks at them.
    unused = (r"pooler\..*", r"cls\.seq_relationship\..*", r"embeddings\.position_ids")
    return translated(tensors, wanted, names, same=same, unused=unused)


def gpt2_config(description: Any) -> Config:
    """Describe a GPT-2 for DecoderLM.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().

    Returns:
        The same model in our words. GPT-2 has no padding: the end token stands in for it.

    Raises:
        ValueError: If the description asks for what this library does not have, or lacks a field; the message names
            the field.

    Source: Radford et al. 2019, section 2.3. Book: 13_beyond_text.html#beyond-text-published.
    """
    fields = fields_of(description, "gpt2")
    only(fields, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, reorder_and_upcast_attn=False)
    only(fields, add_cross_attention=False)
    end_id = id_of(fields, "eos_token_id")
    return Config(
        vocab_size=fields["vocab_size"],
        d_model=fields["n_embd"],
        n_heads=fields["n_head"],
        n_layers=fields["n_layer"],
        d_hidden=fields.get("n_inner") or 4 * fields["n_embd"],
        max_length=fields["n_positions"],
        positions="learned",
        norm_eps=fields["layer_norm_epsilon"],
        pre_norm=True,
        activation=one_of(fields, "activation_function", ACTIVATIONS),
        attention_bias=True,
        dropout=fields["resid_pdrop"],
        scale_embeddings=False,
        tied=fields.get("tie_word_embeddings", True),
        pad_id=id_of(fields, "pad_token_id", end_id),
        start_id=id_of(fields, "bos_token_id", end_id),
        end_id=end_id,
    )


def gpt2_weights(tensors: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Rename the tensors of a GPT-2: its matrices stand as (in, out) like ours, query, key and value in one.

    Args:
        tensors: Its state dict, of GPT2LMHeadModel or GPT2Model.
        config: What gpt2_config made.

    Returns:
        A state dict for DecoderLM.

    Raises:
        ValueError: If tensors are missing, left over or of the wrong shape; the message names them.

    Book: 13_beyond_text.html#beyond-text-published.
    """
    cut = {}
    for name, tensor in tensors.items():
        name = name.removeprefix("transformer.")
        if ".attn.c_attn." in name:
            for letter, piece in zip("qkv", tensor.chunk(3, dim=-1), strict=True):
                cut[name.replace("c_attn", letter)] = piece
        else:
            cut[name] = tensor
    same = {"lm_head.weight": "wte.weight"} if config.tied else {}
    names = spread(_GPT2) | layers(config.n_layers, "decoder.layers", "h", _GPT2_LAYER)
    masks = (r"h\.\d+\.attn\.(masked_)?bias",)  # the causal mask, which the first files hold as a tensor
    return translated(cut, shapes(DecoderLM, config), names, same=same, unused=masks, as_they_are="decoder.")


def llama_config(description: Any) -> Config:
    """Describe a Llama for DecoderLM.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().

    Returns:
        The same model in our words. Where it has no padding, the end token stands in for it.

    Raises:
        ValueError: If the description asks for what is not read here (scaled rotary positions), or lacks a field; the
            message names the field.

    Source: Touvron et al. 2023, section 2.2. Book: 13_beyond_text.html#beyond-text-published.
    """
    fields = fields_of(description, "llama")
    # The newer descriptions keep all about rotary positions in one field, the older ones in two.
    rotary = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
    kind = rotary.get("rope_type", rotary.get("type", "default"))
    if kind != "default" or rotary.get("partial_rotary_factor", 1.0) != 1.0:
        raise ValueError(f"rotary positions are {dict(rotary)}; the default kind alone is read, unscaled")
    only(fields, hidden_act="silu", pretraining_tp=1)
    end_id = id_of(fields, "eos_token_id")
    return Config(
        vocab_size=fields["vocab_size"],
        d_model=fields["hidden_size"],
        n_heads=fields["num_attention_heads"],
        n_layers=fields["num_hidden_layers"],
        d_hidden=fields["intermediate_size"],
        head_width=fields.get("head_dim"),
        n_kv_heads=fields.get("num_key_value_heads"),
        max_length=fields["max_position_embeddings"],
        positions="rotary_halves",
        rotary_base=float(rotary.get("rope_theta", fields.get("rope_theta", 10000.0))),
        norm="rms",
        norm_eps=fields["rms_norm_eps"],
        pre_norm=True,
        activation="swiglu",
        attention_bias=fields.get("attention_bias", False),
        hidden_bias=fields.get("mlp_bias", False),
        dropout=0.0,
        scale_embeddings=False,
        tied=fields.get("tie_word_embeddings", False),
        pad_id=id_of(fields, "pad_token_id", end_id),
        start_id=id_of(fields, "bos_token_id"),
        end_id=end_id,
    )


def llama_weights(tensors: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Rename the tensors of a Llama: pre-LN layers without biases, gated feed-forward networks.

    Args:
        tensors: Its state dict, of LlamaForCausalLM.
        config: What llama_config made.

    Returns:
        A state dict for DecoderLM.

    Raises:
        ValueError: If tensors are missing, left over or of the wrong shape; the message names them.

    Book: 13_beyond_text.html#beyond-text-published.
    """
    same = {"lm_head.weight": "model.embed_tokens.weight"} if config.tied else {}
    names = spread(_LLAMA) | layers(config.n_layers, "decoder.layers", "model.layers", _LLAMA_LAYER)
    speeds = (r".*\.rotary_emb\.inv_freq",)  # a formula gives them
    return translated(tensors, shapes(DecoderLM, config), names, same=same, unused=speeds)
