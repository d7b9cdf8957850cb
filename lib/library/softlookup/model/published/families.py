"""Published weights for the code of this course: BERT, GPT-2, Llama and its kin, as `transformers` writes them.

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

from softlookup.describing.entries import Entries
from softlookup.model.parts.config import Config
from softlookup.model.published._decoder_weights import decoder_weights
from softlookup.model.published._renaming import ACTIVATIONS, layers, shapes, spread, translated
from softlookup.model.published.open_decoders import decoder_config
from softlookup.model.whole.language import DecoderLM, EncoderLM

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
_LLAMA_KIN = ("llama", "mistral", "qwen3", "smollm3")


def bert_config(description: Any, *, start_id: int = 101, end_id: int = 102) -> Config:
    """Describe a BERT for EncoderLM.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().
        start_id: The id of [CLS], which the description does not hold; 101 in the English vocabularies.
        end_id: The id of [SEP].

    Returns:
        The same model in our words.

    Raises:
        TypeError: If the description is neither.
        ValueError: If the description asks for what this library does not have, lacks a field, or has one that is not
            understood; the message names the field.

    Source: Devlin et al. 2019.
    """
    entries = Entries(description, ["bert"])
    entries.only(hidden_act="gelu", position_embedding_type="absolute", tie_word_embeddings=True)
    entries.only(is_decoder=False, add_cross_attention=False)
    config = Config(
        vocab_size=entries.size("vocab_size"),
        d_model=entries.size("hidden_size"),
        n_heads=entries.size("num_attention_heads"),
        n_layers=entries.size("num_hidden_layers"),
        d_hidden=entries.size("intermediate_size"),
        max_length=entries.size("max_position_embeddings"),
        positions="learned",
        norm_eps=entries.number("layer_norm_eps", 1e-12),
        embedding_norm=True,
        activation="gelu",
        attention_bias=True,
        dropout=entries.number("hidden_dropout_prob", 0.1),
        scale_embeddings=False,
        tied=True,
        output_bias=True,
        n_segments=entries.size("type_vocab_size", 2),
        mlm_transform=True,
        pad_id=entries.token_id("pad_token_id", 0),
        start_id=start_id,
        end_id=end_id,
    )
    entries.refuse_the_rest()
    return config


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
    """
    # The first files call a norm's gain and shift gamma and beta.
    tensors = {re.sub(r"\.gamma$", ".weight", re.sub(r"\.beta$", ".bias", name)): t for name, t in tensors.items()}
    tensors = {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}
    expected_shapes = {
        name: shape for name, shape in shapes(EncoderLM, config).items() if head or not name.startswith("head.")
    }
    same = {
        "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }
    names = spread(_BERT) | layers(config.n_layers, "encoder.layers", "encoder.layer", _BERT_LAYER)
    # The pooler and the next-sentence head stand on top of the encoder: nothing here looks at them.
    unused = (r"pooler\..*", r"cls\.seq_relationship\..*", r"embeddings\.position_ids")
    return translated(tensors, expected_shapes, names, same=same, unused=unused)


def gpt2_config(description: Any) -> Config:
    """Describe a GPT-2 for DecoderLM.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().

    Returns:
        The same model in our words. GPT-2 has no padding: the end token stands in for it.

    Raises:
        TypeError: If the description is neither.
        ValueError: If the description asks for what this library does not have, lacks a field, or has one that is not
            understood; the message names the field.

    Source: Radford et al. 2019, section 2.3.
    """
    entries = Entries(description, ["gpt2"])
    entries.only(scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, reorder_and_upcast_attn=False)
    entries.only(add_cross_attention=False)
    end_id = entries.token_id("eos_token_id")
    config = Config(
        vocab_size=entries.size("vocab_size"),
        d_model=entries.size("n_embd"),
        n_heads=entries.size("n_head"),
        n_layers=entries.size("n_layer"),
        d_hidden=entries.size("n_inner", 4 * entries.size("n_embd")),
        max_length=entries.size("n_positions"),
        positions="learned",
        norm_eps=entries.number("layer_norm_epsilon", 1e-5),
        pre_norm=True,
        activation=entries.one_of("activation_function", ACTIVATIONS, "gelu_new"),
        attention_bias=True,
        dropout=entries.number("resid_pdrop", 0.1),
        scale_embeddings=False,
        tied=entries.flag("tie_word_embeddings", True),
        pad_id=entries.token_id("pad_token_id", end_id),
        start_id=entries.token_id("bos_token_id", end_id),
        end_id=end_id,
    )
    entries.refuse_the_rest()
    return config


def gpt2_weights(tensors: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Rename the tensors of a GPT-2: its matrices stand as (in, out) like ours, query, key and value in one.

    Args:
        tensors: Its state dict, of GPT2LMHeadModel or GPT2Model.
        config: What gpt2_config made.

    Returns:
        A state dict for DecoderLM.

    Raises:
        ValueError: If tensors are missing, left over or of the wrong shape; the message names them.
    """
    cut = {}
    for name, tensor in tensors.items():
        name = name.removeprefix("transformer.")
        if ".attn.c_attn." in name:
            for letter, part in zip("qkv", tensor.chunk(3, dim=-1), strict=True):
                cut[name.replace("c_attn", letter)] = part
        else:
            cut[name] = tensor
    same = {"lm_head.weight": "wte.weight"} if config.tied else {}
    names = spread(_GPT2) | layers(config.n_layers, "decoder.layers", "h", _GPT2_LAYER)
    masks = (r"h\.\d+\.attn\.(masked_)?bias",)  # the causal mask, which the first files hold as a tensor
    return translated(cut, shapes(DecoderLM, config), names, same=same, unused=masks, as_they_are="decoder.")


def llama_config(description: Any) -> Config:
    """Describe a Llama for DecoderLM, or a model of its kind: Mistral, Qwen3, SmolLM3. decoder_config reads many more.

    Args:
        description: The model's config.json as a mapping, or a configuration object with to_dict().

    Returns:
        The same model in our words. Where it has no padding or no start, the end token stands in for it.

    Raises:
        TypeError: If the description is neither.
        ValueError: If the description is of another model_type, lacks a field, or has one that is not understood; the
            message names the field.

    Source: Touvron et al. 2023, section 2.2; Jiang et al. 2023 (Mistral).
    """
    Entries(description, _LLAMA_KIN)  # refuses other models
    return decoder_config(description)


def llama_weights(tensors: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """Rename the tensors of a Llama or of a model of its kind: pre-LN layers, gated feed-forward networks.

    Args:
        tensors: Its state dict, of LlamaForCausalLM, MistralForCausalLM, Qwen3ForCausalLM or SmolLM3ForCausalLM.
        config: What llama_config made.

    Returns:
        A state dict for DecoderLM.

    Raises:
        ValueError: If tensors are missing, left over or of the wrong shape; the message names them.
    """
    return decoder_weights(tensors, config, "llama")
