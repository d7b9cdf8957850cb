"""The peer of the gpt2 bench: GPT-2 as nanoGPT writes it, in plain torch and as few kernels as that gives."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from softlookup.model.published.families import gpt2_config, gpt2_weights
from softlookup.model.whole.language import DecoderLM


class _Block(nn.Module):
    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(width, 3 * width), "c_proj": nn.Linear(width, width)})
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)})

    def forward(self, x: Tensor) -> Tensor:
        heads = self.attn["c_attn"](self.ln_1(x)).unflatten(-1, (3, self.n_heads, -1))
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn["c_proj"](z.transpose(1, 2).flatten(2))
        hidden = F.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh")
        return x + self.mlp["c_proj"](hidden)


class PlainGPT2(nn.Module):
    """GPT-2 (V, D, N, L, up to ``length`` positions) in torch's own parts, with one product for queries, keys, values.

    Source: Radford et al. 2019; Karpathy, nanoGPT (the same parts in the same order).
    """

    def __init__(self, vocab_size: int, width: int, n_heads: int, n_layers: int, length: int) -> None:
        super().__init__()
        self.sizes = {"vocab_size": vocab_size, "n_embd": width, "n_head": n_heads, "n_layer": n_layers}
        self.sizes |= {"n_positions": length}
        self.wte, self.wpe = nn.Embedding(vocab_size, width), nn.Embedding(length, width)
        self.h = nn.ModuleList(_Block(width, n_heads) for _ in range(n_layers))
        self.ln_f = nn.LayerNorm(width)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                deviation = 0.02 / (2 * n_layers) ** 0.5 if name.endswith("c_proj.weight") else 0.02
                nn.init.normal_(weight, std=deviation)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)

    def forward(self, ids: Tensor) -> Tensor:
        """Give the logits (B, T, V) of each next token of ids (B, T)."""
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.mT


def same_in_ours(peer: PlainGPT2) -> DecoderLM:
    """Make a DecoderLM with the peer's weights, and so with the same logits, on its device."""
    # torch's Linear keeps (out, in); published GPT-2s keep (in, out), as we do.
    tensors = {
        name: tensor.mT if ".c_" in name and tensor.ndim == 2 else tensor for name, tensor in peer.state_dict().items()
    }
    end_id = peer.sizes["vocab_size"] - 1
    description = {"model_type": "gpt2", **peer.sizes, "resid_pdrop": 0.0, "eos_token_id": end_id}
    config = gpt2_config(description | {"bos_token_id": end_id})
    model = DecoderLM(config)
    model.load_state_dict(gpt2_weights(tensors, config))
    return model.to(peer.wte.weight.device)
