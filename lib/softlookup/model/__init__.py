"""Transformers in torch, on any device and in any float dtype, with gradients: parts, whole models, decoding."""

from softlookup.model import masks, positions
from softlookup.model._decoder_weights import decoder_weights
from softlookup.model.attention import attend, attention_weights, scaled_dot_product_attention
from softlookup.model.beam import BeamResult, beam_search, length_penalty_of
from softlookup.model.cache import KVCache, LayerCache
from softlookup.model.chat import ChatModel
from softlookup.model.config import Config
from softlookup.model.contrastive import ImageTextPair
from softlookup.model.delta_rule import gated_delta_rule, gated_delta_rule_step
from softlookup.model.distance import ALiBi, T5Bias, alibi_slopes, t5_bucket
from softlookup.model.embeddings import TokenEmbedding
from softlookup.model.experts import Experts, Router, balanced_bias, expert_load
from softlookup.model.fast_step import FastStep
from softlookup.model.feedforward import FeedForward
from softlookup.model.generate import Generated, generate
from softlookup.model.language import DecoderLM, EncoderLM
from softlookup.model.latent_attention import LatentAttention
from softlookup.model.layers import Layer, Residual
from softlookup.model.linear_attention import LinearState, linear_attention, linear_attention_step
from softlookup.model.local_attention import local_attention
from softlookup.model.masks import CausalMask, causal_mask, combine_masks, padding_mask, window_mask
from softlookup.model.minilm import SentenceEncoder, load_minilm
from softlookup.model.multihead import MultiHeadAttention, merge_heads, split_heads
from softlookup.model.norms import LayerNorm, RMSNorm
from softlookup.model.objectives import (
    contrastive_loss,
    cross_entropy,
    label_smoothing,
    perplexity,
    teacher_forcing,
)
from softlookup.model.open_decoders import decoder_config
from softlookup.model.positions import LearnedPositions, RotaryPositions, SinusoidalPositions, sinusoidal
from softlookup.model.published import bert_config, bert_weights, gpt2_config, gpt2_weights, llama_config, llama_weights
from softlookup.model.published_pairs import marian_config, marian_weights, t5_config, t5_weights
from softlookup.model.quantised_cache import QuantisedCache
from softlookup.model.relative import ShawBias, TransformerXLBias
from softlookup.model.rotary_scaling import RotaryScaling
from softlookup.model.sampling import next_token_probabilities, pick
from softlookup.model.schedules import inverse_square_root, noam, warmup_cosine, warmup_hold_decay
from softlookup.model.smollm2 import load_smollm2
from softlookup.model.speculative import Speculated, accept_draft, speculative_generate
from softlookup.model.stack import Decoder, Embedder, Encoder
from softlookup.model.static_step import StaticStep
from softlookup.model.text_encoder import TextEncoder
from softlookup.model.tiled_attention import tiled_attention
from softlookup.model.trace import Trace
from softlookup.model.transformer import Transformer
from softlookup.model.translator import Translation, Translator, load_translator
from softlookup.model.vision import ViT, patchify, unpatchify
from softlookup.model.weights import CheckpointError, load_weights, save_weights
from softlookup.model.writer import Writer, load_writer

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
    "QuantisedCache",
    "RMSNorm",
    "Residual",
    "RotaryPositions",
    "RotaryScaling",
    "Router",
    "SentenceEncoder",
    "ShawBias",
    "SinusoidalPositions",
    "Speculated",
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
    "accept_draft",
    "alibi_slopes",
    "attend",
    "attention_weights",
    "balanced_bias",
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
    "local_attention",
    "marian_config",
    "marian_weights",
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
    "speculative_generate",
    "split_heads",
    "t5_bucket",
    "t5_config",
    "t5_weights",
    "teacher_forcing",
    "tiled_attention",
    "unpatchify",
    "warmup_cosine",
    "warmup_hold_decay",
    "window_mask",
]
