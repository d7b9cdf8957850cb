"""From states to words: the logits over the vocabulary."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from softlookup.model.parts.config import Config
from softlookup.model.parts.embeddings import TokenEmbedding
from softlookup.model.parts.layers import norm_of


class Head(nn.Module):
    """One logit for each word, from each state: its dot product with the word's row of the output matrix.

    The output matrix is the table of ``tokens`` where config.tied is set.

    Source: Vaswani et al. 2017, section 3.4; Press & Wolf 2017 (tied weights); Devlin et al. 2019 (the transform).
    """

    w_out: nn.Parameter | None
    b_out: nn.Parameter | None

    def __init__(self, config: Config, tokens: TokenEmbedding) -> None:
        super().__init__()
        # In a tuple, so that the table stays one parameter with one name, the embedder's.
        self._tied = (tokens,) if config.tied else None
        w_out = None if config.tied else nn.Parameter(torch.empty(config.d_model, config.vocab_size))
        if w_out is not None:
            nn.init.xavier_uniform_(w_out)
        self.register_parameter("w_out", w_out)
        b_out = nn.Parameter(torch.zeros(config.vocab_size)) if config.output_bias else None
        self.register_parameter("b_out", b_out)
        self.scale = config.tied_scale
        self.cap = None if config.parts is None else config.parts.logit_cap
        self.transform = Transform(config) if config.mlm_transform else None

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """Score every word of the vocabulary at every position.

        Softmax of the logits is the distribution over the next (or the hidden) word.

        Cost: 2*B*T*D*V operations.
        """
        x = self._prepared(x)
        if self.w_out is not None:
            logits_BTV = x @ self.w_out
        else:
            assert self._tied is not None
            logits_BTV = self._tied[0].logits(x)
        logits_BTV = logits_BTV if self.b_out is None else logits_BTV + self.b_out
        return logits_BTV if self.cap is None else self.cap * torch.tanh(logits_BTV / self.cap)

    def factors(self, x: Float[Tensor, "B T D"]) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "V D"]]:
        """Give the two matrices whose product the logits are, for a loss that never holds all logits at once.

        The states as the product takes them, and one row for each word: logits are states @ table.mT. ValueError if a
        bias is added to the logits, or they are capped, and so are no product.
        """
        if self.cap is not None:
            raise ValueError(f"this head caps the logits at {self.cap}: they are no product of two matrices")
        if self.b_out is not None:
            raise ValueError("this head adds a bias to the logits (output_bias): they are no product of two matrices")
        if self.w_out is not None:
            return self._prepared(x), self.w_out.mT
        assert self._tied is not None
        return self._prepared(x), self._tied[0].table

    def _prepared(self, x: Tensor) -> Tensor:
        if self.transform is not None:
            x = self.transform(x)
        return x if self.scale is None else x * self.scale


class Transform(nn.Module):
    """BERT's extra layer before the logits: a projection, GELU and a norm.

    Source: Devlin et al. 2019, and the code published with it.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.empty(config.d_model, config.d_model))
        self.b = nn.Parameter(torch.zeros(config.d_model))
        nn.init.xavier_uniform_(self.w)
        self.norm = norm_of(config)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Turn states once more before they meet the vocabulary."""
        return self.norm(F.gelu(x @ self.w + self.b))
