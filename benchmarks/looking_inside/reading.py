"""SmolLM2 and the shipped writer: induction heads, attention sinks, the logit lens, attribution, probes."""

from functools import cache
from importlib import metadata
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.looking_inside.results import (
    AttributionParts,
    InductionScores,
    LensReading,
    Matrix,
    ProbeByLayer,
    ProbedTasks,
    PromptByLayer,
    SilencedLosses,
    SinkShares,
)
from benchmarks.looking_inside.sizes import InsideSizes
from softlookup.looking_inside import (
    direct_attribution,
    induction_scores,
    logit_lens,
    previous_token_scores,
    repeated_blocks,
    selectivity,
    silence,
    sink_shares,
)
from softlookup.model.parts.trace import Trace
from softlookup.model.published.chat import ChatModel
from softlookup.model.published.smollm2 import PACKAGE, VERSION, load_smollm2
from softlookup.model.published.writer import Writer, load_writer
from softlookup.model.whole.language import DecoderLM
from softlookup.text.lines import LINE_END

TEXT = (
    "A small boat lay at the end of the old stone pier. The woman who owned it had painted the hull blue, and every "
    "morning she rowed out to the island with letters, bread and newspapers. When the wind came from the north she "
    "waited, because the waves in the narrow channel were higher than the sides of the boat. The people on the island "
    "knew this, and on such days they did not look out of the window for her. In winter the channel froze, and she "
    "walked across the ice with a sledge. Nobody else in the village dared to do that."
)
"""Sentences of our own, for sinks and the logit lens."""

CAPITAL = ("The capital of France is", " Paris", "The capital of Italy is", " Rome")
"""A pair of prompts that differ in one token, and what follows each."""


def installed() -> bool:
    """Whether the package with SmolLM2's weights is there."""
    try:
        return metadata.version(PACKAGE) == VERSION
    except metadata.PackageNotFoundError:
        return False


@cache
def smollm2() -> ChatModel:
    """Load SmolLM2 once."""
    return load_smollm2()


@cache
def writer() -> Writer:
    """Load the shipped writer once."""
    return load_writer()


def model_of(name: str) -> DecoderLM:
    """Give the model of a name, ``smollm2`` or ``writer``."""
    return smollm2().model if name == "smollm2" else writer().model


def induction(plan: InsideSizes, name: str) -> InductionScores:
    """Score heads on repeated random tokens, then see what silencing the strongest does to the second copy.

    Scores by layer and head; the loss in nats of a token of the first copy and of the second, and of the second without
    the heads that score highest, and without as many others, drawn at random from all layers and from the same ones,
    for zeros and for means.
    """
    model = model_of(name)
    first = model.config.vocab_size // 100  # special tokens come first
    vocabulary = range(first, model.config.vocab_size)
    ids = repeated_blocks(vocabulary, plan.block, rows=plan.rows, seed=0)
    reference = Trace()
    with torch.no_grad():
        model(repeated_blocks(vocabulary, plan.block, rows=plan.rows, seed=1), trace=reference)
    scores_LN = induction_scores(model, ids)
    n_heads = model.config.n_heads
    order = [divmod(int(i), n_heads) for i in scores_LN.flatten().argsort(descending=True)]
    strongest, others = order[: plan.silenced], order[plan.silenced :]
    sets = {"random": [_drawn(others, plan.silenced, seed) for seed in range(plan.draws)]}
    sets["same_layers"] = [
        [
            head
            for layer in sorted({layer for layer, _ in strongest})
            for head in _drawn([other for other in others if other[0] == layer], _count(strongest, layer), seed)
        ]
        for seed in range(plan.draws)
    ]
    ways: tuple[tuple[Literal["zero", "mean"], Trace | None], ...] = (("zero", None), ("mean", reference))
    without: dict[str, SilencedLosses] = {
        how: SilencedLosses(
            _copy_losses(model, ids, Trace(silence(strongest, how, reference=mean_trace)))[1],
            **{
                kind: [_copy_losses(model, ids, Trace(silence(heads, how, reference=mean_trace)))[1] for heads in drawn]
                for kind, drawn in sets.items()
            },
        )
        for how, mean_trace in ways
    }
    whole = _copy_losses(model, ids)
    return InductionScores(
        loss_first_copy=whole[0],
        loss_second_copy=whole[1],
        loss_without=without,
        strongest=[(layer, head, round(float(scores_LN[layer, head]), 3)) for layer, head in strongest],
        scores=_rounded(scores_LN),
        previous_token=_rounded(previous_token_scores(model, ids)),
        block=plan.block,
        rows=plan.rows,
    )


def sinks(plan: InsideSizes, name: str) -> SinkShares:
    """Say which share of its weight each head leaves on the first token of a text.

    By layer, mean over heads; by layer and head; and what an even spread would leave there.
    """
    ids = _text(name)
    shares_LN = sink_shares(model_of(name), ids)
    n, half = ids.shape[1], ids.shape[1] // 2
    even = sum(1 / (t + 1) for t in range(half, n)) / (n - half)
    by_layer = [round(share, 4) for share in shares_LN.mean(dim=1).tolist()]
    return SinkShares(by_layer, _rounded(shares_LN), round(even, 5), n)


@torch.no_grad()
def lens(plan: InsideSizes, name: str) -> LensReading:
    """Say after how many layers the model's final word is first, and stays so.

    ``settled``, how many positions have their final word from that layer on; ``agrees``, after each number of layers,
    the share of positions whose first word is the final one; and what each state of one prompt says.
    """
    model, ids, trace = model_of(name), _text(name), Trace()
    model(ids, trace=trace)
    best = []
    for begin in range(0, ids.shape[1], 16):  # in pieces: logits of all layers take much room
        piece = Trace(states=[x_BTD[:, begin : begin + 16] for x_BTD in trace.states])
        best.append(torch.stack([logits_BTV.argmax(dim=-1)[0] for logits_BTV in logit_lens(model, piece)]))
    first_LT = torch.cat(best, dim=1)
    same_LT = first_LT == first_LT[-1]
    stays_LT = same_LT.flip(0).cumprod(dim=0).flip(0)  # 1 from the layer on after which nothing changes
    settled_T = len(same_LT) - stays_LT.sum(dim=0)
    return LensReading(
        settled=torch.bincount(settled_T, minlength=len(same_LT)).tolist(),
        settled_median=float(settled_T.double().median()),
        agrees=[round(share, 4) for share in same_LT.double().mean(dim=1).tolist()],
        tokens=ids.shape[1],
        prompt=_prompt_by_layer(name),
    )


def _prompt_by_layer(name: str) -> PromptByLayer:
    model, trace = model_of(name), Trace()
    text = CAPITAL[0] if name == "smollm2" else "My lord, I will not"
    ids = smollm2().encode(text) if name == "smollm2" else writer().encode(text)
    model(torch.tensor([ids]), trace=trace)
    last = Trace(states=[x_BTD[:, -1:] for x_BTD in trace.states])
    shares = [torch.softmax(logits_BTV[0, 0], dim=-1) for logits_BTV in logit_lens(model, last)]
    word = int(shares[-1].argmax())
    spell = smollm2().decode if name == "smollm2" else writer().decode
    return PromptByLayer(
        text=text,
        words=[spell([int(p_V.argmax())]) for p_V in shares],
        final=spell([word]),
        share_of_final=[round(float(p_V[word]), 5) for p_V in shares],
        rank_of_final=[int((p_V > p_V[word]).sum()) + 1 for p_V in shares],
    )


def attribution(plan: InsideSizes) -> AttributionParts:
    """Split SmolLM2's preference for one capital over the other into what each part adds directly.

    The logit difference, the parts' sum, what each head, network and the embedding add, and the ten that add most.
    """
    chat = smollm2()
    text, word, _, other = CAPITAL
    token, against = _one_token(chat, word), _one_token(chat, other)
    contribution = direct_attribution(chat.model, torch.tensor([chat.encode(text)]), token, against)
    parts = {"embedding": float(contribution.embedding[0])}
    parts |= {f"feed-forward {i}": float(value) for i, value in enumerate(contribution.feed_forward[0])}
    for layer, row in enumerate(contribution.heads[0].tolist()):
        parts |= {f"head {layer}.{head}": value for head, value in enumerate(row)}
    most = sorted(parts, key=lambda part: -abs(parts[part]))[:10]
    return AttributionParts(
        text=text,
        difference_of=(word, other),
        logit=float(contribution.logit[0]),
        total=float(contribution.total[0]),
        most=[(part, round(parts[part], 3)) for part in most],
        heads=_rounded(contribution.heads[0]),
        feed_forward=[round(value, 4) for value in contribution.feed_forward[0].tolist()],
        embedding=round(parts["embedding"], 4),
    )


@torch.no_grad()
def probes(plan: InsideSizes) -> ProbedTasks:
    """Probe the writer's states by layer, in verse that it wrote by itself, with control tasks.

    For each task (is the token before a line end? is the next one?), by layer: accuracy, control accuracy, selectivity
    and the share of the larger class, means over seeds. As many places of either class are taken.
    """
    shipped = writer()
    rows = [
        shipped.encode(shipped.write("The", max_new_tokens=plan.written, temperature=1.0, seed=seed))[: plan.written]
        for seed in range(plan.texts)
    ]
    sign = shipped.encode("a\nb")
    end = next(i for i in sign if shipped.tokenizer.vocabulary.token(i).endswith(LINE_END))
    states, types, before, after = [], [], [], []
    for ids in rows:
        trace, row = Trace(), torch.tensor(ids)
        shipped.model(row[None], trace=trace)
        states.append(torch.cat(trace.states)[:, 1:-1])
        types.append(row[1:-1])
        before.append(row[:-2] == end)
        after.append(row[2:] == end)
    x_LMD, type_M = torch.cat(states, dim=1), torch.cat(types)
    tasks = {}
    for task, labels in (("line_end_before", torch.cat(before)), ("line_end_next", torch.cat(after))):
        by_layer = tasks[task] = ProbeByLayer([], [], [], [], places=2 * int(labels.sum()))
        for x_MD in x_LMD:
            results = [_probe(x_MD, labels.long(), type_M, seed) for seed in plan.probe_seeds]
            for key in ("accuracy", "control", "selectivity", "majority"):
                mean = sum(getattr(result, key) for result in results) / len(results)
                getattr(by_layer, key).append(round(mean, 4))
    return ProbedTasks(len(type_M), len(type_M.unique()), len(rows), **tasks)


def _probe(x_MD: Tensor, labels: Tensor, types: Tensor, seed: int) -> Any:
    """Probe as many places of one class as of the other."""
    generator = torch.Generator().manual_seed(seed)
    ones, zeros = labels.nonzero()[:, 0], (1 - labels).nonzero()[:, 0]
    chosen = torch.cat((ones, zeros[torch.randperm(len(zeros), generator=generator)[: len(ones)]]))
    return selectivity(x_MD[chosen], labels[chosen], types[chosen], seed=seed)


def _drawn(heads: list[tuple[int, int]], n: int, seed: int) -> list[tuple[int, int]]:
    order = torch.randperm(len(heads), generator=torch.Generator().manual_seed(seed))
    return [heads[int(i)] for i in order[:n]]


def _count(heads: list[tuple[int, int]], layer: int) -> int:
    return sum(head_layer == layer for head_layer, _ in heads)


@torch.no_grad()
def _copy_losses(model: DecoderLM, ids: Tensor, trace: Trace | None = None) -> tuple[float, float]:
    """The mean loss of the tokens of the first copy, and of the second: each but its first, in nats."""
    losses_BT = F.cross_entropy(model(ids[:, :-1], trace=trace).transpose(1, 2), ids[:, 1:], reduction="none")
    length = ids.shape[1] // 2
    return losses_BT[:, : length - 1].mean().item(), losses_BT[:, length:].mean().item()


def _text(name: str) -> Tensor:
    return torch.tensor([smollm2().encode(TEXT) if name == "smollm2" else writer().encode(TEXT)])


def _one_token(chat: ChatModel, word: str) -> int:
    ids = chat.encode(word)
    if len(ids) != 1:
        raise ValueError(f"{word!r} is {len(ids)} tokens; wanted one")
    return ids[0]


def _rounded(x: Tensor) -> Matrix:
    return [[round(value, 4) for value in row] for row in x.tolist()]
