"""How fast a model writes: ``softlookup bench decoding``.

Three ways of writing are compared. *Fast* is FastStep, *plain* the model's own step: both keep keys and values.
*Recomputed* keeps nothing, and runs the whole text through the model for every token (its logits, though, are made for
the last position alone). All are clocked in turn, in one run, on the same work, and have to write the same tokens.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.decoding_peer import gpt2_pair, llama_pair
from benchmarks.harness import benchmark
from benchmarks.measures import wait
from benchmarks.race import clocked, race
from softlookup.model.decoding.beam import beam_search
from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.decoding.generate import generate
from softlookup.model.parts.cache import KVCache
from softlookup.model.parts.config import Config
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.transformer import Transformer

_FIRST_WORD = 4  # the ids below are special


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    vocab_size: int = 6000
    d_model: int = 256
    d_hidden: int = 1024
    n_heads: int = 4
    n_layers: int = 4
    new_tokens: int = 128
    prompt: int = 128  # the long prompt; the others are one token
    batches: tuple[int, ...] = (1, 8)
    rounds: int = 7
    slow_rounds: int = 3  # where recomputing takes part
    lengths: tuple[int, ...] = (64, 128, 256, 512, 1024, 1536, 2048)
    step_batch: int = 4  # so many texts that what grows with their length stands out
    step_rounds: int = 9
    sentence: int = 15
    beams: int = 4

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes that all models here share."""
        names = ("vocab_size", "d_model", "n_heads", "n_layers", "d_hidden")
        return {name: getattr(self, name) for name in names}


_QUICK = _Plan(
    vocab_size=50,
    d_model=16,
    d_hidden=24,
    n_heads=4,
    n_layers=2,
    new_tokens=6,
    prompt=3,
    batches=(1, 2),
    rounds=1,
    slow_rounds=1,
    lengths=(4, 8, 16, 32),
    step_batch=2,
    step_rounds=1,
    sentence=5,
    beams=2,
)


@dataclass(frozen=True)
class _Ratios:
    """Times of a peer over the fast step's and over the plain one's: median, extremes, and by the thread's own time."""

    ratio: float
    ratio_least: float
    ratio_most: float
    ratio_cpu_time: float
    plain_ratio: float
    plain_ratio_least: float
    plain_ratio_most: float
    plain_ratio_cpu_time: float


@dataclass(frozen=True)
class GenerationTimes(_Ratios):
    """A prompt continued with a cache and without: milliseconds of a step, and whether all ways wrote the same."""

    fast_ms_per_step: float
    plain_ms_per_step: float
    recomputed_ms_per_step: float
    different_tokens: int
    equal: bool


@dataclass(frozen=True)
class HeadTimes:
    """A step of multi-, grouped- or multi-query attention, and the size of its cache in the end."""

    n_kv_heads: int
    batch: int
    ms_per_step: float
    cache_bytes: int


@dataclass(frozen=True)
class StepTimes:
    """One step at several lengths in milliseconds, and a line and a parabola through them."""

    batch: int
    lengths: tuple[int, ...]
    cached_ms: list[float]
    recomputed_ms: list[float]
    cached_by_the_clock_ms: list[float]
    recomputed_by_the_clock_ms: list[float]
    ratios: list[float]
    cached_ms_at_0: float
    cached_ms_per_1000_tokens: float
    cached_r2_of_a_line: float
    recomputed_ms_per_million_pairs: float
    recomputed_r2_of_a_parabola: float
    equal: bool


@dataclass(frozen=True)
class TranslationTimes(_Ratios):
    """Sentences translated with a cache and without: milliseconds of each."""

    fast_ms_per_sentence: float
    plain_ms_per_sentence: float
    recomputed_ms_per_sentence: float
    equal: bool


@dataclass(frozen=True)
class PeerTimes(_Ratios):
    """A prompt continued by us and by `transformers`: milliseconds of a step."""

    fast_ms_per_step: float
    theirs_ms_per_step: float
    plain_ms_per_step: float
    different_tokens: int
    equal: bool


@dataclass(frozen=True)
class DecodingResult:
    """All comparisons, each with a row for each batch or kind of attention."""

    ratio: float
    ratio_of: str
    peer_ratio: float | None
    peer_ratio_of: str
    equal: bool
    parameters: int
    generation: dict[str, GenerationTimes]
    heads: dict[str, HeadTimes]
    steps: StepTimes
    translation: dict[str, TranslationTimes]
    peers: dict[str, PeerTimes]
    peer: str


@benchmark("decoding", _Plan(), quick=_QUICK)
def bench_decoding(plan: _Plan, *, device: str = "cpu") -> DecodingResult:
    """Write with a cache, without one, and with `transformers`, and compare.

    ``ratio`` is (recomputing / fast) for the largest batch; ``peer_ratio`` is (generate of `transformers` / fast) for a
    GPT-2 of the same weights and the smallest batch, None where `transformers` is not installed; ``equal`` says whether
    all ways wrote the same tokens. Then the rows of each comparison; the time of one step at several lengths, as
    figures.step_cost takes it; the machine, how busy it was, and the peer's version. Ratios are medians over the
    rounds, by the clock; those that end in cpu_time leave out what the thread waited for others.
    """
    torch.manual_seed(0)
    with torch.no_grad():
        generation = {f"batch {batch}": _generation(plan, batch, 1, device) for batch in plan.batches}
        generation |= {f"prompt of {plan.prompt}, batch 1": _generation(plan, 1, plan.prompt, device)}
        heads = _heads(plan, max(plan.batches), device)
        steps = _steps(plan, device)
        translation = _translation(plan, device)
        peers = _peers(plan, device) if find_spec("transformers") else {}
    first_peer = next(iter(peers.values()), None)
    rows: list[GenerationTimes | StepTimes | TranslationTimes | PeerTimes]
    rows = [*generation.values(), steps, *translation.values(), *peers.values()]
    return DecodingResult(
        ratio=generation[f"batch {max(plan.batches)}"].ratio,
        ratio_of=f"recomputing / cached (fast), {plan.new_tokens} new tokens, batch {max(plan.batches)}",
        peer_ratio=first_peer.ratio if first_peer else None,
        peer_ratio_of=f"transformers' GPT-2 / ours (fast), the same weights, batch {min(plan.batches)}",
        equal=all(row.equal for row in rows),
        parameters=sum(p.numel() for p in DecoderLM(_config(plan)).parameters()),
        generation=generation,
        heads=heads,
        steps=steps,
        translation=translation,
        peers=peers,
        peer=_peer_version() if peers else "transformers is not installed: nothing was compared with it",
    )


def _config(plan: _Plan, **changes: Any) -> Config:
    """A model as they are built today: pre-LN, rotary positions, no biases in attention.

    Its output is not tied: with drawn weights, a tied one would write its prompt's last token over and over.
    """
    longest = max(plan.lengths) + plan.new_tokens
    config = Config(**plan.sizes, max_length=longest, positions="rotary", pre_norm=True, tied=False)
    return config.but(**changes)


def _words(plan: _Plan, device: str, *shape: int) -> Tensor:
    return torch.randint(_FIRST_WORD, plan.vocab_size, shape).to(device)


def _recomputing(model: DecoderLM) -> Callable[[Tensor, None], tuple[Tensor, None]]:
    def step(ids: Tensor, state: None) -> tuple[Tensor, None]:
        x_BTD = model.decoder(model.embedder(ids))
        return model.head(x_BTD[:, -1:])[:, 0], None

    return step


def _write(step: Any, prompts: Tensor, new_tokens: int) -> Tensor:
    return generate(step, prompts, max_new_tokens=new_tokens, pad_id=1).ids


def _generation(plan: _Plan, batch: int, prompt: int, device: str) -> GenerationTimes:
    """Continue a prompt, with a cache and without."""
    model = DecoderLM(_config(plan)).to(device).eval()
    prompts = _words(plan, device, batch, prompt)
    steps = {"fast": FastStep(model), "plain": model, "recomputed": _recomputing(model)}
    raced = race({n: partial(_write, step, prompts, plan.new_tokens) for n, step in steps.items()}, plan.slow_rounds)
    return GenerationTimes(
        **raced.ratio("recomputed", "fast"),
        **raced.ratio("recomputed", "plain", "plain_ratio"),
        **raced.ms(plan.new_tokens, "_ms_per_step"),
        different_tokens=len(raced.results["fast"][:, prompt:].unique()),
        equal=raced.equal,
    )


def _heads(plan: _Plan, batch: int, device: str) -> dict[str, HeadTimes]:
    """Multi-, grouped- and multi-query attention: the time of a step, and what the cache comes to."""
    prompts = _words(plan, device, batch, 1)
    kinds = {"multi-head": plan.n_heads, "grouped": plan.n_heads // 2, "multi-query": 1}
    states: dict[str, KVCache] = {}

    def write(name: str, step: FastStep) -> Tensor:
        states[name] = step.start()
        return generate(step, prompts, max_new_tokens=plan.new_tokens, state=states[name]).ids

    ways = {}
    for name, n_kv_heads in kinds.items():
        model = DecoderLM(_config(plan, n_kv_heads=n_kv_heads)).to(device).eval()
        ways[name] = partial(write, name, FastStep(model))
    times_ms = race(ways, plan.rounds).ms(plan.new_tokens, "")
    return {name: HeadTimes(n, batch, times_ms[name], states[name].bytes) for name, n in kinds.items()}


def _steps(plan: _Plan, device: str) -> StepTimes:
    """One step at several lengths, and how its time grows."""
    model = DecoderLM(_config(plan)).to(device).eval()
    fast, recomputing = FastStep(model), _recomputing(model)
    texts = {length: _words(plan, device, plan.step_batch, length) for length in plan.lengths}
    states = {length: model.step(ids[:, :-2])[1] for length, ids in texts.items()}
    all_rows = torch.arange(plan.step_batch, device=device)
    cached: dict[int, list[list[float]]] = {length: [] for length in texts}  # by the clock, and of the thread alone
    recomputed: dict[int, list[list[float]]] = {length: [] for length in texts}
    equal = True
    for _ in range(plan.step_rounds):
        for length, ids in texts.items():
            state = states[length].select(all_rows)
            wait(fast.step(ids[:, -2:-1], state)[0])  # not clocked: a cache just filled has no room, and is copied once
            cached_logits, *taken = clocked(lambda: fast.step(ids[:, -1:], state)[0])  # noqa: B023 - called at once
            cached[length].append(taken)
            recomputed_logits, *taken = clocked(lambda: recomputing(ids, None)[0])  # noqa: B023
            recomputed[length].append(taken)
            equal &= torch.equal(cached_logits.argmax(-1), recomputed_logits.argmax(-1))

    def medians_ms(times: dict[int, list[list[float]]], which: int) -> list[float]:
        return [1e3 * statistics.median(each[which] for each in rounds) for rounds in times.values()]

    # On a CPU, without the time that the thread waits for others: a step is so short that most would be interrupted.
    which = 0 if torch.device(device).type == "cuda" else 1
    cached_ms, recomputed_ms = medians_ms(cached, which), medians_ms(recomputed, which)
    slope, intercept, r2 = _fit(plan.lengths, cached_ms, 1)
    square, *_, r2_curved = _fit(plan.lengths, recomputed_ms, 2)
    return StepTimes(
        batch=plan.step_batch,
        lengths=plan.lengths,
        cached_ms=cached_ms,
        recomputed_ms=recomputed_ms,
        cached_by_the_clock_ms=medians_ms(cached, 0),
        recomputed_by_the_clock_ms=medians_ms(recomputed, 0),
        ratios=[a / b for a, b in zip(recomputed_ms, cached_ms, strict=True)],
        cached_ms_at_0=intercept,
        cached_ms_per_1000_tokens=1e3 * slope,
        cached_r2_of_a_line=r2,
        recomputed_ms_per_million_pairs=1e6 * square,
        recomputed_r2_of_a_parabola=r2_curved,
        equal=equal,
    )


def _fit(lengths: Sequence[int], times: Sequence[float], degree: int) -> tuple[float, ...]:
    """Fit a polynomial by least squares: its coefficients, highest power first, and R^2."""
    coefficients = np.polyfit(lengths, times, degree)
    left = np.asarray(times) - np.polyval(coefficients, lengths)
    return (*map(float, coefficients), 1 - float(left @ left) / (float(np.var(times)) * len(times)))


@dataclass
class _Forgetful:
    """What is known without a cache: the encoder's output and the words so far."""

    memory: Tensor
    memory_mask: Tensor
    ids: Tensor | None = None

    def select(self, rows: Tensor) -> "_Forgetful":
        ids = None if self.ids is None else self.ids[rows]
        return _Forgetful(self.memory[rows], self.memory_mask[rows], ids)


def _translation(plan: _Plan, device: str) -> dict[str, TranslationTimes]:
    """An encoder-decoder: greedy and beam search, with a cache and without. The encoder runs once in all of them."""
    config = _config(plan, positions="sinusoidal")
    model = Transformer(config).to(device).eval()

    def again(ids: Tensor, state: _Forgetful) -> tuple[Tensor, _Forgetful]:
        state.ids = ids if state.ids is None else torch.cat((state.ids, ids), dim=1)
        x_BTD = model.decoder(model.embedder(state.ids), state.memory, memory_mask=state.memory_mask)
        return model.head(x_BTD[:, -1:])[:, 0], state

    def translate(step: Any, sources: Tensor, beams: int) -> Tensor:
        start_ids = torch.full((len(sources), 1), config.start_id, device=device)
        state = _Forgetful(*model.encode(sources)) if step is again else model.start(sources)
        n, end_id = plan.sentence, config.end_id
        if beams == 1:
            return generate(step, start_ids, max_new_tokens=n, end_id=end_id, state=state).ids
        return beam_search(step, start_ids, beams=beams, max_new_tokens=n, end_id=end_id, state=state).ids

    steps = {"fast": FastStep(model), "plain": model, "recomputed": again}
    rows = {}
    for batch in plan.batches:
        sources = _words(plan, device, batch, plan.sentence)
        for beams in (1, plan.beams):
            raced = race({n: partial(translate, step, sources, beams) for n, step in steps.items()}, plan.rounds)
            rows[f"{'greedy' if beams == 1 else f'beam of {beams}'}, batch {batch}"] = TranslationTimes(
                **raced.ratio("recomputed", "fast"),
                **raced.ratio("recomputed", "plain", "plain_ratio"),
                **raced.ms(batch, "_ms_per_sentence"),
                equal=raced.equal,
            )
    return rows


def _peers(plan: _Plan, device: str) -> dict[str, PeerTimes]:
    """Greedy generate of `transformers`, with its cache, on the same weights."""
    rows = {}
    for name, make in (("GPT-2", gpt2_pair), ("Llama", llama_pair)):
        peer_model, library_model = (model.to(device) for model in make(**plan.sizes, max_length=2 * plan.new_tokens))
        peer_model.generation_config.eos_token_id = None  # all rows run to the limit
        for batch in plan.batches:
            prompts = _words(plan, device, batch, 4)
            all_tokens = torch.ones_like(prompts)
            settings = {"max_new_tokens": plan.new_tokens, "do_sample": False, "use_cache": True}
            ways = {
                "fast": partial(_write, FastStep(library_model), prompts, plan.new_tokens),
                "theirs": partial(peer_model.generate, prompts, attention_mask=all_tokens, **settings),
                "plain": partial(_write, library_model, prompts, plan.new_tokens),
            }
            raced = race(ways, plan.rounds)
            rows[f"{name}, batch {batch}"] = PeerTimes(
                **raced.ratio("theirs", "fast"),
                **raced.ratio("theirs", "plain", "plain_ratio"),
                **raced.ms(plan.new_tokens, "_ms_per_step"),
                different_tokens=len(raced.results["fast"][:, prompts.shape[1] :].unique()),
                equal=raced.equal,
            )
    return rows


def _peer_version() -> str:
    import transformers

    return f"transformers {transformers.__version__}"
