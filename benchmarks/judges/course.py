"""The course's own check, given the answers in the signatures of its tasks."""

import math
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmarks.judges.verdict import Asked, PeerJudge, Verdict

Function = Callable[..., Any]


def _layer(f: Function) -> type[nn.Module]:
    class MultiHeadAttention(nn.Module):
        def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, head_width: int) -> None:
            super().__init__()
            self.sizes = n_heads, n_kv_heads
            wide, narrow = n_heads * head_width, n_kv_heads * head_width
            self.w_q = nn.Parameter(torch.empty(d_model, wide))
            self.w_k = nn.Parameter(torch.empty(d_model, narrow))
            self.w_v = nn.Parameter(torch.empty(d_model, narrow))
            self.w_o = nn.Parameter(torch.empty(wide, d_model))

        def forward(self, x: Any, mask: Any = None) -> Any:
            return f(x, x, x, self.w_q, self.w_k, self.w_v, self.w_o, *self.sizes, mask)

    return MultiHeadAttention


def _cross(f: Function) -> Function:
    def cross_attention(x: Any, memory: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n: int, mask: Any = None) -> Any:
        if mask is not None:
            mask = mask.expand(len(x), n, x.shape[1], memory.shape[1])
        return f(x, memory, memory, w_q, w_k, w_v, w_o, n, n, mask)

    return cross_attention


def _tanh(x: Any) -> Any:
    return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def _rotate(f: Function) -> Function:
    return lambda x, start: f(x, torch.arange(start, start + x.shape[2]))


def _embed(f: Function) -> Function:
    def embed(ids: Any, table: Any) -> Any:
        return (f(ids, table) * math.sqrt(table.shape[-1])).masked_fill((ids == 0)[..., None], 0.0)

    return embed


def _loss(f: Function) -> Function:
    return lambda logits, labels, pad_id: f(logits[labels != pad_id], labels[labels != pad_id])


def _clip(f: Function) -> Function:
    def clip(g_1: Any, g_2: Any, g_3: Any, max_norm: float) -> Any:
        gradients, norm = f([g_1, g_2, g_3], max_norm)
        return (*gradients, norm)

    return clip


def _same(f: Function) -> Function:
    return f


ASKED = {
    "softmax": Asked("04.softmax", "plain, large", lambda f: lambda x: f(x, -1)),
    "attention": Asked("04.attention", "plain, heads, unequal, mask, batch mask, blind, large, gradient", _same),
    "multi_head": Asked("05.multi-head", "plain, wide, groups, mask, batch mask, blind, gradient", _layer),
    "grouped": Asked("05.multi-head", "plain, wide, groups, mask, batch mask, blind, gradient", _layer),
    "cross_attention": Asked("08.cross-attention", "plain, wide, mask, batch mask, gradient", _cross),
    "cached_attention": Asked("10.step", "prefill, one, chunk, groups", _same),
    "layer_norm": Asked("07.layer-norm", "plain, gain, small, eps, gradient", _same),
    "rms_norm": Asked("07.rms-norm", "plain, gain, small, eps, gradient", _same),
    "gelu": Asked("07.gelu", "plain", lambda f: lambda x: (f(x), _tanh(x))),
    "swiglu": Asked("07.swiglu", "plain, gradient", _same),
    "rope": Asked("06.rotary", "plain, heads, offset, gradient", _rotate),
    "sinusoids": Asked("06.sinusoids", "plain, odd", _same),
    "embedding": Asked("03.embed", "plain, gradient", _embed),
    "dropout": Asked("09.dropout", "training, evaluation, gradient", _same),
    "linear_attention": Asked("13.linear", "plain, gradient", _same),
    "patches": Asked("13.patches", "square, rectangle", _same),
    "cross_entropy": Asked("09.cross-entropy", "plain, large, gradient", _loss),
    "adam": Asked("09.adam", "first, later, small", _same),
    "clip": Asked("09.clip", "several, below, norm", _clip),
    "contrastive": Asked("13.contrastive", "plain, scale, gradient", lambda f: lambda i, t, s: f(i, t, s.exp())),
    "accept": Asked("15.accept", "plain, zeros, equal", _same),
    "top_k": Asked("10.top-k", "plain, all, ties", _same),
    "top_p": Asked("10.top-p", "plain, sure, all", _same),
    "temperature": Asked("10.temperature", "plain, zero", _same),
    "beam_step": Asked("10.beam-step", "plain", _same),
    "count_pairs": Asked("03.pair-counts", "plain, doubles", _same),
    "merge_pair": Asked("03.merge", "plain, doubles", _same),
}


def opened(peers: object = None) -> PeerJudge:
    """The course's check; it needs no folder."""
    import softlookup
    from softlookup_judge.home import check

    def verdict(task: str, answer: Any) -> Verdict:
        start = time.perf_counter()
        result = check(task, answer)
        seconds = time.perf_counter() - start
        return Verdict(result.verdict == "pass", " ".join(result.sentences), seconds, result.diagnosis)

    return PeerJudge("Soft Lookup", softlookup.__version__, "MIT", ASKED, verdict)
