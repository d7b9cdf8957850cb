"""Attention in torch: the reference's names, on any device and in any float dtype, with gradients."""

from softlookup.model.attention import attend, attention_weights, scaled_dot_product_attention
from softlookup.model.multihead import MultiHeadAttention, merge_heads, split_heads

__all__ = [
    "MultiHeadAttention",
    "attend",
    "attention_weights",
    "merge_heads",
    "scaled_dot_product_attention",
    "split_heads",
]
