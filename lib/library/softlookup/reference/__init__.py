"""Transformers in numpy and float64, as plain as the book: what everything else is compared with."""

from softlookup.reference.attention import attention_weights, scaled_dot_product_attention, softmax
from softlookup.reference.backward import attention_backward, softmax_backward
from softlookup.reference.embeddings import embed, one_hot, tied_logits
from softlookup.reference.feedforward import feed_forward, gelu, gelu_tanh, relu, silu
from softlookup.reference.heads import merge_heads, multi_head_attention, one_head, project, split_heads
from softlookup.reference.layer_graphs import (
    attention_depth,
    attention_flops,
    attention_graph,
    convolution_graph,
    finish_times,
    path_lengths,
    recurrent_depth,
    recurrent_flops,
    recurrent_graph,
)
from softlookup.reference.linear_attention import elu_plus_one, linear_attention, linear_attention_weights
from softlookup.reference.lookup import cosine_similarity, lookup_weights, soft_lookup
from softlookup.reference.masks import causal_mask, combine_masks, padding_mask, window_mask
from softlookup.reference.norms import layer_norm, rms_norm
from softlookup.reference.positions import alibi_bias, alibi_slopes, angles, rotary, sinusoidal
from softlookup.reference.recurrent import recurrent_states
from softlookup.reference.rewarded import grpo_path, kl_optimum

__all__ = [
    "alibi_bias",
    "alibi_slopes",
    "angles",
    "attention_backward",
    "attention_depth",
    "attention_flops",
    "attention_graph",
    "attention_weights",
    "causal_mask",
    "combine_masks",
    "convolution_graph",
    "cosine_similarity",
    "elu_plus_one",
    "embed",
    "feed_forward",
    "finish_times",
    "gelu",
    "gelu_tanh",
    "grpo_path",
    "kl_optimum",
    "layer_norm",
    "linear_attention",
    "linear_attention_weights",
    "lookup_weights",
    "merge_heads",
    "multi_head_attention",
    "one_head",
    "one_hot",
    "padding_mask",
    "path_lengths",
    "project",
    "recurrent_depth",
    "recurrent_flops",
    "recurrent_graph",
    "recurrent_states",
    "relu",
    "rms_norm",
    "rotary",
    "scaled_dot_product_attention",
    "silu",
    "sinusoidal",
    "soft_lookup",
    "softmax",
    "softmax_backward",
    "split_heads",
    "tied_logits",
    "window_mask",
]
