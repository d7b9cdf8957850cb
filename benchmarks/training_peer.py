"""The peer of the training bench: the same model put together from torch's own parts, as its users write it."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.parts.config import Config
from softlookup.model.parts.positions import SinusoidalPositions
from softlookup.model.whole.transformer import Transformer
from softlookup.training.data import Batch


class TorchTransformer(nn.Module):
    """An encoder-decoder of torch's nn.Transformer, with tied embeddings and sinusoidal positions.

    The config is one that nn.Transformer can be made of, or it is a ValueError: pre-LN, LayerNorm, ReLU, biases in
    attention and feed-forward network, sinusoidal positions, tied and scaled embeddings. With ``dropout_everywhere``
    attention weights and hidden numbers are dropped too, as nn.Transformer does by itself; without it dropout stays at
    the places of the paper, so that both models do the same work.
    """

    positions: Tensor

    def __init__(self, config: Config, *, dropout_everywhere: bool = False) -> None:
        super().__init__()
        requirements = {
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
        for name, value in requirements.items():
            if getattr(config, name) != value:
                raise ValueError(f"nn.Transformer is compared with {name} {value!r}; got {getattr(config, name)!r}")
        self.config, self.scale = config, math.sqrt(config.d_model)
        self.table = nn.Embedding(config.vocab_size, config.d_model, padding_idx=config.pad_id)
        sinusoids = SinusoidalPositions(config.d_model)(torch.zeros(1, config.max_length, config.d_model))
        self.register_buffer("positions", sinusoids[0], persistent=False)
        self.dropout = nn.Dropout(config.dropout)
        sizes = (config.d_model, config.n_heads, config.d_hidden, config.dropout)
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*sizes, batch_first=True, norm_first=True),
            config.n_layers,
            nn.LayerNorm(config.d_model),
            enable_nested_tensor=False,  # torch does not know it for norm_first, and says so in a warning
        )
        self.body = nn.Transformer(
            *sizes[:2],
            num_decoder_layers=config.n_decoder_layers or config.n_layers,
            dim_feedforward=config.d_hidden,
            dropout=config.dropout,
            custom_encoder=encoder,
            batch_first=True,
            norm_first=True,
        )
        if not dropout_everywhere:
            for part in self.body.modules():
                if isinstance(part, nn.MultiheadAttention):
                    part.dropout = 0.0
                elif isinstance(part, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                    part.dropout.p = 0.0

    def forward(self, source_ids: Int[Tensor, "B S"], target_ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Give the logits of the word that comes next at each position of the target; ids are filled up with pad_id."""
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
    """Put torch's model together with our model's weights: the same logits, on the same device and in the same mode.

    ``dropout_everywhere`` and the ValueError are as for TorchTransformer.
    """
    peer = TorchTransformer(model.config, dropout_everywhere=dropout_everywhere)
    weights = {name: parameter.detach() for name, parameter in model.named_parameters()}
    peer_weights = {"table.weight": weights["embedder.tokens.table"]}
    for side, stack, n_attentions in (("encoder", model.encoder, 1), ("decoder", model.decoder, 2)):
        peer_weights |= _norm(f"body.{side}.norm", weights, f"{side}.norm")
        for number in range(len(stack.layers)):
            here, there = f"{side}.layers.{number}", f"body.{side}.layers.{number}"
            attentions = (("self_attn", "attention"), ("multihead_attn", "cross_attention"))[:n_attentions]
            for name, part in attentions:
                peer_weights |= _attention(f"{there}.{name}", weights, f"{here}.{part}")
            for which in "12":
                peer_weights[f"{there}.linear{which}.weight"] = weights[f"{here}.feed_forward.w_{which}"].mT
                peer_weights[f"{there}.linear{which}.bias"] = weights[f"{here}.feed_forward.b_{which}"]
            residuals = ("attention_residual", "cross_residual")[:n_attentions] + ("feed_forward_residual",)
            for place, part in enumerate(residuals, start=1):
                peer_weights |= _norm(f"{there}.norm{place}", weights, f"{here}.{part}.norm")
    peer.load_state_dict(peer_weights)
    return peer.to(model.embedder.tokens.table).train(model.training)


def labels_of(batch: Batch) -> Tensor:
    """Count the labels that are not padding, as a number on the batch's device: nothing waits for it."""
    return (batch.target_ids[:, 1:] != batch.pad_id).sum()


def plain_loss(model: TorchTransformer, batch: Batch, epsilon: float) -> Float[Tensor, ""]:
    """Give the mean loss of a token from the logits at every position: smoothed cross-entropy in nats, without padding.

    The batch is on the model's device; without sources it is a ValueError.
    """
    if batch.source_ids is None:
        raise ValueError("the batch has no source_ids: the peer is an encoder-decoder")
    logits_BTV = model(batch.source_ids, batch.target_ids[:, :-1])
    labels_BT = batch.target_ids[:, 1:]
    return nn.functional.cross_entropy(
        logits_BTV.flatten(0, 1), labels_BT.flatten(), ignore_index=batch.pad_id, label_smoothing=epsilon
    )


def _norm(name: str, weights: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    return {f"{name}.weight": weights[f"{part}.gain"], f"{name}.bias": weights[f"{part}.shift"]}


def _attention(name: str, weights: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    return {
        f"{name}.in_proj_weight": torch.cat([weights[f"{part}.w_{letter}"].mT for letter in "qkv"]),
        f"{name}.in_proj_bias": torch.cat([weights[f"{part}.b_{letter}"] for letter in "qkv"]),
        f"{name}.out_proj.weight": weights[f"{part}.w_o"].mT,
        f"{name}.out_proj.bias": weights[f"{part}.b_o"],
    }
