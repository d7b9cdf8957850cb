"""The first transformer (Vaswani et al. 2017) in one file: it learns from pairs of sentences, and translates.

    paste train.en train.fr > pairs.tsv                  # each line holds a sentence, a tab and its translation
    python examples/translate.py pairs.tsv               # train: print the loss, save translate.pt
    python examples/translate.py --say "A dog sleeps."   # translate with the saved model

Letters of axes, as in q_BNTH: B sentences in a batch, T positions of queries, S positions of keys, D model width,
N heads, H = D/N head width, F hidden width, V words of both languages together, L layers. True in a mask: may attend.
"""

import argparse
import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SPECIAL = ("<pad>", "<unknown>", "<start>", "<end>")
PAD, UNKNOWN, START, END = range(4)
Pairs = Sequence[Sequence[str]]
Memory = tuple[Tensor, Tensor]  # what the encoder makes of the source, and the mask of its padding
Cache = dict[str, Tensor]  # of one layer: the keys and values that later words attend to, too


@dataclass(frozen=True)
class Config:
    """The sizes of a model; the defaults train in minutes on a laptop."""

    vocab_size: int  # V
    d_model: int = 128  # D
    n_heads: int = 4  # N
    n_layers: int = 2  # L, in the encoder and again in the decoder
    d_hidden: int = 512  # F
    dropout: float = 0.1


class Attention(nn.Module):
    """Queries of one sequence mix the values of another, or of the same."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(config.d_model, config.d_model, bias=False) for _ in "qkvo")

    def read(self, x_BSD: Tensor) -> Tensor:
        """Return the keys and the values, (2, B, N, S, H): each head has H columns of every projection."""
        return torch.stack((self.w_k(x_BSD), self.w_v(x_BSD))).unflatten(-1, (self.n_heads, -1)).transpose(-2, -3)

    def forward(self, x_BTD: Tensor, keys_values: Tensor, mask: Tensor) -> Tensor:
        """Return what attention adds to x_BTD."""
        q_BNTH = self.w_q(x_BTD).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k_BNSH, v_BNSH = keys_values
        # A dot product of H numbers has a variance of about H: unscaled, it would saturate the softmax.
        scores_BNTS = q_BNTH @ k_BNSH.mT / math.sqrt(q_BNTH.shape[-1])
        weights_BNTS = scores_BNTS.masked_fill(~mask, -math.inf).softmax(dim=-1)
        return self.w_o((weights_BNTS @ v_BNSH).transpose(1, 2).flatten(start_dim=2))


class Layer(nn.Module):
    """Self-attention, cross-attention in a decoder, a feed-forward network: after each, a sum and a norm."""

    def __init__(self, config: Config, cross: bool) -> None:
        super().__init__()
        self.attention, self.cross = Attention(config), Attention(config) if cross else None
        hidden = nn.Linear(config.d_model, config.d_hidden)
        self.feed_forward = nn.Sequential(hidden, nn.ReLU(), nn.Linear(config.d_hidden, config.d_model))
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in range(3 if cross else 2))
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x_BTD: Tensor, mask: Tensor, memory: Memory | None, cache: Cache) -> Tensor:
        """Return the refined x_BTD, and leave in the cache what the words after x_BTD need to know."""
        new = self.attention.read(x_BTD)
        cache["self"] = torch.cat((cache["self"], new), dim=-2) if "self" in cache else new
        x_BTD = self.norms[0](x_BTD + self.dropout(self.attention(x_BTD, cache["self"], mask)))
        if self.cross is not None and memory is not None:
            memory_BSD, memory_mask = memory
            if "cross" not in cache:  # the source stays as it is while the target grows
                cache["cross"] = self.cross.read(memory_BSD)
            x_BTD = self.norms[1](x_BTD + self.dropout(self.cross(x_BTD, cache["cross"], memory_mask)))
        return self.norms[-1](x_BTD + self.dropout(self.feed_forward(x_BTD)))


class Transformer(nn.Module):
    """An encoder reads the source; a decoder predicts, at every position of the target, the next word."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = nn.ModuleList(Layer(config, cross=False) for _ in range(config.n_layers))
        self.decoder = nn.ModuleList(Layer(config, cross=True) for _ in range(config.n_layers))
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)  # so that embed returns numbers of size 1

    def embed(self, ids_BT: Tensor, first: int = 0) -> Tensor:
        """Look words up, and add the sinusoids of their positions, which count from the first."""
        positions_T1 = torch.arange(first, first + ids_BT.shape[1])[:, None].double()
        angles = positions_T1 / 10_000 ** (torch.arange(0, self.config.d_model, 2).double() / self.config.d_model)
        sinusoids_TD = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(start_dim=1)
        x_BTD = self.embedding(ids_BT)
        return self.dropout(x_BTD * math.sqrt(self.config.d_model) + sinusoids_TD.to(x_BTD))

    def encode(self, source_BS: Tensor) -> Memory:
        """Read the source."""
        x_BSD, mask_B11S = self.embed(source_BS), (source_BS != PAD)[:, None, None, :]
        for layer in self.encoder:
            x_BSD = layer(x_BSD, mask_B11S, None, Cache())
        return x_BSD, mask_B11S

    def decode(self, ids_BT: Tensor, memory: Memory, caches: list[Cache]) -> Tensor:
        """Return logits_BTV for the words after ids_BT, which follow the words that are in the caches."""
        T, past = ids_BT.shape[1], caches[0]["self"].shape[-2] if caches[0] else 0
        # A position that attended to later ones would read the word that it has to predict.
        causal_TS = torch.ones(T, past + T, dtype=torch.bool, device=ids_BT.device).tril(past)
        x_BTD = self.embed(ids_BT, first=past)
        for layer, cache in zip(self.decoder, caches, strict=True):
            x_BTD = layer(x_BTD, causal_TS, memory, cache)
        return x_BTD @ self.embedding.weight.mT

    def forward(self, source_BS: Tensor, target_BT: Tensor) -> Tensor:
        """Return logits_BTV; those at position t score the target word at position t + 1."""
        return self.decode(target_BT, self.encode(source_BS), [Cache() for _ in self.decoder])

    @torch.no_grad()
    def translate(self, source_BS: Tensor, max_length: int = 60) -> Tensor:
        """Append the most probable next word again and again, until every sentence has ended."""
        memory, caches = self.encode(source_BS), [Cache() for _ in self.decoder]
        words = [torch.full_like(source_BS[:, :1], START)]
        ended_B1 = words[0] == END
        while len(words) <= max_length and not ended_B1.all():
            words.append(self.decode(words[-1], memory, caches)[:, -1:].argmax(dim=-1))
            ended_B1 |= words[-1] == END
        return torch.cat(words[1:], dim=1)


def read_pairs(path: str | Path) -> list[list[str]]:
    """Read pairs of sentences, one in each line."""
    pairs = [line.split("\t") for line in Path(path).read_text(encoding="utf-8").strip("\n").split("\n")]
    for number, pair in enumerate(pairs, start=1):
        if len(pair) != 2:
            raise ValueError(f"Line {number} of {path} must hold a sentence, a tab and its translation; got {pair}.")
    if len(pairs) < 20:
        raise ValueError(f"{path} has {len(pairs)} pairs of sentences, and training needs at least 20.")
    return pairs


def cut(sentence: str) -> list[str]:
    """Cut a sentence into words and punctuation; an apostrophe ends a word, as in l'|eau."""
    return re.findall(r"\w+(?:-\w+)*['’]?|[^\w\s]", sentence)


def join(ids: Sequence[int], words: Sequence[str]) -> str:
    """Write the words before <end> as a sentence."""
    sentence = " ".join(words[i] for i in ids[: [*ids, END].index(END)])
    return re.sub(r"(?<=['’]) | (?=[.,;:!?])", "", sentence)


def batch(sentences: Sequence[str], words: Sequence[str]) -> Tensor:
    """Write sentences as rows of ids, from <start> to <end>, and fill them up to one length."""
    index = {word: i for i, word in enumerate(words)}
    rows = [[START, *(index.get(word, UNKNOWN) for word in cut(sentence)), END] for sentence in sentences]
    return nn.utils.rnn.pad_sequence([*map(torch.tensor, rows)], batch_first=True, padding_value=PAD).to(DEVICE)


def batches(pairs: Pairs, size: int) -> Iterator[Pairs]:
    """Draw batches for ever, each of sentences of similar length: padding would cost as much as words."""
    while True:
        drawn = [pairs[i] for i in torch.randperm(len(pairs))[: 50 * size].tolist()]
        by_length = sorted(drawn, key=lambda pair: len(pair[1]))
        starts = torch.arange(0, len(drawn), size)
        yield from (by_length[start : start + size] for start in starts[torch.randperm(len(starts))].tolist())


def loss_of(model: Transformer, pairs: Pairs, words: Sequence[str], smoothing: float = 0.0) -> Tensor:
    """Return the cross-entropy of the next words, in nats per word."""
    source_BS, target_BT = (batch(sentences, words) for sentences in zip(*pairs, strict=True))
    logits_BTV = model(source_BS, target_BT[:, :-1])  # teacher forcing: each word is predicted from the right ones
    labels = target_BT[:, 1:].flatten()
    return F.cross_entropy(logits_BTV.flatten(0, 1), labels, ignore_index=PAD, label_smoothing=smoothing)


def train(pairs: Pairs, steps: int, batch_size: int = 64, **sizes: Any) -> tuple[Transformer, list[str]]:
    """Train on nineteen of twenty pairs, as the paper does: Adam, warm-up, label smoothing. Return model and words."""
    held_out, pairs = pairs[::20][:200], [pair for i, pair in enumerate(pairs) if i % 20]
    counts = Counter(word for pair in pairs for sentence in pair for word in cut(sentence))
    words = [*SPECIAL, *(word for word, count in counts.items() if count > 1)]  # nothing is learned of a word seen once
    model = Transformer(Config(len(words), **sizes)).to(DEVICE)
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    warmup = min(1000, steps)  # Adam's first steps are as long as the rate, however uncertain their direction
    began = time.time()
    for step, drawn in zip(range(1, steps + 1), batches(pairs, batch_size), strict=False):
        adam.param_groups[0]["lr"] = model.config.d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
        model.train()
        loss = loss_of(model, drawn, words, smoothing=0.1)
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step % 100 == 0 or step in (1, steps):
            model.eval()
            with torch.no_grad():
                unseen = loss_of(model, held_out, words)
            print(f"step {step}: loss {loss:.3f}, held out {unseen:.3f}, {time.time() - began:.0f} s", flush=True)
    return model.eval(), words


def load(path: str | Path) -> tuple[Transformer, list[str]]:
    """Read a checkpoint: the model and its words."""
    if not Path(path).is_file():
        raise ValueError(f"There is no checkpoint {path}: train a model first.")
    try:
        checkpoint = torch.load(path, map_location=DEVICE, weights_only=True)
        model = Transformer(Config(**checkpoint["config"])).to(DEVICE)
        model.load_state_dict(checkpoint["model"])
    except Exception:  # torch has a dozen kinds of error for a file that it cannot read
        raise ValueError(f"{path} is not a checkpoint of this program: train a model first.") from None
    return model.eval(), checkpoint["words"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, then train and translate, or only translate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="?", help="pairs to train on; without them, the checkpoint translates")
    parser.add_argument("--say", action="append", default=[], help="a sentence to translate")
    parser.add_argument("--checkpoint", default="translate.pt")
    parser.add_argument("--steps", type=int, default=3000)
    given = parser.parse_args(arguments)
    torch.manual_seed(0)
    try:
        if given.pairs is not None:
            model, words = train(read_pairs(given.pairs), given.steps)
            torch.save({"config": asdict(model.config), "words": words, "model": model.state_dict()}, given.checkpoint)
        model, words = load(given.checkpoint)
        for sentence in given.say:
            print(join(model.translate(batch([sentence], words))[0].tolist(), words))
    except OSError as error:
        raise SystemExit(f"{error.filename} cannot be used: {error.strerror}.") from None
    except ValueError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
