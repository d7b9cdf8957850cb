"""TorchLeet's judge, the package torchleet: its runner is called and its results read."""

import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.judges.answers import right
from benchmarks.judges.verdict import Asked, PeerJudge, Verdict, installed

Function = Callable[..., Any]
WANTED = "torchleet==0.1.0"


def _matrices(d_model: int, narrow: int) -> list[Any]:
    sizes = ((d_model, d_model), (d_model, narrow), (d_model, narrow), (d_model, d_model))
    return [torch.randn(size) / d_model**0.5 for size in sizes]


def _multi_head(f: Function) -> Function:
    def multi_head_attention(q: Any, k: Any, v: Any, num_heads: int, d_model: int, mask: Any = None) -> Any:
        return f(q, k, v, *_matrices(d_model, d_model), num_heads, num_heads, mask)

    return multi_head_attention


def _grouped(f: Function) -> Function:
    def grouped_query_attention(
        q: Any, k: Any, v: Any, num_query_heads: int, num_query_groups: int, d_model: int, mask: Any = None
    ) -> Any:
        if num_query_heads % num_query_groups:
            raise ValueError("the groups do not divide the heads")
        narrow = d_model // num_query_heads * num_query_groups
        return f(q, k, v, *_matrices(d_model, narrow), num_query_heads, num_query_groups, mask)

    return grouped_query_attention


class _Cache:
    def __init__(self) -> None:
        self.cached: tuple[Any, ...] = ()

    def update(self, k: Any, v: Any) -> Any:
        self.cached = (
            tuple(torch.cat(two, dim=2) for two in zip(self.cached, (k, v), strict=True)) if self.cached else (k, v)
        )
        return self.cached

    def reset(self) -> None:
        self.cached = ()


def _cached(f: Function) -> dict[str, Any]:
    class CachedAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int) -> None:
            super().__init__()
            self.n = num_heads
            self.w = _matrices(d_model, d_model)

        def forward(self, x: Any, kv_cache: Any = None) -> Any:
            empty = x.new_empty(len(x), self.n, 0, x.shape[-1] // self.n)
            cached = kv_cache.cached if kv_cache is not None and kv_cache.cached else (empty, empty)
            y, *longer = f(x, *self.w, self.n, self.n, *cached)
            if kv_cache is not None:
                kv_cache.cached = tuple(longer)
            return y

    return {"KVCache": _Cache, "CachedAttention": CachedAttention}


def _sinusoids(f: Function) -> type:
    class SinusoidalPositionalEmbedding(nn.Module):
        def __init__(self, max_len: int, d_model: int) -> None:
            super().__init__()
            self.pe = f(max_len, d_model)

        def forward(self, x: Any) -> Any:
            return x + self.pe[: x.shape[1]]

    return SinusoidalPositionalEmbedding


def _drawn(shares: Any) -> int:
    return int(torch.multinomial(shares[0], 1))


def _top_k(f: Function) -> Function:
    return lambda logits, k, temperature=1.0: _drawn(f(logits[None] / temperature, k))


def _top_p(f: Function) -> Function:
    return lambda logits, p=0.9, temperature=1.0: _drawn(f(torch.softmax(logits[None] / temperature, dim=-1), p))


def _beams(f: Function) -> Function:
    def beam_search(model: Any, start_token: int, beam_width: int = 3, max_len: int = 10) -> list[int]:
        texts, totals = [[start_token]], torch.zeros(1)
        while len(texts[0]) < max_len:
            log_p = torch.cat([torch.log_softmax(model(torch.tensor([text[-1]])), dim=-1) for text in texts])
            totals, parents, tokens = f(totals, log_p, min(beam_width, log_p.numel()))
            texts = [[*texts[p], t] for p, t in zip(parents.tolist(), tokens.tolist(), strict=True)]
        return texts[0]

    return beam_search


def _bpe(**answer: Function) -> dict[str, Function]:
    count, merge = (answer.get(name) or right(name) for name in ("count_pairs", "merge_pair"))

    def get_vocab(corpus: list[str]) -> dict[tuple[str, ...], int]:
        vocab: dict[tuple[str, ...], int] = {}
        for word in corpus:
            vocab[*word, "</w>"] = vocab.get((*word, "</w>"), 0) + 1
        return vocab

    def get_stats(vocab: dict[tuple[str, ...], int]) -> Any:
        return count(list(vocab.items()))

    def merge_vocab(pair: Any, vocab: dict[tuple[str, ...], int]) -> dict[tuple[str, ...], int]:
        return {tuple(merge(list(symbols), pair)): n for symbols, n in vocab.items()}

    def byte_pair_encoding(corpus: list[str], num_merges: int) -> Any:
        vocab, merges = get_vocab(corpus), []
        for _ in range(num_merges):
            stats = get_stats(vocab)
            if not stats:
                break
            merges.append(max(stats, key=stats.__getitem__))
            vocab = merge_vocab(merges[-1], vocab)
        return vocab, merges

    parts = get_vocab, get_stats, merge_vocab, byte_pair_encoding
    return {part.__name__: part for part in parts}


def _contrastive(f: Function) -> dict[str, Any]:
    class SimpleCLIP(nn.Module):
        def __init__(self, image_dim: int, text_dim: int, embed_dim: int) -> None:
            super().__init__()
            self.images, self.texts = nn.Linear(image_dim, embed_dim), nn.Linear(text_dim, embed_dim)
            self.log_scale = nn.Parameter(torch.tensor(1.0))

        def forward(self, images: Any, texts: Any) -> Any:
            i, t = self.images(images), self.texts(texts)
            return f(i, t, self.log_scale.exp()), i, t

    return {"info_nce_loss": f, "SimpleCLIP": SimpleCLIP}


_RELABELLED = ("split-interleaved", "merged-interleaved", "output-transposed")
"""Only another order of weights, which this task draws inside the answer."""

# Exempt is what a text leaves open (see ``torchcode``), and whether a temperature multiplies or divides.
ASKED = {
    "softmax": Asked("softmax", "plain, axis, large", lambda f: lambda x, dim=-1: f(x, dim)),
    "attention": Asked("implement-attention-from-scratch", "plain, heads, mask", lambda f: f),
    "multi_head": Asked("multi-head-attention", "plain, separate, mask", _multi_head, _RELABELLED),
    "grouped": Asked(
        "grouped-query-attention",
        "plain, separate, mask, gradient",
        _grouped,
        ("groups-reversed", "queries-interleaved"),
    ),
    "cached_attention": Asked("kv-cache", "prefill, one", _cached, ("new-first",)),
    "sinusoids": Asked("sinusoidal-positional-embedding", "plain", _sinusoids),
    "contrastive": Asked("contrastive-loss-clip", "plain, gradient", _contrastive, ("divided-by-scale",)),
    "top_k": Asked("top-k-sampling", "plain", _top_k, ("not-renormalised",)),
    "top_p": Asked("top-p-sampling", "plain, sure, all", _top_p, ("not-renormalised",)),
    "temperature": Asked(
        "temperature-sampling", "plain", lambda f: lambda logits, temperature=1.0: _drawn(f(logits[None], temperature))
    ),
    "beam_step": Asked("beam-search", "plain", _beams),
    "count_pairs": Asked("byte-pair-encoder", "plain, doubles", lambda f: _bpe(count_pairs=f)),
    "merge_pair": Asked("byte-pair-encoder", "plain, doubles", lambda f: _bpe(merge_pair=f), ("from-the-right",)),
}


def opened(peers: Path | None) -> PeerJudge:
    """TorchLeet's judge from the folder of peers."""
    version = installed(peers, "torchleet", WANTED)
    runner = import_module("torchleet.runner")

    def verdict(task: str, answer: Any) -> Verdict:
        spec = import_module(f"torchleet.problems.{runner.module_name(task)}")
        entries = answer if isinstance(answer, dict) else {spec.ENTRIES[0]: answer}
        start = time.perf_counter()
        results = runner.run(task, entries)
        seconds = time.perf_counter() - start
        failed = [f"{name}: {detail}" for name, status, detail in results if status == runner.FAIL]
        passed = any(status == runner.PASS for _, status, _ in results)
        return Verdict(passed and not failed, " ".join(failed), seconds)

    return PeerJudge("TorchLeet", version, "MIT", ASKED, verdict)
