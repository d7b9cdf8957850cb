"""GPT-2 in one file: it trains on a text, writes more of it, and takes the published weights.

    python examples/gpt.py TEXT_FILE              # train: print the loss, save gpt.pt, write a sample
    python examples/gpt.py --prompt "Once upon"   # write with the saved model

Letters of axes, as in q_BNTH: B sequences in a batch, T positions of queries, S positions of keys, D model width,
N heads, H = D/N head width, F = 4*D hidden width, V tokens in the vocabulary, L layers.

Modules carry the names of the published weights (Radford et al. 2019), and matrices stand as they do there: (in, out).
"""

import argparse
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True)
class Config:
    """The sizes of a model; the defaults train in minutes on a laptop."""

    vocab_size: int = 256  # V: the bytes of a text are its tokens
    max_length: int = 64  # the largest T: each position has a learned vector
    d_model: int = 128  # D
    n_heads: int = 4  # N
    n_layers: int = 4  # L
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if min(self.max_length, self.d_model, self.n_heads, self.n_layers) < 1 or self.d_model % self.n_heads:
            raise ValueError(f"Sizes must be at least 1, and d_model a multiple of n_heads; got {self}.")


class Linear(nn.Module):
    """A matrix and a bias; torch's own Linear keeps the transposed matrix."""

    def __init__(self, n_in: int, n_out: int, std: float = 0.02) -> None:
        super().__init__()
        self.weight = nn.Parameter(std * torch.randn(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., n_in) to (..., n_out)."""
        return x @ self.weight + self.bias


class Attention(nn.Module):
    """Every position mixes the values of itself and of the positions before it."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.c_attn = Linear(config.d_model, 3 * config.d_model)  # queries, keys and values in one product
        # 2*L sublayers add to the residual stream: smaller first weights keep its variance independent of L.
        self.c_proj = Linear(config.d_model, config.d_model, std=0.02 / math.sqrt(2 * config.n_layers))
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Return what attention adds to x_BTD."""
        q_BNTH, k_BNSH, v_BNSH = self.c_attn(x_BTD).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        # A dot product of H numbers has a variance of about H: unscaled, it would saturate the softmax.
        scores_BNTS = q_BNTH @ k_BNSH.mT / math.sqrt(q_BNTH.shape[-1])
        # A position that attended to later ones would read the token that it has to predict.
        future_TS = torch.ones_like(scores_BNTS[0, 0], dtype=torch.bool).triu(diagonal=1)
        weights_BNTS = scores_BNTS.masked_fill(future_TS, -math.inf).softmax(dim=-1)
        mixed_BNTH = self.dropout(weights_BNTS) @ v_BNSH
        return self.dropout(self.c_proj(mixed_BNTH.transpose(1, 2).flatten(start_dim=2)))


class FeedForward(nn.Module):
    """Every position is transformed by itself."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.c_fc = Linear(config.d_model, 4 * config.d_model)
        self.c_proj = Linear(4 * config.d_model, config.d_model, std=0.02 / math.sqrt(2 * config.n_layers))
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Return what the network adds to x_BTD."""
        hidden_BTF = F.gelu(self.c_fc(x_BTD), approximate="tanh")  # GPT-2 was trained with the approximation
        return self.dropout(self.c_proj(hidden_BTF))


class Layer(nn.Module):
    """Attention, then the feed-forward network, each added to the residual stream."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(config.d_model), Attention(config)
        self.ln_2, self.mlp = nn.LayerNorm(config.d_model), FeedForward(config)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """Return the refined x_BTD."""
        # The norms stand inside the branches, so that gradients reach the first layer by the sums, unscaled.
        x_BTD = x_BTD + self.attn(self.ln_1(x_BTD))
        return x_BTD + self.mlp(self.ln_2(x_BTD))


class GPT(nn.Module):
    """A decoder-only language model: at every position, it predicts the next token."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.d_model)
        self.wpe = nn.Embedding(config.max_length, config.d_model)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)
        self.dropout = nn.Dropout(config.dropout)
        self.h = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.ln_f = nn.LayerNorm(config.d_model)

    def forward(self, ids_BT: Tensor) -> Tensor:
        """Return logits_BTV; those at position t score the token at position t + 1."""
        x_BTD = self.dropout(self.wte(ids_BT) + self.wpe.weight[: ids_BT.shape[1]])
        for layer in self.h:
            x_BTD = layer(x_BTD)
        # One table embeds the tokens and scores them: tokens that are used alike need similar rows for both.
        return self.ln_f(x_BTD) @ self.wte.weight.mT

    @torch.no_grad()
    def write(self, ids_BT: Tensor, n_tokens: int, temperature: float = 0.8, top_k: int = 50) -> Tensor:
        """Append tokens to ids_BT, each drawn from the top_k most probable ones."""
        self.eval()
        for _ in range(n_tokens):
            logits_BV = self(ids_BT[:, -self.config.max_length :])[:, -1] / temperature
            # The many improbable tokens are likely together, and any of them derails the text.
            lowest_B1 = logits_BV.topk(min(top_k, self.config.vocab_size)).values[:, -1:]
            p_BV = logits_BV.masked_fill(logits_BV < lowest_B1, -math.inf).softmax(dim=-1)
            ids_BT = torch.cat((ids_BT, torch.multinomial(p_BV, 1)), dim=1)
        return ids_BT


def load_gpt2(source: str | Path | Mapping[str, Tensor], n_heads: int | None = None) -> GPT:
    """Load GPT-2's published weights from a safetensors file, or from a state dict as `transformers` has it.

    The weights do not tell the number of heads; by default heads have width 64, as in all published sizes.
    """
    if isinstance(source, str | Path):
        from safetensors.torch import load_file  # here, so that all the rest needs torch alone

        source = load_file(source)
    tensors = {name.removeprefix("transformer."): tensor for name, tensor in source.items()}
    if not {"wte.weight", "wpe.weight"} <= tensors.keys():
        raise ValueError("These are not the weights of a GPT-2: there is no wte.weight or no wpe.weight.")
    wte_VD = tensors["wte.weight"]
    if not torch.equal(tensors.pop("lm_head.weight", wte_VD), wte_VD):
        raise ValueError("lm_head.weight differs from wte.weight: this model has one table for both.")
    # Some files keep the causal mask among the weights.
    tensors = {name: tensor for name, tensor in tensors.items() if not name.endswith((".attn.bias", ".masked_bias"))}
    n_layers = len({name.split(".")[1] for name in tensors if name.startswith("h.")})
    vocab_size, d_model = wte_VD.shape
    model = GPT(Config(vocab_size, len(tensors["wpe.weight"]), d_model, n_heads or d_model // 64, n_layers))
    model.to(wte_VD.dtype).load_state_dict(tensors)
    return model.eval()


def save(path: str | Path, model: GPT) -> None:
    """Write a checkpoint: all that it takes to use the model."""
    torch.save({"config": asdict(model.config), "weights": model.state_dict()}, path)


def load(path: str | Path) -> GPT:
    """Read a checkpoint."""
    if not Path(path).is_file():
        raise ValueError(f"There is no checkpoint {path}: train a model first.")
    try:
        checkpoint = torch.load(path, map_location=DEVICE, weights_only=True)
        model = GPT(Config(**checkpoint["config"])).to(DEVICE)
        model.load_state_dict(checkpoint["weights"])
    except Exception:  # torch has a dozen kinds of error for a file that it cannot read
        raise ValueError(f"{path} is not a checkpoint of this program: train a model first.") from None
    return model.eval()


def loss_of(model: GPT, ids: Tensor, batch_size: int) -> Tensor:
    """Draw windows of a text, and return the cross-entropy of their next tokens, in nats per token."""
    length = model.config.max_length
    windows = ids.unfold(0, length + 1, 1)[torch.randint(len(ids) - length, (batch_size,), device=DEVICE)]
    logits_BTV = model(windows[:, :-1])
    return F.cross_entropy(logits_BTV.flatten(0, 1), windows[:, 1:].flatten())


def train(config: Config, ids: Tensor, steps: int, batch_size: int = 16, peak: float = 2e-3) -> GPT:
    """Train a model on a text. The held-out tenth tells what it has learned from what it has only memorised."""
    held_out_size = len(ids) // 10
    if held_out_size <= config.max_length:
        raise ValueError(
            f"The text has {len(ids)} bytes, and a model of {config.max_length} positions needs "
            f"{10 * config.max_length + 10}: give a longer text or a smaller --max-length."
        )
    train_ids, held_out_ids = ids[:-held_out_size], ids[-held_out_size:]
    model = GPT(config).to(DEVICE)
    adam = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.99))
    warmup = min(100, steps)  # Adam's first steps are as long as the rate, however uncertain their direction
    began = time.time()
    for step in range(1, steps + 1):
        adam.param_groups[0]["lr"] = peak * min(step / warmup, 0.55 + 0.45 * math.cos(math.pi * step / steps))
        model.train()
        loss = loss_of(model, train_ids, batch_size)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # one wild batch must not undo many good ones
        adam.step()
        if step % 100 == 0 or step in (1, steps):
            model.eval()
            with torch.no_grad():
                held_out = loss_of(model, held_out_ids, 4 * batch_size)
            print(f"step {step}: loss {loss:.3f}, held-out {held_out:.3f}, {time.time() - began:.0f} s", flush=True)
    return model.eval()


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, then train and write, or only write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="?", help="a text file to train on; without it, the checkpoint writes")
    parser.add_argument("--checkpoint", default="gpt.pt")
    parser.add_argument("--prompt", default="\n")
    parser.add_argument("--tokens", type=int, default=500, help="how many to write")
    parser.add_argument("--steps", type=int, default=2000)
    for field in fields(Config)[1:]:
        parser.add_argument("--" + field.name.replace("_", "-"), type=type(field.default), default=field.default)
    given = parser.parse_args(arguments)
    torch.manual_seed(0)
    try:
        if given.text is not None:
            config = Config(**{field.name: getattr(given, field.name) for field in fields(Config)[1:]})
            ids = torch.tensor(list(Path(given.text).read_bytes()), device=DEVICE)
            save(given.checkpoint, train(config, ids, given.steps))
        prompt_BT = torch.tensor([list(given.prompt.encode() or b"\n")], device=DEVICE)
        written_BT = load(given.checkpoint).write(prompt_BT, given.tokens)
    except OSError as error:
        raise SystemExit(f"{error.filename} cannot be used: {error.strerror}.") from None
    except ValueError as error:
        raise SystemExit(str(error)) from None
    print(bytes(written_BT[0].tolist()).decode(errors="replace"))  # drawn bytes need not be whole characters


if __name__ == "__main__":
    main()
