"""A folder with a model of SmolLM2's kind, of drawn weights, in the format in which such models are published."""

import json
from pathlib import Path

import torch

from softlookup.model.whole.weights import write_tensors
from softlookup.text.pieces import byte_characters

NAMES = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def write_tiny_folder(folder: Path, *, seed: int = 0) -> Path:
    """Write config.json, model.safetensors and tokenizer.json; the tokens are three special ones and all bytes."""
    width, hidden, head, layers = 16, 24, 4, 2
    config = {
        "model_type": "llama",
        "vocab_size": 259,
        "hidden_size": width,
        "intermediate_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 160,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 2,
    }
    shapes = {"model.embed_tokens.weight": (259, width), "model.norm.weight": (width,)}
    for layer in range(layers):
        start = f"model.layers.{layer}"
        for name, n_out in (("q", 4 * head), ("k", 2 * head), ("v", 2 * head), ("o", width)):
            shapes[f"{start}.self_attn.{name}_proj.weight"] = (n_out, width)
        shapes |= {f"{start}.mlp.{name}_proj.weight": (hidden, width) for name in ("gate", "up")}
        shapes[f"{start}.mlp.down_proj.weight"] = (width, hidden)
        shapes |= {f"{start}.{name}_layernorm.weight": (width,) for name in ("input", "post_attention")}
    rng = torch.Generator().manual_seed(seed)
    tensors = {
        name: torch.ones(shape) if len(shape) == 1 else torch.randn(shape, generator=rng) * 0.3
        for name, shape in shapes.items()
    }
    write_tensors(folder / "model.safetensors", tensors, {"format": "pt"})
    pieces = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": name, "special": True} | plain for i, name in enumerate(NAMES)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, pieces]},
        "post_processor": None,
        "decoder": pieces,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: i for i, token in enumerate([*NAMES, *byte_characters()])},
            "merges": [],
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder
