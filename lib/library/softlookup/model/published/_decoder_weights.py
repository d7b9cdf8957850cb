"""The tensors of open decoders under the names of DecoderLM."""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from softlookup.describing.families import FAMILIES
from softlookup.describing.runnable import RUNNABLE
from softlookup.model.parts.config import Config
from softlookup.model.parts.decoder_parts import DecoderParts, DeltaLayers
from softlookup.model.published._renaming import shapes, spread, translated
from softlookup.model.whole.language import DecoderLM

LAYER_NAMES = {
    "attention.{}_q": "self_attn.q_proj",
    "attention.{}_k": "self_attn.k_proj",
    "attention.{}_v": "self_attn.v_proj",
    "attention.{}_o": "self_attn.o_proj",
    "attention.{}_gate": "self_attn.gate_proj",
    "attention.q_norm": "self_attn.q_norm",
    "attention.k_norm": "self_attn.k_norm",
    "attention.sinks": "self_attn.sinks",
    "attention.w_q_down": "self_attn.q_a_proj.weight",
    "attention.query_norm": "self_attn.q_a_layernorm",
    "attention.w_a": "self_attn.kv_a_proj.weight",
    "attention.w_rotary": "self_attn.k_rotary_proj.weight",
    "attention.latent_norm": "self_attn.kv_a_layernorm",
    "attention.w_uk": "self_attn.kv_b_keys",
    "attention.w_uv": "self_attn.kv_b_values",
    "feed_forward.{}_gate": "mlp.gate_proj",
    "feed_forward.{}_1": "mlp.up_proj",
    "feed_forward.{}_2": "mlp.down_proj",
    "feed_forward.router.w": "mlp.gate.weight",
    "feed_forward.router.b": "mlp.gate.bias",
    "feed_forward.router.bias": "mlp.gate.e_score_correction_bias",
    "feed_forward.shared.{}_gate": "mlp.shared_experts.gate_proj",
    "feed_forward.shared.{}_1": "mlp.shared_experts.up_proj",
    "feed_forward.shared.{}_2": "mlp.shared_experts.down_proj",
    "feed_forward.w_shared": "mlp.shared_expert_gate.weight",
}
"""What a layer holds, and what Llama and its successors call it; rows as in _renaming.py."""
_EXPERTS = {
    "feed_forward.{}_gate": "mlp.experts.gate_proj",
    "feed_forward.{}_1": "mlp.experts.up_proj",
    "feed_forward.{}_2": "mlp.experts.down_proj",
}
_DELTA = {
    "attention.w_qkv": "linear_attn.in_proj_qkv.weight",
    "attention.w_gate": "linear_attn.in_proj_z.weight",
    "attention.w_strength": "linear_attn.in_proj_b.weight",
    "attention.w_decay": "linear_attn.in_proj_a.weight",
    "attention.w_o": "linear_attn.out_proj.weight",
    "attention.taps": "linear_attn.conv1d.weight",
    "attention.decay_log": "linear_attn.A_log",
    "attention.decay_bias": "linear_attn.dt_bias",
    "attention.norm": "linear_attn.norm",
}
_NORMS = {
    "before": {"attention_residual.norm": "input_layernorm", "feed_forward_residual.norm": "post_attention_layernorm"},
    "shared": {"attention_residual.norm": "input_layernorm"},
    "after": {
        "attention_residual.out_norm": "post_attention_layernorm",
        "feed_forward_residual.out_norm": "post_feedforward_layernorm",
    },
    "both": {
        "attention_residual.norm": "input_layernorm",
        "attention_residual.out_norm": "post_attention_layernorm",
        "feed_forward_residual.norm": "pre_feedforward_layernorm",
        "feed_forward_residual.out_norm": "post_feedforward_layernorm",
    },
}
_WHOLE = {
    "embedder.tokens.table": "model.embed_tokens",
    "decoder.norm": "model.norm",
    "head.w_out": "lm_head.weight",
    "head.b_out": "lm_head.bias",
}


def decoder_weights(tensors: Mapping[str, Tensor], config: Config, model_type: str) -> dict[str, Tensor]:
    """Rename the tensors of an open decoder, and cut those that hold several of ours.

    Args:
        tensors: Its state dict.
        config: What decoder_config made.
        model_type: Of its description.

    Returns:
        A state dict for DecoderLM.

    Raises:
        ValueError: If tensors are missing, left over or of the wrong shape; the message names them.
    """
    row, parts = RUNNABLE[model_type], config.parts or DecoderParts()
    same = {"lm_head.weight": "model.embed_tokens.weight"} if config.tied else {}
    renamed = row.renamed if parts.norm_place == row.norm_place else {}
    cut: dict[str, Tensor] = {}
    for name, tensor in _stacked(tensors).items():
        plain = ".".join(new for name_part in name.split(".") if (new := renamed.get(name_part, name_part)))
        if row.unit_gains and plain.endswith("norm.weight") and ".linear_attn." not in plain:
            tensor = tensor + 1
        cut |= _cut(plain, tensor, config)
    expected = shapes(DecoderLM, config)
    names = spread(_WHOLE)
    for i in range(config.n_layers):
        rows = LAYER_NAMES | _NORMS[parts.norm_place] | (_DELTA if config.linear(i) else {})
        rows |= _EXPERTS if config.at(i).n_experts else {}
        names |= {f"decoder.layers.{i}.{our}": f"model.layers.{i}.{their}" for our, their in spread(rows).items()}
    # What a published model does without: norms that learn nothing, routers without a number for each expert.
    ones = ".gain" if FAMILIES[model_type].norm == "none" else "no gain"
    fixed = {}
    for name, shape in list(expected.items()):
        if names.get(name) not in cut and name.endswith((ones, "router.bias")):
            fixed[name] = torch.ones(shape) if name.endswith(ones) else torch.zeros(shape)
            del expected[name]
    unused = (r".*\.rotary_emb\..*", r".*\.masked_bias")
    return translated(cut, expected, names, same=same, unused=unused) | fixed


def _stacked(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Lay the experts of files that have a tensor for each over each other."""
    stacks: dict[str, dict[int, Tensor]] = {}
    result = {}
    for name, tensor in tensors.items():
        if match := re.fullmatch(r"(.*\.experts)\.(\d+)\.(\w+)\.weight", name):
            matrix_name = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}.get(match[3], match[3])
            stacks.setdefault(f"{match[1]}.{matrix_name}", {})[int(match[2])] = tensor
        else:
            result[name] = tensor
    return result | {name: torch.stack([stack[i] for i in sorted(stack)]) for name, stack in stacks.items()}


def _cut(name: str, tensor: Tensor, config: Config) -> dict[str, Tensor]:
    """Cut a tensor that holds several into those, under the names that Llama or DeepSeek would give them."""
    stem, _, inner = name.rpartition(".self_attn.")
    if inner.startswith("qkv_proj."):
        width = config.head_width or config.d_model // config.n_heads
        sizes = [config.n_heads * width] + 2 * [(config.n_kv_heads or config.n_heads) * width]
        end = inner.removeprefix("qkv_proj")
        letters = zip("qkv", tensor.split(sizes), strict=True)
        return {f"{stem}.self_attn.{letter}_proj{end}": part for letter, part in letters}
    width = config.n_heads * (config.head_width or 0)
    if inner.startswith("q_proj.") and config.latent_width is None and len(tensor) == 2 * width:  # queries and gates
        queries, gates = tensor.unflatten(0, (config.n_heads, 2, -1)).unbind(1)
        return {name: queries.flatten(0, 1), name.replace("q_proj", "gate_proj"): gates.flatten(0, 1)}
    if inner == "kv_a_proj_with_mqa.weight":
        assert config.latent_width is not None
        latent, rotary = tensor.split([config.latent_width, config.latent_rotary_width])
        return {f"{stem}.self_attn.kv_a_proj.weight": latent, f"{stem}.self_attn.k_rotary_proj.weight": rotary}
    if inner == "q_b_proj.weight":
        return {f"{stem}.self_attn.q_proj.weight": tensor}
    if inner == "kv_b_proj.weight":
        assert config.head_width is not None
        heads = tensor.unflatten(0, (config.n_heads, -1))
        keys, values = heads[:, : config.head_width], heads[:, config.head_width :]
        return {f"{stem}.self_attn.kv_b_keys": keys, f"{stem}.self_attn.kv_b_values": values}
    if name.endswith(("mlp.gate_up_proj.weight", "shared_experts.gate_up_proj.weight")):
        return dict(zip((name.replace("gate_up", part) for part in ("gate", "up")), tensor.chunk(2), strict=True))
    if ".mlp.experts." in name:
        return _cut_experts(name, tensor, config)
    if ".linear_attn." in name and config.parts is not None and config.parts.delta is not None:
        return _cut_delta(name, tensor, config.parts.delta)
    return {name: tensor}


def _cut_experts(name: str, tensor: Tensor, config: Config) -> dict[str, Tensor]:
    routed = None if config.parts is None else config.parts.experts
    end = ".bias" if name.endswith("_bias") else ".weight"
    stem = name.removesuffix("_bias")
    if routed is not None and routed.clamp is not None:  # gpt-oss: (E, in, out), gate and value in turn
        matrices: tuple[Tensor, ...] = (tensor[..., ::2], tensor[..., 1::2]) if "gate_up" in name else (tensor,)
        matrices = matrices if end == ".bias" else tuple(matrix.mT for matrix in matrices)
    else:
        matrices = tensor.chunk(2, dim=1) if "gate_up" in name else (tensor,)
    names = [stem.replace("gate_up", part) + end for part in ("gate", "up")] if "gate_up" in name else [stem + end]
    return dict(zip(names, matrices, strict=True))


def _cut_delta(name: str, tensor: Tensor, sizes: DeltaLayers) -> dict[str, Tensor]:
    if name.endswith("conv1d.weight"):
        return {name: tensor[:, 0]}
    group = sizes.heads // sizes.key_heads
    values = group * sizes.value_width
    if name.endswith("in_proj_qkvz.weight"):  # for each head of keys: its query, its key, its values, their gates
        heads = tensor.unflatten(0, (sizes.key_heads, -1)).split([sizes.key_width] * 2 + [values] * 2, dim=1)
        q, k, v, gate = (head.flatten(0, 1) for head in heads)
        return {name.replace("qkvz", "qkv"): torch.cat((q, k, v)), name.replace("qkvz", "z"): gate}
    if name.endswith("in_proj_ba.weight"):
        strength, decay = (t.flatten(0, 1) for t in tensor.unflatten(0, (sizes.key_heads, -1)).split(group, dim=1))
        return {name.replace("proj_ba", "proj_b"): strength, name.replace("proj_ba", "proj_a"): decay}
    return {name: tensor}
