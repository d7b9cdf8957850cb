"""SmolLM2 through a window, and with a cache of few bits: perplexity on the pages of this book."""

import hashlib
import math
import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.changed.results import CacheBitsPerplexity, WindowPerplexity
from benchmarks.changed.sizes import ChangedSizes
from softlookup.model.cache import KVCache, LayerCache
from softlookup.model.chat import ChatModel
from softlookup.model.masks import window_mask
from softlookup.model.smollm2 import PACKAGE, VERSION, load_smollm2
from softlookup.model.trace import Trace

_NOT_PROSE = re.compile(r"[{}$`|<>\[\]#*_\\]|^[-:(+\d]|^\s")


def installed() -> bool:
    """Whether the package with SmolLM2's weights is there."""
    try:
        return metadata.version(PACKAGE) == VERSION
    except metadata.PackageNotFoundError:
        return False


def prose(root: Path) -> str:
    """Take the plain paragraphs of the book's pages: those without markup, formulas and links.

    Args:
        root: The checkout.

    Returns:
        The paragraphs, in the order of the chapters.

    Raises:
        FileNotFoundError: If there is no page.
    """
    pages = sorted((root / "book").glob("[0-9][0-9]_*.md"))
    if not pages:
        raise FileNotFoundError(f"{root / 'book'} has no page: the text to read is the book's")
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    return "\n\n".join(line for line in lines if len(line) > 80 and not _NOT_PROSE.search(line))


def window(plan: ChangedSizes, root: Path) -> WindowPerplexity:
    """Read long texts whole, through a window, and through a smaller window and the first tokens.

    Only predictions from the window's length on count: before that nothing is hidden.

    Args:
        plan: ChangedSizes.
        root: The checkout.

    Returns:
        ``perplexity`` by way (whole, window, window_and_sinks); ``first_token``, for each layer and head the mean
        weight that queries of the second half of a text give to its first token; and what was read.
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
    """Read long texts with keys and values rounded to few bits, in groups along a token or along a channel.

    Args:
        plan: ChangedSizes.
        root: The checkout.

    Returns:
        ``perplexity``: ``whole``, with nothing rounded, and for each number of bits ``by_token``, keys and values in
        groups along a token, and ``keys_by_channel``, keys in groups along a channel.
    """
    chat, rows, about = _text(plan, root)
    perplexity: dict[str, float | dict[str, float]] = {"whole": _perplexity(chat, rows, 1)}
    for bits in plan.bits:
        perplexity[str(bits)] = {
            name: _perplexity(chat, rows, 1, rounding=(bits, plan.group, by_channel))
            for name, by_channel in (("by_token", False), ("keys_by_channel", True))
        }
    return CacheBitsPerplexity(perplexity, plan.group, **about)


class _Rounded(LayerCache):
    """A cache that hands out what would be left of its keys and values after storing them with few bits."""

    def __init__(self, bits: int, group: int, by_channel: bool) -> None:
        super().__init__()
        self._rounding = bits, group, by_channel

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        bits, group, by_channel = self._rounding
        k = _rounded(k.mT, bits, group).mT if by_channel else _rounded(k, bits, group)
        return super().append(k, _rounded(v, bits, group))


def _rounded(x: Tensor, bits: int, group: int) -> Tensor:
    """Round each group of the last axis to 2^bits steps between its least and its largest number; a rest stays."""
    whole = x.shape[-1] // group * group
    groups = x[..., :whole].unflatten(-1, (-1, group))
    least, most = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    step = ((most - least) / (2**bits - 1)).clamp_min(1e-12)
    rounded = ((groups - least) / step).round() * step + least
    return torch.cat((rounded.flatten(-2), x[..., whole:]), dim=-1)


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
def _perplexity(
    chat: ChatModel,
    rows: Tensor,
    begin: int,
    mask: Tensor | None = None,
    rounding: tuple[int, int, bool] | None = None,
) -> float:
    model, losses = chat.model, []
    for row in rows:
        state = None
        if rounding is not None:
            state = KVCache(0)
            state.layers = [_Rounded(*rounding) for _ in model.decoder.layers]
        states = model.decoder(model.embedder(row[None, :-1]), mask=mask, cache=state)
        losses.append(F.cross_entropy(model.head(states[:, begin - 1 :])[0], row[begin:]))
    return math.exp(torch.stack(losses).mean().item())
