"""The peers of the decoding bench: models of `transformers` with drawn weights, and ours with the same weights."""

import math
from typing import Any

from softlookup.model.published.families import gpt2_config, gpt2_weights, llama_config, llama_weights
from softlookup.model.whole.language import DecoderLM

# Wider than usual: a model whose weights are drawn in the usual way writes one token over and over.
_TIMES_XAVIER = 3


def gpt2_pair(vocab_size: int, d_model: int, n_heads: int, n_layers: int, d_hidden: int, max_length: int) -> Any:
    """Draw a GPT-2 of V, D, N, L and F with ``max_length`` positions: theirs and ours, same weights, in eval mode."""
    import transformers

    description = transformers.GPT2Config(
        vocab_size=vocab_size,
        n_positions=max_length,
        n_embd=d_model,
        n_head=n_heads,
        n_layer=n_layers,
        n_inner=d_hidden,
        initializer_range=_TIMES_XAVIER / math.sqrt(d_model),
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=1,
    )
    peer: Any = transformers.GPT2LMHeadModel(description)
    model = DecoderLM(gpt2_config(peer.config))
    model.load_state_dict(gpt2_weights(peer.state_dict(), model.config))
    return peer.eval(), model.eval()


def llama_pair(vocab_size: int, d_model: int, n_heads: int, n_layers: int, d_hidden: int, max_length: int) -> Any:
    """Draw a Llama of V, D, N, L and F with ``max_length`` positions: theirs and ours, same weights, in eval mode.

    Its feed-forward network has three matrices, so it takes two thirds of the hidden width F of a network with two.
    """
    import transformers

    description = transformers.LlamaConfig(
        vocab_size=vocab_size,
        max_position_embeddings=max_length,
        hidden_size=d_model,
        num_attention_heads=n_heads,
        num_hidden_layers=n_layers,
        intermediate_size=2 * d_hidden // 3,
        initializer_range=_TIMES_XAVIER / math.sqrt(d_model),
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=1,
    )
    peer: Any = transformers.LlamaForCausalLM(description)
    model = DecoderLM(llama_config(peer.config))
    model.load_state_dict(llama_weights(peer.state_dict(), model.config))
    return peer.eval(), model.eval()
