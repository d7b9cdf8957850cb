"""The peer of the training bench: the same model put together from torch's own parts, as its users write it."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.config import Config
from softlookup.model.multihead import MultiHeadAttention
from softlookup.model.positions import SinusoidalPositions
from softlookup.model.transformer import Transformer
from softlookup.training.data import Batch


class TorchTransformer(nn.Module):
    """An encoder-decoder of torch's nn.Transformer, with tied embeddings and sinusoidal positions.

    Args:
        config: Pre-LN, LayerNorm, ReLU, biases in attention and feed-forward network, sinusoidal positions, tied and
            scaled embeddings: what nn.Transformer can be made of.
        dropout_everywhere: Whether attention weights and hidden numbers are dropped too, as nn.Transformer does by
            itself. False leaves it at the places of the paper, so that both models do the same work.

    Raises:
        ValueError: If the description asks for something that nn.Transformer has not.
    """

    positions: Tensor

    def __init__(self, config: Config, *, dropout_everywhere: bool = False) -> None:
        super().__init__()
        wanted = {
            "pre_norm": True,
            "norm": "layer",
            "activation": "relu",
            "attention_bias": True,
            "hidden_bias": True,
            "positions": "sinusoidal",
            "tied": True,
            "scale_embeddings": True,
            "n_kv_heads": None,
        }
        for name, value in wanted.items():
            if getattr(config, name) != value:
                raise ValueError(f"nn.Transformer is compared with {name} {value!r}; got {getattr(config, name)!r}")
        self.config, self.scale = config, math.sqrt(config.d_model)
        self.table = nn.Embedding(config.vocab_size, config.d_model, padding_idx=config.pad_id)
        sinusoids = SinusoidalPositions(config.d_model)(torch.zeros(1, config.max_length, config.d_model))
        self.register_buffer("positions", sinusoids[0], persistent=False)
        self.dropout = nn.Dropout(config.dropout)
        self.body = nn.Transformer(
            config.d_model,
            config.n_heads,
            config.n_layers,
            config.n_decoder_layers or config.n_layers,
            config.d_hidden,
            config.dropout,
            norm_first=True,
            batch_first=True,
        )
        if not dropout_everywhere:
            for part in self.body.modules():
                if isinstance(part, nn.MultiheadAttention):
                    part.dropout = 0.0
                elif isinstance(part, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                    part.dropout = nn.Identity()

    def forward(self, source_ids: Int[Tensor, "B S"], target_ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Say, for each position of the target, which word comes next.

        Args:
            source_ids: The sentences, filled up with pad_id.
            target_ids: What the decoder is given, filled up with pad_id.

        Returns:
            Logits.
        """
        hidden_BS, length = source_ids == self.config.pad_id, target_ids.shape[1]
        later_TT = torch.ones(length, length, dtype=torch.bool, device=target_ids.device).triu(1)
        x_BTD = self.body(
            self._embed(source_ids),
            self._embed(target_ids),
            tgt_mask=later_TT,
            src_key_padding_mask=hidden_BS,
            memory_key_padding_mask=hidden_BS,
            tgt_key_padding_mask=target_ids == self.config.pad_id,
            tgt_is_causal=True,
        )
        return x_BTD @ self.table.weight.mT

    def _embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.table(ids) * self.scale + self.positions[: ids.shape[1]])


def copy_of(model: Transformer, *, dropout_everywhere: bool = False) -> TorchTransformer:
    """Put torch's model together with our model's weights.

    Args:
        model: Ours, of a description that TorchTransformer takes.
        dropout_everywhere: See TorchTransformer.

    Returns:
        A model that gives the same logits, on the same device and in the same mode.

    Raises:
        ValueError: If the description asks for something that nn.Transformer has not.
    """
    peer = TorchTransformer(model.config, dropout_everywhere=dropout_everywhere)
    peer.to(model.embedder.tokens.table)
    with torch.no_grad():
        peer.table.weight.copy_(model.embedder.tokens.table)
        for ours, theirs in ((model.encoder, peer.body.encoder), (model.decoder, peer.body.decoder)):
            assert ours.norm is not None
            _copy_norm(ours.norm, theirs.norm)
            for layer, other in zip(ours.each(), theirs.layers, strict=True):
                _copy_attention(layer.attention, other.self_attn)
                residuals = [layer.attention_residual, layer.feed_forward_residual]
                if layer.cross_attention is not None:
                    _copy_attention(layer.cross_attention, other.multihead_attn)
                    residuals.insert(1, layer.cross_residual)
                for number, residual in enumerate(residuals, start=1):
                    _copy_norm(residual.norm, getattr(other, f"norm{number}"))
                for w, b, linear in (
                    (layer.feed_forward.w_1, layer.feed_forward.b_1, other.linear1),
                    (layer.feed_forward.w_2, layer.feed_forward.b_2, other.linear2),
                ):
                    linear.weight.copy_(w.mT)
                    linear.bias.copy_(b)
    return peer.train(model.training)


def plain_loss(model: TorchTransformer, batch: Batch, epsilon: float) -> Float[Tensor, ""]:
    """Give the mean loss of a token, from the logits at every position.

    Args:
        model: torch's.
        batch: On the model's device.
        epsilon: Label smoothing.

    Returns:
        The smoothed cross-entropy in nats, padding left out.

    Raises:
        ValueError: If the batch has no sources.
    """
    if batch.source_ids is None:
        raise ValueError("the batch has no source_ids: the peer is an encoder-decoder")
    logits_BTV = model(batch.source_ids, batch.target_ids[:, :-1])
    labels_BT = batch.target_ids[:, 1:]
    return nn.functional.cross_entropy(
        logits_BTV.flatten(0, 1), labels_BT.flatten(), ignore_index=batch.pad_id, label_smoothing=epsilon
    )


def _copy_norm(ours: nn.Module, theirs: nn.LayerNorm) -> None:
    theirs.weight.copy_(ours.gain)
    theirs.bias.copy_(ours.shift)


def _copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(torch.cat([ours.w_q.mT, ours.w_k.mT, ours.w_v.mT]))
    theirs.in_proj_bias.copy_(torch.cat([ours.b_q, ours.b_k, ours.b_v]))
    theirs.out_proj.weight.copy_(ours.w_o.mT)
    theirs.out_proj.bias.copy_(ours.b_o)
