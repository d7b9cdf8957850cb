"""The residual stream read as words: what a model would say after each layer, and which part of it wrote a logit."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from softlookup.model.parts.norms import LayerNorm, RMSNorm
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.language import DecoderLM, EncoderLM
from softlookup.model.whole.stack import Decoder, Encoder
from softlookup.model.whole.transformer import Transformer


@torch.no_grad()
def logit_lens(model: DecoderLM | EncoderLM | Transformer, trace: Trace) -> list[Float[Tensor, "B T V"]]:
    """Say what the model would answer if it stopped after each layer: last norm and head, applied to every state.

    Args:
        model: A pre-norm model. Of an encoder-decoder, the decoder is read.
        trace: What one pass of it left.

    Returns:
        Logits for the state that enters the first layer, then for those that leave each: L + 1 tensors, of which the
        last holds the model's own logits.

    Raises:
        ValueError: If the model is post-norm, so that its states have no norm to share with the head, or the trace
            does not hold one pass of it.

    Cost: 2*B*T*D*V operations for each of the L + 1 states.

    Source: nostalgebraist 2020 (the logit lens).
    """
    stack, _ = _stack_and_last_norm(model)
    _check_one_pass(trace, stack)
    return [model.head(stack.norm(x_BTD)) for x_BTD in trace.states]  # type: ignore[misc]


@dataclass(frozen=True)
class Attribution:
    """What each part of a model adds to a logit, or to the difference of two, at one position of each text.

    Attributes:
        embedding: What the vectors that enter the first layer add, positions included, (B,).
        heads: What each head adds, (B, L, N).
        attention_bias: What each layer's bias behind w_o adds, (B, L); zeros where there is none.
        feed_forward: What each feed-forward network adds, (B, L).
        constant: What the shift of the last norm and the bias of the output add, (B,).
        logit: What the model itself gives, (B,).
    """

    embedding: Float[Tensor, " B"]
    heads: Float[Tensor, "B L N"]
    attention_bias: Float[Tensor, "B L"]
    feed_forward: Float[Tensor, "B L"]
    constant: Float[Tensor, " B"]
    logit: Float[Tensor, " B"]

    @property
    def total(self) -> Float[Tensor, " B"]:
        """All parts together: the logit, but for rounding."""
        layers_B = self.heads.sum(dim=(1, 2)) + self.attention_bias.sum(dim=1) + self.feed_forward.sum(dim=1)
        return self.embedding + layers_B + self.constant


@torch.no_grad()
def direct_attribution(
    model: DecoderLM | EncoderLM,
    ids: Int[Tensor, "B T"],
    token: int,
    other: int | None = None,
    *,
    position: int = -1,
) -> Attribution:
    """Split a logit into what embedding, heads, biases and feed-forward networks have added to it directly.

    The residual stream is a sum, and so is the logit, once the scale of the last norm is held at what it was in this
    pass. What a part does by way of later layers counts as theirs: the split says who wrote, not who caused.

    Args:
        model: A pre-norm model in evaluation mode, whose head is a matrix.
        ids: Texts of equal length.
        token: Whose logit.
        other: If given, the logit of token minus that of this one.
        position: At which position.

    Returns:
        The parts; their total is the logit to about 1e-4 in float32.

    Raises:
        ValueError: If the model is post-norm, has a head with a layer of its own (BERT), or drops numbers; or if a
            token is not in the vocabulary, or the position not in the texts.

    Source: Elhage et al. 2021 (A Mathematical Framework for Transformer Circuits); Wang et al. 2022 (direct effects on
    a logit difference).
    """
    stack, norm = _stack_and_last_norm(model)
    if model.head.transform is not None:
        raise ValueError("the head has a layer of its own (mlm_transform); wanted one that is a matrix alone")
    if model.training and model.config.dropout:
        raise ValueError(f"the model drops {model.config.dropout:g} of its numbers; call eval() first")
    for token_id in (token, other):
        if token_id is not None and not 0 <= token_id < model.config.vocab_size:
            raise ValueError(f"token {token_id} is not in the vocabulary of {model.config.vocab_size}")
    if not -ids.shape[1] <= position < ids.shape[1]:
        raise ValueError(f"position {position} is not in texts of {ids.shape[1]} tokens")
    trace = Trace()
    logits_BV = model(ids, trace=trace)[:, position]

    direction_D, constant = _direction(model, token)
    logit_B = logits_BV[:, token]
    if other is not None:
        other_D, other_constant = _direction(model, other)
        direction_D, constant = direction_D - other_D, constant - other_constant
        logit_B = logit_B - logits_BV[:, other]

    last_BD = trace.states[-1][:, position]
    if isinstance(norm, LayerNorm):
        scale_B1 = torch.rsqrt(last_BD.var(dim=-1, keepdim=True, correction=0) + norm.eps)
        if norm.shift is not None:
            constant = constant + norm.shift @ direction_D
        read_D = norm.gain * direction_D
        read_D = read_D - read_D.mean()  # the norm takes the mean of x away: the same as reading with a mean of zero
    else:
        scale_B1 = torch.rsqrt(last_BD.square().mean(dim=-1, keepdim=True) + norm.eps)
        read_D = norm.gain * direction_D
    read_BD = scale_B1 * read_D

    heads, biases = [], []
    for layer, z_BNTH in zip(stack.each(), trace.heads, strict=True):
        w_NHD = layer.attention.w_o.unflatten(0, (z_BNTH.shape[1], -1))
        heads.append(torch.einsum("bnh,nhd,bd->bn", z_BNTH[:, :, position], w_NHD, read_BD))
        b_o = getattr(layer.attention, "b_o", None)
        biases.append(torch.zeros_like(logit_B) if b_o is None else read_BD @ b_o)
    networks = [(y_BTD[:, position] * read_BD).sum(dim=-1) for y_BTD in trace.feed_forward]
    return Attribution(
        embedding=(trace.states[0][:, position] * read_BD).sum(dim=-1),
        heads=torch.stack(heads, dim=1),
        attention_bias=torch.stack(biases, dim=1),
        feed_forward=torch.stack(networks, dim=1),
        constant=constant.expand_as(logit_B),
        logit=logit_B,
    )


def _direction(model: DecoderLM | EncoderLM, token: int) -> tuple[Tensor, Tensor]:
    """The direction in which the head reads a token's logit, (D,), and what it adds whatever it reads."""
    head = model.head
    direction_D = model.embedder.tokens.table[token] if head.w_out is None else head.w_out[:, token]
    if head.scale is not None:
        direction_D = direction_D * head.scale
    return direction_D, direction_D.new_zeros(()) if head.b_out is None else head.b_out[token]


def _stack_and_last_norm(model: DecoderLM | EncoderLM | Transformer) -> tuple[Decoder | Encoder, LayerNorm | RMSNorm]:
    stack = model.encoder if isinstance(model, EncoderLM) else model.decoder
    if not isinstance(stack.norm, LayerNorm | RMSNorm):
        raise ValueError(
            "the model is post-norm (pre_norm is False): its layers' states are normalised one by one, and no last "
            "norm stands before the head; wanted a pre-norm model"
        )
    return stack, stack.norm


def _check_one_pass(trace: Trace, stack: Decoder | Encoder) -> None:
    if len(trace.states) != len(stack.layers) + 1:
        raise ValueError(
            f"the trace holds {len(trace.states)} states; one pass through {len(stack.layers)} layers leaves "
            f"{len(stack.layers) + 1}"
        )
