"""Tasks on a whole model: the loss of a batch, some steps of training, and what it writes."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.ch08_decoder_and_masks import layer
from softlookup_judge.chapters.ch08_decoder_and_masks.whole import shapes, transformer
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch
from softlookup_judge.data.compare import same
from softlookup_judge.data.published import described
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results, mistaken

SMOOTHING = 0.1


def _loss_cases(rng: Rng) -> list[Case]:
    def ask(
        b: int, t: int, v: int, pad: int, real: tuple[int, ...], eps: float, dtype: str = "float32"
    ) -> tuple[Any, ...]:
        labels = rng.integers(0, v, (b, t))
        labels[labels == pad] = (pad + 1) % v
        labels[np.arange(t) >= np.array(real)[:, None]] = pad
        return normal(rng, b, t, v, dtype=dtype, scale=2.0), labels, pad, eps

    return [
        Case("B = 3, T = 5, V = 7, sentences of 5, 2 and 3 words", ask(3, 5, 7, 0, (5, 2, 3), 0.1)),
        Case("B = 2, T = 4, V = 6, the pad is 5", ask(2, 4, 6, 5, (1, 4), 0.3)),
        Case("B = T = V = 4, nothing to fill up", ask(4, 4, 4, 0, (4, 4, 4, 4), 0.2)),
        Case("no smoothing", ask(2, 3, 9, 0, (3, 1), 0.0)),
        Case(
            "the gradient",
            ask(2, 3, 5, 0, (3, 2), 0.1, "float64"),
            gradients=(0,),
            upstream=np.asarray(1.3),
            part="gradient",
            tolerance=1e-6,  # a distribution made of whole numbers times eps is in float32 by itself
        ),
    ]


def smoothed_loss(logits: Any, labels: Any, pad_id: int, eps: float) -> Any:
    """Torch's own."""
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=eps
    )


LOSS = described("90.loss", _loss_cases, smoothed_loss, parts={"core": 0.8, "gradient": 0.2})


BETAS, EPS = (0.9, 0.98), 1e-9
MANY = 8


def _sentences(rng: Rng, b: int, t: int, v: int, least: int, special: tuple[int, int, int]) -> np.ndarray:
    """Rows of words, filled up; the special ones are the pad, the start and the end."""
    ids = rng.choice(np.setdiff1d(np.arange(v), special), (b, t))
    ids[np.arange(t) >= rng.integers(least, t + 1, b)[:, None]] = special[0]
    return ids


def _weights(rng: Rng, sizes: tuple[int, ...], scale: float = 1.0) -> list[np.ndarray]:
    vocab, d, _, hidden, n_layers, _ = sizes
    weight_shapes = shapes(vocab, d, n_layers, hidden)
    weights = dict(zip(weight_shapes, layer.random_weights(rng, weight_shapes, "float64"), strict=True))
    weights["embedding"] = doubles(rng, vocab, d, scale=scale * d**-0.5)
    return [weights[name] for name in sorted(weights)]


def _logits(sizes: tuple[int, ...], weights: list[Any], source: Any, target: Any) -> Any:
    """Torch's own encoder and decoder, as in chapter 8."""
    vocab, d, _, hidden, n_layers, _ = sizes
    names = list(shapes(vocab, d, n_layers, hidden))
    named_weights = dict(zip(sorted(names), weights, strict=True))
    return transformer.task.oracle(*sizes, *(named_weights[name] for name in names), source, target)


def _train_cases(rng: Rng) -> list[Case]:
    def case(label: str, sizes: tuple[int, ...], steps: int, b: int, s: int, t: int, rates: list[float]) -> Case:
        special = sizes[-1], 1, 2
        source = np.stack([_sentences(rng, b, s, sizes[0], 2, special) for _ in range(steps)])
        rows = np.stack([_sentences(rng, b, t, sizes[0], 2, special) for _ in range(steps)])
        rows[:, :, 0] = 1
        return Case(
            label, (*sizes, source, rows, np.array(rates), *_weights(rng, sizes)), tolerance=1e-8, descends=True
        )

    # The short one first: most mistakes differ in it after one step.
    return [
        case("one step", (7, 4, 1, 3, 1, 0), 1, 2, 3, 3, [0.05]),
        case("three steps, V = 9, D = 4, one layer", (9, 4, 2, 5, 1, 0), 3, 2, 4, 5, [0.01, 0.03, 0.02]),
        case("two steps, V = 8, D = 6, two layers, the pad is 5", (8, 6, 3, 4, 2, 5), 2, 3, 3, 4, [0.02, 0.01]),
    ]


@graded("90.train", _train_cases)
def _train(
    vocab_size: int,
    d_model: int,
    n_heads: int,
    d_hidden: int,
    n_layers: int,
    pad_id: int,
    source: Any,
    target: Any,
    rates: Any,
    *weights: Any,
) -> tuple[Any, Any]:
    """Adam written out."""
    sizes = vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id
    moved = [weight.detach().clone() for weight in weights]
    first, second = ([torch.zeros_like(weight) for weight in moved] for _ in range(2))
    losses = []
    for step, rate in enumerate(rates):
        leaves = [weight.clone().requires_grad_(True) for weight in moved]
        rows = target[step]
        loss = smoothed_loss(_logits(sizes, leaves, source[step], rows[:, :-1]), rows[:, 1:], sizes[-1], SMOOTHING)
        losses.append(loss.detach())
        for i, grad in enumerate(torch.autograd.grad(loss, leaves)):
            first[i] = torch.lerp(grad, first[i], BETAS[0])
            second[i] = torch.lerp(grad**2, second[i], BETAS[1])
            up, root = first[i] / (1 - BETAS[0] ** (step + 1)), (second[i] / (1 - BETAS[1] ** (step + 1))).sqrt()
            moved[i] = moved[i] - rate * up / (root + EPS)
    return torch.stack(losses), torch.cat([weight.flatten() for weight in moved])


def _greedy_cases(rng: Rng) -> list[Case]:
    def case(label: str, sizes: tuple[int, ...], b: int, s: int, longest: int, start: int = 1, end: int = 2) -> Case:
        # Models with random weights often write one word alone; such a one would show no mistake. Where the last gain
        # is below 0, a word is rather not followed by itself.
        gain = sorted(shapes(sizes[0], sizes[1], sizes[4], sizes[3])).index("decoder_norm.weight")
        for _ in range(300):
            weights = _weights(rng, sizes, 1.5)
            weights[gain] = -weights[gain]
            source = _sentences(rng, b, s, sizes[0], 2, (sizes[-1], start, end))
            args = (*sizes, start, end, longest, source, *weights)
            drawn_case = Case(label, args)
            expected = expected_results(variant_of(GREEDY.task), drawn_case)
            # Where there are many sentences, some end with their first word, and some do not.
            if b == MANY and not 0 < (expected[0][:, 0] == end).mean() < 1:
                continue
            if b == 1 and (end not in expected[0] or expected[0][0, -1] != sizes[-1]):
                continue
            mistake_names = ("never-stops", "first-position", "last-word-alone")
            wrong = (mistaken(variant_of(GREEDY.task), (mistake_name,), drawn_case) for mistake_name in mistake_names)
            if not any(answer is None or same(answer, expected, drawn_case) for answer in wrong):
                break
        return drawn_case

    short = (7, 4, 2, 3, 1, 0)
    return [
        case("four sentences, V = 6, D = 4", (6, 4, 2, 5, 1, 0), 4, 4, 6),
        case("the pad is 4, the start 0, the end 3", (5, 6, 3, 4, 2, 4), 6, 3, 5, 0, 3),
        case("many short ones, V = 4", (4, 4, 1, 6, 1, 0), MANY, 4, 4),
        Case("one word", (*short, 1, 2, 1, _sentences(rng, 3, 3, 7, 2, (0, 1, 2)), *_weights(rng, short))),
        case("one sentence, which ends early", (6, 4, 2, 5, 1, 0), 1, 4, 6),
    ]


def _greedy(
    vocab_size: int,
    d_model: int,
    n_heads: int,
    d_hidden: int,
    n_layers: int,
    pad_id: int,
    start_id: int,
    end_id: int,
    longest: int,
    source: Any,
    *weights: Any,
) -> Any:
    """All sentences to their full length, and what stands behind an end is wiped out at last."""
    sizes = vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id
    ids = torch.full((len(source), 1), start_id)
    with torch.no_grad():
        for _ in range(longest):
            ids = torch.hstack([ids, _logits(sizes, list(weights), source, ids)[:, -1:].argmax(-1)])
    ids = ids[:, 1:]
    is_end = (ids == end_id).long()
    return ids.masked_fill(is_end.cumsum(1) > is_end, sizes[-1])


GREEDY = described("90.greedy", _greedy_cases, _greedy)
