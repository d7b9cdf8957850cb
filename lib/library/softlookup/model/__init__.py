"""Transformers in torch, on any device and in any float dtype, with gradients: parts, whole models, decoding."""

from softlookup.model.decoding.beam import BeamResult, beam_search, length_penalty_of
from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.decoding.generate import Generated, generate
from softlookup.model.decoding.sampling import next_token_probabilities, pick
from softlookup.model.decoding.static_step import StaticStep
from softlookup.model.parts import masks, positions
from softlookup.model.parts.attention import attend, attention_weights, scaled_dot_product_attention
from softlookup.model.parts.cache import KVCache, LayerCache
from softlookup.model.parts.config import Config
from softlookup.model.parts.delta_rule import gated_delta_rule, gated_delta_rule_step
from softlookup.model.parts.distance import ALiBi, T5Bias, alibi_slopes, t5_bucket
from softlookup.model.parts.embeddings import TokenEmbedding
from softlookup.model.parts.experts import Experts, Router, expert_load
from softlookup.model.parts.feedforward import FeedForward
from softlookup.model.parts.latent_attention import LatentAttention
from softlookup.model.parts.layers import Layer, Residual
from softlookup.model.parts.linear_attention import LinearState, linear_attention, linear_attention_step
from softlookup.model.parts.masks import CausalMask, causal_mask, combine_masks, padding_mask, window_mask
from softlookup.model.parts.multihead import MultiHeadAttention, merge_heads, split_heads
from softlookup.model.parts.norms import LayerNorm, RMSNorm
from softlookup.model.parts.positions import LearnedPositions, RotaryPositions, SinusoidalPositions, sinusoidal
from softlookup.model.parts.relative import ShawBias, TransformerXLBias
from softlookup.model.parts.rotary_scaling import RotaryScaling
from softlookup.model.parts.trace import Trace
from softlookup.model.published._decoder_weights import decoder_weights
from softlookup.model.published.chat import ChatModel
from softlookup.model.published.families import (
    bert_config,
    bert_weights,
    gpt2_config,
    gpt2_weights,
    llama_config,
    llama_weights,
)
from softlookup.model.published.minilm import SentenceEncoder, load_minilm
from softlookup.model.published.open_decoders import decoder_config
from softlookup.model.published.smollm2 import load_smollm2
from softlookup.model.published.translator import Translation, Translator, load_translator
from softlookup.model.published.writer import Writer, load_writer
from softlookup.model.whole.contrastive import ImageTextPair
from softlookup.model.whole.language import DecoderLM, EncoderLM
from softlookup.model.whole.objectives import (
    contrastive_loss,
    cross_entropy,
    label_smoothing,
    perplexity,
    teacher_forcing,
)
from softlookup.model.whole.schedules import inverse_square_root, noam, warmup_hold_decay
from softlookup.model.whole.stack import Decoder, Embedder, Encoder
from softlookup.model.whole.text_encoder import TextEncoder
from softlookup.model.whole.transformer import Transformer
from softlookup.model.whole.vision import ViT, patchify, unpatchify
from softlookup.model.whole.weights import CheckpointError, load_weights, save_weights

__all__ = [
    "ALiBi",
    "BeamResult",
    "CausalMask",
    "ChatModel",
    "CheckpointError",
    "Config",
    "Decoder",
    "DecoderLM",
    "Embedder",
    "Encoder",
    "EncoderLM",
    "Experts",
    "FastStep",
    "FeedForward",
    "Generated",
    "ImageTextPair",
    "KVCache",
    "LatentAttention",
    "Layer",
    "LayerCache",
    "LayerNorm",
    "LearnedPositions",
    "LinearState",
    "MultiHeadAttention",
    "RMSNorm",
    "Residual",
    "RotaryPositions",
    "RotaryScaling",
    "Router",
    "SentenceEncoder",
    "ShawBias",
    "SinusoidalPositions",
    "StaticStep",
    "T5Bias",
    "TextEncoder",
    "TokenEmbedding",
    "Trace",
    "Transformer",
    "TransformerXLBias",
    "Translation",
    "Translator",
    "ViT",
    "Writer",
    "alibi_slopes",
    "attend",
    "attention_weights",
    "beam_search",
    "bert_config",
    "bert_weights",
    "causal_mask",
    "combine_masks",
    "contrastive_loss",
    "cross_entropy",
    "expert_load",
    "gated_delta_rule",
    "gated_delta_rule_step",
    "generate",
    "gpt2_config",
    "gpt2_weights",
    "inverse_square_root",
    "label_smoothing",
    "length_penalty_of",
    "linear_attention",
    "linear_attention_step",
    "decoder_config",
    "decoder_weights",
    "llama_config",
    "llama_weights",
    "load_minilm",
    "load_smollm2",
    "load_translator",
    "load_weights",
    "load_writer",
    "masks",
    "merge_heads",
    "next_token_probabilities",
    "noam",
    "padding_mask",
    "patchify",
    "perplexity",
    "pick",
    "positions",
    "save_weights",
    "scaled_dot_product_attention",
    "sinusoidal",
    "split_heads",
    "t5_bucket",
    "teacher_forcing",
    "unpatchify",
    "warmup_hold_decay",
    "window_mask",
]
