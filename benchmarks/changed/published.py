"""SmolLM2 through a window, and with a cache of few bits: perplexity on the pages of this book."""

import hashlib
import math
import re
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.changed.results import CacheBitsPerplexity, WindowPerplexity
from benchmarks.changed.sizes import ChangedSizes
from softlookup.model.parts.cache import KVCache, LayerCache
from softlookup.model.parts.masks import window_mask
from softlookup.model.parts.trace import Trace
from softlookup.model.published.chat import ChatModel
from softlookup.model.published.smollm2 import PACKAGE, VERSION, load_smollm2

_NOT_PROSE = re.compile(r"[{}$`|<>\[\]#*_\\]|^[-:(+\d]|^\s")


def installed() -> bool:
    """Whether the package with SmolLM2's weights is there."""
    try:
        return metadata.version(PACKAGE) == VERSION
    except metadata.PackageNotFoundError:
        return False


def prose(root: Path) -> str:
    """Take the plain paragraphs of the book's pages, in their order: those without markup, formulas and links.

    FileNotFoundError if the checkout has no page.
    """
    pages = sorted((root / "book").glob("[0-9][0-9]_*.md"))
    if not pages:
        raise FileNotFoundError(f"{root / 'book'} has no page: the text to read is the book's")
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    return "\n\n".join(line for line in lines if len(line) > 80 and not _NOT_PROSE.search(line))


def window(plan: ChangedSizes, root: Path) -> WindowPerplexity:
    """Read long texts whole, through a window, and through a smaller window and the first tokens.

    Only predictions from the window's length on count: before that nothing is hidden. ``perplexity`` is by way (whole,
    window, window_and_sinks); ``first_token``, for each layer and head, is the mean weight that queries of the second
    half of a text give to its first token; what was read is there, too.
    """
    chat, rows, about = _text(plan, root)
    length = rows.shape[1] - 1
    narrow, wide = (window_mask(length, width, causal=True) for width in (plan.window - plan.sinks, plan.window))
    first = torch.arange(length) < plan.sinks
    ways = {"whole": None, "window": wide, "window_and_sinks": narrow | first}
    perplexity = {
        name: _perplexity(chat, rows, plan.window, None if mask is None else mask[None, None])
        for name, mask in ways.items()
    }
    return WindowPerplexity(perplexity, _to_the_first(chat, rows[:1, : plan.read_tokens // 2]), **about)


@torch.no_grad()
def _to_the_first(chat: ChatModel, ids: Tensor) -> list[list[float]]:
    trace = Trace()
    chat.model(ids, trace=trace)
    half = ids.shape[1] // 2
    return [[round(weight, 4) for weight in weights[0, :, half:, 0].mean(dim=-1).tolist()] for weights in trace.weights]


def cache_bits(plan: ChangedSizes, root: Path) -> CacheBitsPerplexity:
    """Read long texts with a cache of few bits, its keys in groups along a token or along a channel.

    A text is read a group at a time, which gives what reading token by token would: the tokens of a group see one
    another in full precision, and all earlier groups rounded. ``perplexity`` has ``whole``, with nothing rounded, and
    for each number of bits ``by_token``, keys and values in groups of all channels of a token, and ``keys_by_channel``,
    keys in groups of ``group`` tokens of a channel.
    """
    chat, rows, about = _text(plan, root)
    perplexity: dict[str, float | dict[str, float]] = {"whole": _perplexity(chat, rows, 1)}
    for bits in plan.bits:
        perplexity[str(bits)] = {
            name: _perplexity_in_groups(chat, rows, plan.group, partial(_FewBits, bits, key_axis))
            for name, key_axis in (("by_token", 3), ("keys_by_channel", 2))
        }
    return CacheBitsPerplexity(perplexity, plan.group, **about)


class _FewBits(LayerCache):
    """A cache that rounds each group it was given to 2^bits numbers: values along a token, keys along an axis."""

    def __init__(self, bits: int, key_axis: int) -> None:
        super().__init__()
        self._bits, self._key_axis = bits, key_axis

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        self._length += k.shape[2]
        before_k, before_v = (k[:, :, :0], v[:, :, :0]) if self._k is None or self._v is None else (self._k, self._v)
        self._k = torch.cat((before_k, _rounded(k, self._key_axis, self._bits)), dim=2)
        self._v = torch.cat((before_v, _rounded(v, 3, self._bits)), dim=2)
        return torch.cat((before_k, k), dim=2), torch.cat((before_v, v), dim=2)


def _rounded(x: Tensor, axis: int, bits: int) -> Tensor:
    """Round to 2^bits numbers from the least to the largest along an axis."""
    least, most = x.amin(dim=axis, keepdim=True), x.amax(dim=axis, keepdim=True)
    step = (most - least) / (2**bits - 1)
    return torch.where(step > 0, (x - least) / step, torch.zeros_like(x)).round() * step + least


@cache
def _model() -> ChatModel:
    return load_smollm2()


def _text(plan: ChangedSizes, root: Path) -> tuple[ChatModel, Tensor, dict[str, Any]]:
    chat, text = _model(), prose(root)
    ids = chat.encode(text)
    n = plan.read_tokens + 1
    if len(ids) < n * plan.stretches:
        raise ValueError(f"the pages have {len(ids)} tokens of prose; wanted {n * plan.stretches}")
    apart = len(ids) // plan.stretches
    rows = torch.tensor([ids[i * apart : i * apart + n] for i in range(plan.stretches)])
    about = {
        "tokens": plan.read_tokens,
        "stretches": plan.stretches,
        "text": f"plain paragraphs of this book, sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}",
    }
    return chat, rows, about


@torch.no_grad()
def _perplexity(chat: ChatModel, rows: Tensor, begin: int, mask: Tensor | None = None) -> float:
    model, losses = chat.model, []
    for row in rows:
        states = model.decoder(model.embedder(row[None, :-1]), mask=mask)
        losses.append(F.cross_entropy(model.head(states[:, begin - 1 :])[0], row[begin:]))
    return math.exp(torch.stack(losses).mean().item())


@torch.no_grad()
def _perplexity_in_groups(chat: ChatModel, rows: Tensor, group: int, made: Callable[[], LayerCache]) -> float:
    model, losses = chat.model, []
    for row in rows:
        state = KVCache(0)
        state.layers = [made() for _ in model.decoder.layers]
        parts = row[None, :-1].split(group, dim=1)
        logits = torch.cat([model.head(model.decoder(model.embedder(ids), cache=state)) for ids in parts], dim=1)
        losses.append(F.cross_entropy(logits[0], row[1:]))
    return math.exp(torch.stack(losses).mean().item())
