"""Languages without a model: the logits of the next token are drawn from a seed and the tokens before it."""

import random

import torch


class ToyLanguage:
    """Logits that depend on every token of the prefix, the same whatever stands beside a row in the batch.

    Args:
        seed: Another one, another language.
        vocab_size: V.
        levels: Draw the logits from so many whole numbers, so that equal ones are common; None draws real ones.
        ruled_out: How many of the tokens may not follow (never all of them).
    """

    def __init__(self, seed, vocab_size, *, levels=None, ruled_out=0.0, dtype=torch.float64, device="cpu"):
        self.seed, self.vocab_size, self.levels, self.ruled_out = seed, vocab_size, levels, ruled_out
        self.dtype, self.device = dtype, device
        self.calls = []  # the shape of the ids of each call

    def row(self, prefix):
        """Give the logits after one prefix, a list of ids."""
        draw = random.Random(repr((self.seed, list(prefix))))
        logits = [
            float(draw.randrange(self.levels)) if self.levels else draw.gauss(0, 1.5) for _ in range(self.vocab_size)
        ]
        out = [draw.random() < self.ruled_out for _ in logits]
        out[draw.randrange(self.vocab_size)] = False
        logits = [float("-inf") if gone else x for x, gone in zip(logits, out, strict=True)]
        return torch.tensor(logits, dtype=self.dtype, device=self.device)

    def log_p(self, prefix):
        """Give the log-probabilities after one prefix, as numbers."""
        return torch.log_softmax(self.row(prefix), dim=-1).tolist()

    def stateless(self, ids, state):
        """Step: remember nothing, be given everything."""
        assert state is None
        self.calls.append(tuple(ids.shape))
        return torch.stack([self.row(prefix) for prefix in ids.tolist()]), None

    def stateful(self, ids, state):
        """Step: be given what is new, and keep all of it."""
        self.calls.append(tuple(ids.shape))
        seen = ids if state is None else torch.cat((state.ids, ids), dim=1)
        return torch.stack([self.row(prefix) for prefix in seen.tolist()]), Seen(seen)


class Seen:
    """The memory of a toy language: all tokens so far."""

    def __init__(self, ids):
        self.ids = ids

    def select(self, rows):
        return Seen(self.ids[rows])


def table_step(rows, dtype=torch.float64):
    """Give a step whose probabilities depend on the last token alone: rows[i] is what follows token i."""
    log_p_VV = torch.tensor(rows, dtype=dtype).log()
    return lambda ids, state: (log_p_VV[ids[:, -1]], None)
