"""TorchCode's judge, the package torch-judge: its own ``check`` is called, its output read."""

import contextlib
import io
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.judges.answers import right
from benchmarks.judges.verdict import Asked, PeerJudge, Verdict, installed

Function = Callable[..., Any]
WANTED = "torch-judge==0.1.1"


class _Heads(nn.Module):
    """Four matrices, under the names that the tests read."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int | None = None) -> None:
        super().__init__()
        self.n, self.kv = num_heads, num_kv_heads or num_heads
        narrow = d_model // num_heads * self.kv
        self.W_q, self.W_o = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.W_k, self.W_v = nn.Linear(d_model, narrow, bias=False), nn.Linear(d_model, narrow, bias=False)

    def matrices(self) -> tuple[Any, ...]:
        return self.W_q.weight.T, self.W_k.weight.T, self.W_v.weight.T, self.W_o.weight.T


def _multi_head(f: Function) -> type:
    class MultiHeadAttention(_Heads):
        def forward(self, q: Any, k: Any, v: Any) -> Any:
            return f(q, k, v, *self.matrices(), self.n, self.kv)

    return MultiHeadAttention


def _grouped(f: Function) -> type:
    class GroupQueryAttention(_Heads):
        def forward(self, x: Any) -> Any:
            return f(x, x, x, *self.matrices(), self.n, self.kv)

    return GroupQueryAttention


def _cross(f: Function) -> type:
    class MultiHeadCrossAttention(_Heads):
        def forward(self, x_q: Any, x_kv: Any) -> Any:
            return f(x_q, x_kv, x_kv, *self.matrices(), self.n, self.kv)

    return MultiHeadCrossAttention


def _cached(f: Function) -> type:
    class KVCacheAttention(_Heads):
        def forward(self, x: Any, cache: Any = None) -> Any:
            empty = x.new_empty(len(x), self.n, 0, x.shape[-1] // self.n)
            y, *longer = f(x, *self.matrices(), self.n, self.kv, *(cache or (empty, empty)))
            return y, tuple(longer)

    return KVCacheAttention


def _swiglu(f: Function) -> type:
    class SwiGLUMLP(nn.Module):
        def __init__(self, d_model: int, d_ff: int) -> None:
            super().__init__()
            self.gate_proj, self.up_proj = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_model, d_ff, bias=False)
            self.down_proj = nn.Linear(d_ff, d_model, bias=False)

        def forward(self, x: Any) -> Any:
            return f(x, self.gate_proj.weight.T, self.up_proj.weight.T, self.down_proj.weight.T)

    return SwiGLUMLP


def _rope(f: Function) -> Function:
    return lambda q, k: (f(q, torch.arange(q.shape[1])), f(k, torch.arange(k.shape[1])))


def _embedding(f: Function) -> type:
    class MyEmbedding(nn.Module):
        def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))

        def forward(self, indices: Any) -> Any:
            return f(indices, self.weight)

    return MyEmbedding


def _dropout(f: Function) -> type:
    class MyDropout(nn.Module):
        def __init__(self, p: float = 0.5) -> None:
            super().__init__()
            self.p = p

        def forward(self, x: Any) -> Any:
            return f(x, torch.rand_like(x), self.p, self.training)

    return MyDropout


def _patches(f: Function) -> type:
    class PatchEmbedding(nn.Module):
        def __init__(self, img_size: int, patch_size: int, in_channels: int, embed_dim: int) -> None:
            super().__init__()
            self.patch, self.num_patches = patch_size, (img_size // patch_size) ** 2
            self.proj = nn.Linear(in_channels * patch_size**2, embed_dim)

        def forward(self, x: Any) -> Any:
            return self.proj(f(x, self.patch))

    return PatchEmbedding


def _adam(f: Function) -> type:
    class MyAdam:
        def __init__(
            self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
        ) -> None:
            self.params, self.numbers, self.t = list(params), (lr, *betas, eps), 0
            self.state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.params]

        def step(self) -> None:
            self.t += 1
            with torch.no_grad():
                for i, p in enumerate(self.params):
                    w, m, v = f(p.detach(), p.grad, *self.state[i], self.t, *self.numbers)
                    self.state[i] = m, v
                    p.copy_(w)

        def zero_grad(self) -> None:
            for p in self.params:
                if p.grad is not None:
                    p.grad.zero_()

    return MyAdam


def _cosine(f: Function) -> Function:
    def cosine_lr_schedule(step: int, total_steps: int, warmup_steps: int, max_lr: float, min_lr: float = 0.0) -> float:
        return float(f(step, warmup_steps, total_steps, max_lr, min_lr))

    return cosine_lr_schedule


def _clip(f: Function) -> Function:
    def clip_grad_norm(parameters: Any, max_norm: float) -> float:
        parameters = list(parameters)
        gradients, norm = f([p.grad for p in parameters], max_norm)
        for p, g in zip(parameters, gradients, strict=True):
            p.grad.copy_(g)
        return float(norm)

    return clip_grad_norm


def _sampler(**answer: Function) -> Function:
    """Sampling with one part from the answer, the others right."""
    part = {name: answer.get(name) or right(name) for name in ("temperature", "top_k", "top_p")}

    def sample(logits: Any, top_k: int = 0, top_p: float = 1.0, temperature: float = 1.0) -> int:
        logits = logits[None]
        shares = part["temperature"](logits, temperature)
        if top_k > 0:
            shares = part["top_k"](shares.log(), top_k)
        if top_p < 1.0 or "top_p" in answer:
            shares = part["top_p"](shares, top_p)
        return int(torch.multinomial(shares[0], 1))

    return sample


def _beams(f: Function) -> Function:
    def beam_search(log_prob_fn: Function, start_token: int, max_len: int, beam_width: int, eos_token: int) -> Any:
        texts, totals = [[start_token]], torch.zeros(1)
        while True:
            if texts[0][-1] == eos_token or len(texts[0]) >= max_len:
                return texts[0]
            log_p = torch.stack([log_prob_fn(text) for text in texts])
            for row, text in enumerate(texts):
                if text[-1] == eos_token:  # stays as it is
                    log_p[row] = float("-inf")
                    log_p[row, eos_token] = 0.0
            totals, parents, tokens = f(totals, log_p, min(beam_width, log_p.numel()))
            pairs = zip(parents.tolist(), tokens.tolist(), strict=True)
            texts = [texts[p] if texts[p][-1] == eos_token else [*texts[p], t] for p, t in pairs]

    return beam_search


def _bpe(**answer: Function) -> type:
    count, merge = (answer.get(name) or right(name) for name in ("count_pairs", "merge_pair"))

    class SimpleBPE:
        def __init__(self) -> None:
            self.merges: list[tuple[str, str]] = []

        def train(self, corpus: list[str], num_merges: int) -> None:
            times: dict[str, int] = {}
            for word in corpus:
                times[word] = times.get(word, 0) + 1
            cuts = [([*word, "</w>"], n) for word, n in times.items()]
            while len(self.merges) < num_merges:
                counts = count(cuts)
                if not counts:
                    break
                best = max(counts, key=counts.__getitem__)
                self.merges.append(best)
                cuts = [(merge(symbols, best), n) for symbols, n in cuts]

        def encode(self, text: str) -> list[str]:
            symbols = [*text, "</w>"]
            for pair in self.merges:
                symbols = merge(symbols, pair)
            return symbols

    return SimpleBPE


def _speculative(f: Function) -> Function:
    def speculative_decode(target_probs: Any, draft_probs: Any, draft_tokens: Any) -> list[int]:
        p_accept, rest = f(target_probs, draft_probs)
        out: list[int] = []
        for i, token in enumerate(draft_tokens.tolist()):
            if torch.rand(()) < p_accept[i, token]:
                out.append(token)
            else:
                return [*out, int(torch.multinomial(rest[i], 1))]
        return out

    return speculative_decode


def _norm(f: Function) -> Function:
    return lambda x, gamma, beta, eps=1e-5: f(x, gamma, beta, eps)


# Exempt is what a text leaves open: the order of patches and of pixels in them, which heads form a group, on which
# side of a cache new keys stand, from which side pairs are merged; and what drawing a token undoes, as it normalises.
ASKED = {
    "softmax": Asked("softmax", "plain, axis, large", lambda f: lambda x, dim=-1: f(x, dim)),
    "attention": Asked("attention", "plain, unequal, gradient", lambda f: lambda q, k, v: f(q, k, v)),
    "multi_head": Asked("mha", "plain, separate, gradient", _multi_head),
    "grouped": Asked("gqa", "plain, gradient", _grouped, ("groups-reversed", "queries-interleaved")),
    "cross_attention": Asked("cross_attention", "plain, gradient", _cross),
    "cached_attention": Asked("kv_cache", "prefill, one, gradient", _cached, ("new-first",)),
    "layer_norm": Asked("layernorm", "plain, gain, small, eps, gradient", _norm),
    "rms_norm": Asked("rmsnorm", "plain, gain, small, eps, gradient", lambda f: lambda x, w, eps=1e-6: f(x, w, eps)),
    "gelu": Asked("gelu", "plain, gradient", lambda f: f),
    "swiglu": Asked("mlp", "plain, gradient", _swiglu),
    "rope": Asked("rope", "plain, gradient", _rope),
    "embedding": Asked("embedding", "plain, gradient", _embedding),
    "dropout": Asked("dropout", "training, evaluation, gradient", _dropout),
    "linear_attention": Asked("linear_attention", "plain, gradient", lambda f: f),
    "patches": Asked("vit_patch", "square", _patches, ("columns-first", "pixels-transposed", "upside-down")),
    "cross_entropy": Asked("cross_entropy", "plain, large, gradient", lambda f: f),
    "adam": Asked("adam", "first, later, small", _adam),
    "cosine": Asked("cosine_lr", "rising, falling, bottom", _cosine),
    "clip": Asked("gradient_clipping", "one, several, below, norm", _clip),
    "accept": Asked("speculative_decoding", "plain, equal", _speculative, ("not-normalised",)),
    "top_k": Asked("topk_sampling", "plain", lambda f: _sampler(top_k=f), ("not-renormalised",)),
    "top_p": Asked(
        # "Mask tokens where cumulative prob exceeds p" drops the token that crosses p, too.
        "topk_sampling",
        "plain",
        lambda f: _sampler(top_p=f),
        ("crossing-dropped", "crossing-dropped-but-first", "not-renormalised"),
    ),
    "temperature": Asked("topk_sampling", "plain", lambda f: _sampler(temperature=f)),
    "beam_step": Asked("beam_search", "plain", _beams),
    "count_pairs": Asked("bpe", "plain, doubles", lambda f: _bpe(count_pairs=f)),
    "merge_pair": Asked("bpe", "plain, doubles", lambda f: _bpe(merge_pair=f), ("from-the-right",)),
}


def opened(peers: Path | None) -> PeerJudge:
    """TorchCode's judge from the folder of peers."""
    version = installed(peers, "torch-judge", WANTED)
    from importlib import import_module

    package = import_module("torch_judge")
    names = import_module("torch_judge.tasks").TASKS

    def verdict(task: str, answer: Any) -> Verdict:
        space = {names[task]["function_name"]: answer, "check": package.check}
        output = io.StringIO()
        start = time.perf_counter()
        with contextlib.redirect_stdout(output):
            exec(f"check({task!r})", space)  # its check looks for the answer in its caller's names
        seconds = time.perf_counter() - start
        plain = re.sub(r"\x1b\[\d+m", "", output.getvalue())
        failed = [line.strip() for line in plain.splitlines() if "tests passed" not in line and "✅" not in line]
        return Verdict("tests passed!" in plain, " ".join(failed[3:-1]), seconds)

    return PeerJudge("TorchCode", version, "MIT", ASKED, verdict)
