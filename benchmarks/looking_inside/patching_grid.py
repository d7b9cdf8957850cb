"""Every vector and head of SmolLM2 patched between twelve prompts: ``softlookup bench patching``.

For each ordered pair of prompts, the residual vector at each layer and position of the one that is read (corrupted) is
replaced by that of the other (clean), and so is the output of each head, at all positions, as in `inside`. Beside it,
the logit lens for each prompt, and the direct attribution of each difference of logits. The arrays are packed as small
whole numbers, for a page to unpack.

Letters of its own: P prompts, R rows that run at once.
"""

import base64
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.harness import benchmark, threads
from benchmarks.kept_runs import KeptRuns
from benchmarks.looking_inside.reading import installed, smollm2, writer
from softlookup.looking_inside import direct_attribution, logit_lens
from softlookup.model.parts.cache import LayerCache
from softlookup.model.parts.masks import CausalMask
from softlookup.model.parts.trace import Trace
from softlookup.model.published.chat import ChatModel
from softlookup.model.published.writer import Writer

FRAMES = ("The capital of {} is", "The people of {} speak", "The language of {} is", "The currency of {} is")
"""Sentences of five tokens that were tried."""
COUNTRIES: dict[str, tuple[str, str]] = {
    "France": (" Paris", " French"),
    "Italy": (" Rome", " Italian"),
    "Spain": (" Madrid", " Spanish"),
    "Japan": (" Tokyo", " Japanese"),
    "China": (" Beijing", " Mandarin"),
    "Russia": (" Moscow", " Russian"),
    "Germany": (" Berlin", " German"),
    "Greece": (" Athens", " Greek"),
    "Sweden": (" Stockholm", " Swedish"),
    "England": (" London", " English"),
}
"""Countries that were tried, each with its capital and its language; the first six make the prompts."""
CURRENCIES = {
    "Japan": (" yen", " Yen"),
    "China": (" yuan", " Yuan"),
    "Russia": (" rub", " Rub"),
    "England": (" pound", " Pound"),
    "Sweden": (" kr", " Kr"),
}
"""How names of currencies begin; all others have the euro."""
QUICK_PROMPTS = (("My lord, I will not", ""), ("My lord, he is not", ""))
KEPT, TOP = 6, 3
"""How many countries make the prompts, and how many of the most likely tokens are recorded."""


@dataclass(frozen=True)
class PatchingSizes:
    """The sizes of the bench; the defaults are those of the whole run."""

    published: bool = True


@dataclass(frozen=True)
class TriedFrame:
    """A sentence, and the countries for which the most likely next token is the right one, of those tried."""

    frame: str
    right: list[str]
    tried: int


@dataclass(frozen=True)
class PackedArray:
    """An array among the packed ones: its numbers are whole, and ``per`` of them make 1."""

    name: str
    kind: str
    shape: tuple[int, ...]
    per: int


@dataclass(frozen=True)
class PatchingResult:
    """The prompts with their answers, the packed arrays in their order, and the table of tokens that they count in.

    The axes of ``shares`` are corrupted prompt, clean prompt, layers passed and position; of ``heads`` the same two
    prompts, layer and head. ``tokens`` and ``chances`` have the axes of ``shares`` behind that of the most likely
    three; ``head_tokens`` and ``head_chances`` tell the most likely one. ``direct`` has clean prompt, corrupted
    prompt, layer, and heads and feed-forward network side by side. The lens has prompt, layers passed, and the
    position of the country and the last.
    """

    ratio: float
    ratio_of: str
    prompts: list[str]
    pieces: list[list[str]]
    answers: list[str]
    tried: list[TriedFrame]
    vocabulary: list[str]
    arrays: list[PackedArray]
    packed: str
    sizes: PatchingSizes


def pack(arrays: dict[str, tuple[np.ndarray, int]]) -> tuple[list[PackedArray], str]:
    """Pack arrays of whole numbers, each beside how many of its units make 1.

    A number takes two bytes (i2) or one (u1). Of an array of two bytes all low ones stand before all high ones, which
    compresses better; the whole is compressed (zlib) and written in base64.
    """
    entries, data = [], []
    for name, (array, per) in arrays.items():
        kind = "u1" if array.dtype == np.uint8 else "i2"
        entries.append(PackedArray(name, kind, array.shape, per))
        data.append(
            array.tobytes() if kind == "u1" else array.ravel().astype("<i2").view(np.uint8).reshape(-1, 2).T.tobytes()
        )
    return entries, base64.b64encode(zlib.compress(b"".join(data), 9)).decode()


@benchmark("patching", PatchingSizes(), quick=PatchingSizes(published=False))
def bench_patching(
    plan: PatchingSizes, *, runs_file: Path | None = None, say: Callable[[str], None] | None = None
) -> PatchingResult:
    """Patch every vector and every head between all prompts; a quick run takes two prompts of the shipped writer.

    ``ratio`` is the recovered share of the strongest head over that of the second, for the first pair of prompts. A
    ValueError where SmolLM2 is not installed.
    """
    if plan.published and not installed():
        raise ValueError("SmolLM2 is not installed; load_smollm2 in softlookup.model says how to install it")
    runs = KeptRuns(runs_file, repr(plan), say)
    chat: ChatModel | Writer = smollm2() if plan.published else writer()
    with threads(2):
        tried = [TriedFrame(**frame) for frame in runs.do("frames", _tried)] if plan.published else []
        grid = _Grid(chat, _prompts() if plan.published else QUICK_PROMPTS)
        n = range(len(grid.texts))
        states = [runs.do(f"vectors in prompt {b}", partial(grid.states, b)) for b in n]
        heads = [runs.do(f"heads in prompt {b}", partial(grid.heads, b)) for b in n]
        lens = [runs.do(f"lens of prompt {a}", partial(grid.lens, a)) for a in n]
        direct = [runs.do(f"attribution in prompt {a}", partial(grid.direct, a)) for a in n]
    runs.done()
    tokens, head_tokens, lens_tokens = (np.array([each["tokens"] for each in of]) for of in (states, heads, lens))
    used = sorted({*tokens.flat, *head_tokens.flat, *lens_tokens.flat})
    arrays = {
        "shares": (_whole([s["shares"] for s in states], 100), 100),
        "heads": (_whole([h["shares"] for h in heads], 100), 100),
        "tokens": (np.moveaxis(np.searchsorted(used, tokens), -1, 0).astype(np.int16), 1),
        "chances": (np.moveaxis(_whole([s["chances"] for s in states], 255), -1, 0).astype(np.uint8), 255),
        "head_tokens": (np.searchsorted(used, head_tokens).astype(np.int16), 1),
        "head_chances": (_whole([h["chances"] for h in heads], 255).astype(np.uint8), 255),
        "logits": (_whole(grid.logits.tolist(), 100), 100),
        "lens_tokens": (np.searchsorted(used, lens_tokens).astype(np.int16), 1),
        "lens_chances": (_whole([s["chances"] for s in lens], 255).astype(np.uint8), 255),
        "ranks": (np.array([s["ranks"] for s in lens]).astype(np.uint16).view(np.int16), 1),
        "direct": (_whole([d["parts"] for d in direct], 100), 100),
        "embedding": (_whole([d["embedding"] for d in direct], 100), 100),
    }
    entries, packed = pack(arrays)
    first = np.sort(np.array(heads[1]["shares"][0]).ravel())
    return PatchingResult(
        ratio=round(float(first[-1] / first[-2]), 3),
        ratio_of="recovered share of the strongest head / of the second, first prompt into second",
        prompts=grid.texts,
        pieces=[[chat.decode([i]) for i in row] for row in grid.ids.tolist()],
        answers=[chat.decode([i]) for i in grid.answers.tolist()],
        tried=tried,
        vocabulary=[chat.decode([int(i)]) for i in used],
        arrays=entries,
        packed=packed,
        sizes=plan,
    )


def _whole(values: list[Any], per: int) -> np.ndarray:
    return np.rint(np.array(values) * per).astype(np.int16)


def _prompts() -> list[tuple[str, str]]:
    countries = list(COUNTRIES.items())[:KEPT]
    return [(FRAMES[i].format(country), answers[i]) for i in range(2) for country, answers in countries]


@torch.inference_mode()
def _tried() -> list[TriedFrame]:
    chat = smollm2()
    tried = []
    for i, frame in enumerate(FRAMES):
        ids = torch.tensor([chat.encode(frame.format(country)) for country in COUNTRIES])
        best = chat.model.head(chat.model.states(ids)[:, -1:])[:, 0].argmax(dim=-1).tolist()
        right = [
            country
            for (country, (capital, language)), token in zip(COUNTRIES.items(), best, strict=True)
            if chat.decode([token])
            in ((capital,), (language,), (language,), CURRENCIES.get(country, (" euro", " Euro", " the Euro")))[i]
        ]
        tried.append(TriedFrame(frame, right, len(COUNTRIES)))
    return tried


class _Grid:
    """The passes of all prompts, and patched ones that are run from the patched layer on."""

    def __init__(self, chat: ChatModel | Writer, prompts: Any) -> None:
        self.chat, self.model = chat, chat.model
        self.texts = [text for text, _ in prompts]
        self.ids = torch.tensor([chat.encode(text) for text in self.texts])
        self.trace, config = Trace(), self.model.config
        with torch.inference_mode():
            self.last_PV = self.model(self.ids, trace=self.trace)[:, -1]
            self.keys = self._keys()
        likeliest = (
            [chat.encode(answer)[0] for _, answer in prompts] if prompts[0][1] else self.last_PV.argmax(-1).tolist()
        )
        self.answers = torch.tensor(likeliest)
        self.logits = self.last_PV[:, self.answers].double()
        self.n_layers, self.n_heads, self.length = config.n_layers, config.n_heads, self.ids.shape[1]
        if (self.last_PV.argmax(-1) != self.answers).any():
            raise ValueError(f"wanted answers that are most likely after {self.texts}, got {likeliest}")

    def _keys(self) -> list[LayerCache]:
        caches = [LayerCache() for _ in self.model.decoder.layers]
        for i, (layer, cache) in enumerate(zip(self.model.decoder.each(), caches, strict=True)):
            layer(self.trace.states[i], CausalMask(), rotary=self.model.decoder._rotary(i, None), cache=cache)
        return caches

    def _layer(self, i: int, x_RTD: Tensor, corrupted: int) -> Tensor:
        """Run one layer on the last positions of rows that are the corrupted prompt before them."""
        before, rows = self.length - x_RTD.shape[1], len(x_RTD)
        cache = None
        if before:
            cache, cached = LayerCache(), self.keys[i]
            past = (t[corrupted, None, :, :before].repeat(rows, 1, 1, 1) for t in (cached.k, cached.v))
            cache.append(*past)
        mask = CausalMask() if x_RTD.shape[1] > 1 else None
        layer = self.model.decoder.layers[i]
        y: Tensor = layer(x_RTD, mask, rotary=self.model.decoder._rotary(i, None), cache=cache)
        return y

    def _logits(self, x_RTD: Tensor) -> Tensor:
        assert self.model.decoder.norm is not None
        y: Tensor = self.model.head(self.model.decoder.norm(x_RTD[:, -1:]))[:, 0]
        return y

    def _shares(self, logits_RV: Tensor, corrupted: int, clean: list[int]) -> Tensor:
        """The recovered shares of rows whose clean prompts are these."""
        rows, b = torch.tensor(clean), corrupted
        gained = logits_RV[torch.arange(len(rows)), self.answers[rows]] - logits_RV[:, self.answers[b]]
        before = self.logits[b, rows] - self.logits[b, b]
        return (gained - before) / (self.logits[rows, rows] - self.logits[rows, b] - before)

    def _differing(self, corrupted: int, position: int) -> list[int]:
        """The prompts whose vectors at a position are others: those that differ up to it."""
        same_P = (self.ids[:, : position + 1] == self.ids[corrupted, : position + 1]).all(dim=1)
        return [a for a, same in enumerate(same_P.tolist()) if not same]

    @torch.inference_mode()
    def states(self, corrupted: int) -> dict[str, Any]:
        """Patch each vector: recovered shares (P, L + 1, T), and the most likely tokens with their probabilities."""
        n, deep, b = len(self.texts), self.n_layers + 1, corrupted
        chances, tokens = self.last_PV[b].softmax(-1).topk(TOP)
        shares_PLT = torch.zeros(n, deep, self.length, dtype=torch.float64)
        tokens_PLTK = tokens.repeat(n, deep, self.length, 1)
        chances_PLTK = chances.repeat(n, deep, self.length, 1)
        for t in range(self.length):
            clean = self._differing(b, t)
            if not clean:
                continue
            x_RTD = self.trace.states[0][:0, t:]
            for i in range(deep):
                new = self.trace.states[i][b, t:].repeat(len(clean), 1, 1)
                new[:, 0] = self.trace.states[i][clean, t]
                x_RTD = torch.cat((x_RTD, new))
                if i < self.n_layers:
                    x_RTD = self._layer(i, x_RTD, b)
            for i, rows in enumerate(x_RTD.split(len(clean))):
                logits_RV = self._logits(rows)
                shares_PLT[clean, i, t] = self._shares(logits_RV, b, clean)
                chances_PLTK[clean, i, t], tokens_PLTK[clean, i, t] = logits_RV.softmax(-1).topk(TOP)
        return {"shares": shares_PLT.tolist(), "tokens": tokens_PLTK.tolist(), "chances": chances_PLTK.tolist()}

    @torch.inference_mode()
    def heads(self, corrupted: int) -> dict[str, Any]:
        """Patch each head's output at all positions: recovered shares (P, L, N), and the most likely token."""
        n, b = len(self.texts), corrupted
        chance, token = self.last_PV[b].softmax(-1).max(dim=-1)
        shares_PLN = torch.zeros(n, self.n_layers, self.n_heads, dtype=torch.float64)
        tokens_PLN, chances_PLN = token.repeat(shares_PLN.shape), chance.repeat(shares_PLN.shape)
        firsts = [next((t for t in range(self.length) if a in self._differing(b, t)), None) for a in range(n)]
        for begin in {first for first in firsts if first is not None}:
            clean = [a for a, first in enumerate(firsts) if first == begin]
            x_RTD = self.trace.states[0][:0, begin:]
            for i, layer in enumerate(self.model.decoder.each()):
                added = self.trace.heads[i][clean] - self.trace.heads[i][b]  # (A, N, T, H)
                w_NHD = layer.attention.w_o.unflatten(0, (self.n_heads, -1))
                moved = torch.einsum("anth,nhd->antd", added[:, :, begin:], w_NHD).flatten(0, 1)
                summed = self.trace.states[i][b, begin:] + self.trace.attention[i][b, begin:] + moved
                new = layer.feed_forward_residual(summed, layer.feed_forward)
                x_RTD = torch.cat((self._layer(i, x_RTD, b), new)) if len(x_RTD) else new
            for i, rows in enumerate(x_RTD.split(len(clean) * self.n_heads)):
                whose, logits_RV = [a for a in clean for _ in range(self.n_heads)], self._logits(rows)
                by_head = (len(clean), self.n_heads)
                shares_PLN[clean, i] = self._shares(logits_RV, b, whose).unflatten(0, by_head)
                chances_R, tokens_R = logits_RV.softmax(-1).max(dim=-1)
                chances_PLN[clean, i], tokens_PLN[clean, i] = (r.unflatten(0, by_head) for r in (chances_R, tokens_R))
        return {"shares": shares_PLN.tolist(), "tokens": tokens_PLN.tolist(), "chances": chances_PLN.tolist()}

    @torch.inference_mode()
    def lens(self, prompt: int) -> dict[str, Any]:
        """Read each state of the last position but one and of the last: first token, its probability, the rank."""
        two = Trace(states=[x_PTD[prompt : prompt + 1, -2:] for x_PTD in self.trace.states])
        logits_L2V = torch.cat(logit_lens(self.model, two))
        chances, tokens = logits_L2V.softmax(-1).max(dim=-1)
        answer = logits_L2V[..., self.answers[prompt], None]
        ranks = (logits_L2V > answer).sum(dim=-1) + 1
        return {"tokens": tokens.tolist(), "chances": chances.tolist(), "ranks": ranks.tolist()}

    def direct(self, prompt: int) -> dict[str, Any]:
        """Split the preference for a prompt's answer over each other: (P, L, N + 1), networks last; the embedding."""
        parts, embedding, answers = [], [], self.answers.tolist()
        for other in answers:
            split = direct_attribution(self.model, self.ids[prompt : prompt + 1], answers[prompt], other)
            parts.append(torch.cat((split.heads[0], split.feed_forward[0, :, None]), dim=1).tolist())
            embedding.append(float(split.embedding[0]))
        return {"parts": parts, "embedding": embedding}
