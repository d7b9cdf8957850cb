"""Attention in numpy and float64, as plain as the book: what everything else is compared with."""

from softlookup.reference.attention import attention_weights, scaled_dot_product_attention, softmax
from softlookup.reference.backward import attention_backward, one_head_backward, softmax_backward
from softlookup.reference.heads import merge_heads, multi_head_attention, one_head, project, split_heads

__all__ = [
    "attention_backward",
    "attention_weights",
    "merge_heads",
    "multi_head_attention",
    "one_head",
    "one_head_backward",
    "project",
    "scaled_dot_product_attention",
    "softmax",
    "softmax_backward",
    "split_heads",
]
