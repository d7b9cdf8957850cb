"""Descriptions and tensors of published models: read, counted, renamed, refused. Equality: test_against_huggingface."""

import pytest
import torch

from softlookup.model.published.families import bert_config, bert_weights, gpt2_config, gpt2_weights, llama_config
from softlookup.model.whole.language import DecoderLM, EncoderLM

# What stands in the config.json of published models, as far as it says how they are built.
BERT = {
    "model_type": "bert", "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "max_position_embeddings": 512,
    "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
}  # fmt: skip
GPT2 = {
    "model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
    "activation_function": "gelu_new", "resid_pdrop": 0.1, "layer_norm_epsilon": 1e-5, "bos_token_id": 50256,
    "eos_token_id": 50256,
}  # fmt: skip
LLAMA = {
    "model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 32, "intermediate_size": 11008, "hidden_act": "silu", "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5, "rope_scaling": None, "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
SLIDING = LLAMA | {"model_type": "qwen3", "num_hidden_layers": 5, "use_sliding_window": True, "sliding_window": 4}
SMOLLM3 = LLAMA | {"model_type": "smollm3", "num_hidden_layers": 5}


@pytest.mark.parametrize(
    ("model", "config", "published"),
    [
        # BERT base as BertForMaskedLM: 109,482,240 with a pooler that is not here (590,592), and the head's
        # projection, norm and biases.
        (EncoderLM, bert_config(BERT), 109_482_240 - 590_592 + (590_592 + 1_536 + 30_522)),
        (DecoderLM, gpt2_config(GPT2), 124_439_808),
        (DecoderLM, llama_config(LLAMA), 6_738_415_616),
    ],
    ids=["bert-base", "gpt2", "llama-2-7b"],
)
def test_models_of_published_sizes_have_the_published_number_of_weights(model, config, published):
    with torch.device("meta"):  # numbers are counted, none is made
        assert sum(weight.numel() for weight in model(config).parameters()) == published


def test_descriptions_are_read_into_our_words():
    config = llama_config(LLAMA | {"rope_theta": 5e5, "num_key_value_heads": 8})
    assert (config.positions, config.rotary_base, config.n_kv_heads) == ("rotary_halves", 5e5, 8)
    assert (config.pad_id, config.start_id, config.end_id) == (2, 1, 2)
    config = llama_config(LLAMA | {"rope_parameters": {"rope_type": "default", "rope_theta": 7.0}, "head_dim": 64})
    assert (config.rotary_base, config.head_width) == (7.0, 64)
    config = bert_config(BERT)
    assert (config.start_id, config.end_id, config.norm_eps, config.max_length) == (101, 102, 1e-12, 512)
    assert gpt2_config(GPT2).d_hidden == 3072


def test_layers_are_described_by_every_nth_where_that_is_enough():
    slides, full = "sliding_attention", "full_attention"
    regular = llama_config(SLIDING | {"layer_types": [slides, slides, full, slides, slides]})
    assert (regular.window, regular.global_every, regular.parts) == (4, 3, None)
    odd = llama_config(SLIDING | {"layer_types": [full, slides, slides, slides, slides]})
    assert (odd.window, odd.global_every, odd.parts.windows) == (None, None, (None, 4, 4, 4, 4))
    assert llama_config(SMOLLM3).no_rotary_every == 4
    none = llama_config(SMOLLM3 | {"no_rope_layers": [0] * 5})
    assert (none.no_rotary_every, none.parts.turned_layers) == (None, (False,) * 5)


class Described:
    def to_dict(self):
        return GPT2


def test_descriptions_may_be_objects():
    assert gpt2_config(Described()) == gpt2_config(GPT2)


@pytest.mark.parametrize(
    ("config", "description", "message"),
    [
        (gpt2_config, BERT, "model_type is 'bert'; this library has gpt2 alone"),
        (bert_config, BERT | {"position_embedding_type": "relative_key"}, "position_embedding_type is 'relative_key'"),
        (bert_config, BERT | {"hidden_act": "relu"}, "hidden_act is 'relu'; this library has 'gelu' alone"),
        (bert_config, BERT | {"tie_word_embeddings": False}, "tie_word_embeddings is False"),
        (bert_config, BERT | {"is_decoder": True}, "is_decoder is True; this library has False alone"),
        (gpt2_config, GPT2 | {"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx is True"),
        (gpt2_config, GPT2 | {"scale_attn_weights": False}, "scale_attn_weights is False"),
        (gpt2_config, GPT2 | {"reorder_and_upcast_attn": True}, "reorder_and_upcast_attn is True"),
        (gpt2_config, GPT2 | {"add_cross_attention": True}, "add_cross_attention is True"),
        (gpt2_config, GPT2 | {"activation_function": "mish"}, "activation_function is 'mish'; this library has relu, "),
        (
            llama_config,
            LLAMA | {"model_type": "qwen2"},
            "model_type is 'qwen2'; this library has llama, mistral, qwen3",
        ),
        (llama_config, LLAMA | {"rms_norm_eps": "0"}, "rms_norm_eps is '0'; wanted a number"),
        (llama_config, LLAMA | {"hidden_act": "gelu"}, "hidden_act is 'gelu'"),
        (gpt2_config, {"model_type": "gpt2", "eos_token_id": 5}, "the description has no field vocab_size"),
        (gpt2_config, {"model_type": "gpt2"}, "eos_token_id is None; wanted one id"),
    ],
)
def test_descriptions_of_what_is_not_here_are_refused(config, description, message):
    with pytest.raises(ValueError, match=message):
        config(description)


TINY = GPT2 | {"vocab_size": 9, "n_positions": 5, "n_embd": 4, "n_layer": 1, "n_head": 2, "eos_token_id": 8}
SIZES = {
    "wte.weight": (9, 4), "wpe.weight": (5, 4), "ln_f.weight": (4,), "ln_f.bias": (4,),
    "h.0.ln_1.weight": (4,), "h.0.ln_1.bias": (4,), "h.0.ln_2.weight": (4,), "h.0.ln_2.bias": (4,),
    "h.0.attn.c_attn.weight": (4, 12), "h.0.attn.c_attn.bias": (12,), "h.0.attn.c_proj.weight": (4, 4),
    "h.0.attn.c_proj.bias": (4,), "h.0.mlp.c_fc.weight": (4, 16), "h.0.mlp.c_fc.bias": (16,),
    "h.0.mlp.c_proj.weight": (16, 4), "h.0.mlp.c_proj.bias": (4,),
}  # fmt: skip


def tensors():
    return {name: torch.randn(size) for name, size in SIZES.items()}


def gpt2():
    return gpt2_config(TINY | {"bos_token_id": 8})


def test_weights_fit_the_model_under_every_name_that_files_use():
    plain = tensors()
    expected = gpt2_weights(plain, gpt2())
    DecoderLM(gpt2()).load_state_dict(expected)
    # Files of the whole model have a prefix, the tied output, and the causal mask.
    whole = {f"transformer.{name}": tensor for name, tensor in plain.items()}
    whole |= {"lm_head.weight": plain["wte.weight"], "transformer.h.0.attn.bias": torch.ones(1, 1, 5, 5)}
    # And some keep a tied table under the output's name alone.
    output_alone = {**whole, "transformer.h.0.attn.masked_bias": torch.tensor(-1e4)}
    del output_alone["transformer.wte.weight"]
    for other in (whole, output_alone):
        got = gpt2_weights(other, gpt2())
        assert got.keys() == expected.keys()
        assert all(torch.equal(got[name], expected[name]) for name in expected)


def test_query_key_and_value_are_cut_in_this_order_and_stand_as_they_are():
    plain = tensors()
    got = gpt2_weights(plain, gpt2())
    w, b = plain["h.0.attn.c_attn.weight"], plain["h.0.attn.c_attn.bias"]
    for i, letter in enumerate("qkv"):
        assert torch.equal(got[f"decoder.layers.0.attention.w_{letter}"], w[:, 4 * i : 4 * i + 4])
        assert torch.equal(got[f"decoder.layers.0.attention.b_{letter}"], b[4 * i : 4 * i + 4])
    assert torch.equal(got["decoder.layers.0.attention.w_o"], plain["h.0.attn.c_proj.weight"])


def test_an_untied_output_is_turned():
    untied = tensors() | {"lm_head.weight": torch.randn(9, 4)}
    config = gpt2_config(TINY | {"bos_token_id": 8, "tie_word_embeddings": False})
    assert torch.equal(gpt2_weights(untied, config)["head.w_out"], untied["lm_head.weight"].mT)


def test_weights_that_do_not_fit_are_named():
    missing = tensors()
    del missing["h.0.ln_2.bias"], missing["wpe.weight"]
    with pytest.raises(ValueError, match=r"^tensors missing: h\.0\.ln_2\.bias, wpe\.weight; left over: none$"):
        gpt2_weights(missing, gpt2())
    with pytest.raises(ValueError, match=r"^tensors missing: none; left over: h\.1\.ln_1\.bias$"):
        gpt2_weights(tensors() | {"h.1.ln_1.bias": torch.ones(4)}, gpt2())
    with pytest.raises(
        ValueError, match=r"wpe\.weight gives a shape of \(6, 4\); embedder\.positions\.table wants \(5"
    ):
        gpt2_weights(tensors() | {"wpe.weight": torch.ones(6, 4)}, gpt2())
    with pytest.raises(ValueError, match=r"lm_head\.weight and wte\.weight differ; the description says that they ar"):
        gpt2_weights(tensors() | {"lm_head.weight": torch.ones(9, 4)}, gpt2())


def test_old_names_of_norms_and_a_model_without_a_head_are_read():
    description = BERT | {"vocab_size": 200, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = bert_config(description | {"intermediate_size": 12, "max_position_embeddings": 6})
    layer = "bert.encoder.layer.0."
    sizes = {
        "bert.embeddings.word_embeddings.weight": (200, 8), "bert.embeddings.position_embeddings.weight": (6, 8),
        "bert.embeddings.token_type_embeddings.weight": (2, 8), "bert.embeddings.LayerNorm.gamma": (8,),
        "bert.embeddings.LayerNorm.beta": (8,), layer + "attention.output.LayerNorm.gamma": (8,),
        layer + "attention.output.LayerNorm.beta": (8,), layer + "output.LayerNorm.gamma": (8,),
        layer + "output.LayerNorm.beta": (8,), layer + "intermediate.dense.weight": (12, 8),
        layer + "intermediate.dense.bias": (12,), layer + "output.dense.weight": (8, 12),
        layer + "output.dense.bias": (8,), "bert.pooler.dense.weight": (8, 8), "bert.pooler.dense.bias": (8,),
        "bert.embeddings.position_ids": (1, 6), "cls.seq_relationship.bias": (2,),
    }  # fmt: skip
    for part in ("self.query", "self.key", "self.value", "output.dense"):
        sizes |= {f"{layer}attention.{part}.weight": (8, 8), f"{layer}attention.{part}.bias": (8,)}
    weights = {name: torch.randn(size) for name, size in sizes.items()}
    got = bert_weights(weights, config, head=False)
    assert torch.equal(got["embedder.norm.gain"], weights["bert.embeddings.LayerNorm.gamma"])
    assert torch.equal(
        got["encoder.layers.0.feed_forward_residual.norm.shift"], weights[layer + "output.LayerNorm.beta"]
    )
    assert torch.equal(got["encoder.layers.0.feed_forward.w_1"], weights[layer + "intermediate.dense.weight"].mT)
    assert {name.split(".")[0] for name in got} == {"embedder", "encoder"}
    with pytest.raises(ValueError, match=r"tensors missing: cls\.predictions\.bias, cls\.predictions\.transform"):
        bert_weights(weights, config)
