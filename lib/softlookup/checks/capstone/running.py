"""Tasks on a whole model at work: its loss, some steps of training, and what it writes."""

from typing import Any

import numpy as np

from softlookup.checks.capstone.page import PAGE, Flags
from softlookup.checks.decoder_and_masks import layer
from softlookup.checks.decoder_and_masks.whole import TRANSFORMER, shapes
from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import gradient_cut, known
from softlookup.checks.task import Case, Task

NONE: Flags = frozenset()
SMOOTHING, BETAS, EPS = 0.1, (0.9, 0.98), 1e-9


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
        ),
    ]


def _loss(logits: Any, labels: Any, pad_id: int, eps: float) -> Any:
    import torch

    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=eps
    )


def _losses(flags: Flags, logits: Any, labels: Any, pad_id: int, eps: float) -> Any:
    """The same with mistakes, in torch, so that steps of training can be taken with it."""
    import torch

    if "softmax-first" in flags:
        logits = torch.softmax(logits, dim=-1)
    log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    own = log_p.gather(-1, labels[..., None])[..., 0]
    everywhere = log_p.mean(dim=-1)
    if "no-smoothing" in flags:
        eps = 0.0
    if "others-alone" in flags:
        everywhere = (log_p.sum(dim=-1) - own) / (log_p.shape[-1] - 1)
    losses = -(1 - eps) * own - eps * everywhere
    real = torch.ones_like(labels, dtype=torch.bool) if "padding-counted" in flags else labels != pad_id
    if "mean-of-means" in flags:
        return torch.stack([one[seen].mean() for one, seen in zip(losses, real, strict=True)]).mean()
    return losses[real].sum() if "summed" in flags else losses[real].mean()


def _loss_mistaken(flags: Flags, logits: np.ndarray, labels: np.ndarray, pad_id: int, eps: float) -> np.ndarray:
    import torch

    found = _losses(flags, torch.from_numpy(logits), torch.from_numpy(labels), pad_id, eps)
    return np.asarray(found.numpy())


REAL = "real = labels != pad_id"
LOG = "log_p = torch.log_softmax(logits, dim=-1)"
EACH = "losses = -(1 - eps) * own - eps * log_p.mean(dim=-1)"
LOSS_OUT = "return losses[real].mean()"

LOSS = Task(
    id="90.loss",
    name="translation_loss",
    title="The loss",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="beyond-text-capstone-loss",
    returns=("loss",),
    cases=_loss_cases,
    oracle=_loss,
    mistaken=_loss_mistaken,
    parts={"core": 0.8, "gradient": 0.2},
    mistakes=(
        known(
            "padding-counted",
            (LOSS_OUT, "return losses.mean()"),
            says="Padding is counted: nothing was to be predicted there, so its places are left out of sum and count.",
            number=62,
        ),
        known(
            "mean-of-means",
            (LOSS_OUT, "return torch.stack([one[r].mean() for one, r in zip(losses, real)]).mean()"),
            says="This is the mean of each sentence's mean, in which a word of a short sentence counts more: it is one "
            "mean over all real words.",
            number=63,
        ),
        known("summed", (LOSS_OUT, "return losses[real].sum()"), says="The losses are added up: it is their mean."),
        known(
            "softmax-first",
            (LOG, "log_p = torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1)"),
            says="The logits go through a softmax twice.",
            number=64,
        ),
        known(
            "no-smoothing",
            (EACH, "losses = -own"),
            says="Nothing is smoothed: the share eps goes to all V words alike, eps/V each.",
            number=65,
        ),
        known(
            "others-alone",
            (
                EACH,
                "others = (log_p.sum(dim=-1) - own) / (logits.shape[-1] - 1)\n    "
                "losses = -(1 - eps) * own - eps * others",
            ),
            says="The share eps goes to the other words alone, eps/(V-1) each: here all V words have eps/V, the right "
            "one among them.",
            number=65,
        ),
        gradient_cut((LOSS_OUT, "return losses[real].mean().detach()")),
    ),
)


def _sentences(rng: Rng, b: int, t: int, v: int, least: int, special: int = 3) -> np.ndarray:
    ids = rng.integers(special, v, (b, t))
    ids[np.arange(t) >= rng.integers(least, t + 1, b)[:, None]] = 0
    return ids


def _weights(rng: Rng, sizes: tuple[int, ...], scale: float = 1.0) -> list[np.ndarray]:
    vocab, d, _, hidden, n_layers, _ = sizes
    named = shapes(vocab, d, n_layers, hidden)
    drawn = dict(zip(named, layer.drawn(rng, named, "float64"), strict=True))
    drawn["embedding"] = normal(rng, vocab, d, dtype="float64", scale=scale * d**-0.5)
    return [drawn[name] for name in sorted(drawn)]


def _logits(sizes: tuple[int, ...], weights: list[Any], source: Any, target: Any) -> Any:
    """Torch's own encoder and decoder, as in chapter 8."""
    vocab, d, _, hidden, n_layers, _ = sizes
    names = list(shapes(vocab, d, n_layers, hidden))
    given = dict(zip(sorted(names), weights, strict=True))
    return TRANSFORMER.oracle(*sizes, *(given[name] for name in names), source, target)


def _train_cases(rng: Rng) -> list[Case]:
    def case(label: str, sizes: tuple[int, ...], steps: int, b: int, s: int, t: int, rates: list[float]) -> Case:
        source = np.stack([_sentences(rng, b, s, sizes[0], 2) for _ in range(steps)])
        rows = np.stack([_sentences(rng, b, t, sizes[0], 2) for _ in range(steps)])
        rows[:, :, 0] = 1
        return Case(
            label, (*sizes, source, rows, np.array(rates), *_weights(rng, sizes)), tolerance=1e-6, descends=True
        )

    return [
        case("three steps, V = 9, D = 4, one layer", (9, 4, 2, 5, 1, 0), 3, 2, 4, 5, [0.01, 0.03, 0.02]),
        case("two steps, V = 8, D = 6, two layers", (8, 6, 3, 4, 2, 0), 2, 3, 3, 4, [0.02, 0.01]),
        case("one step", (7, 4, 1, 3, 1, 0), 1, 2, 3, 3, [0.05]),
    ]


def _trained(flags: Flags, sizes: tuple[int, ...], source: Any, target: Any, rates: Any, given: Any) -> tuple[Any, Any]:
    """Adam written out."""
    import torch

    weights = [one.detach().clone() for one in given]
    first, second = ([torch.zeros_like(one) for one in weights] for _ in range(2))
    b1, b2 = (0.9, 0.999) if "usual-betas" in flags else BETAS
    losses = []
    for step in range(len(rates)):
        rate = rates[0] if "first-rate-alone" in flags else rates[step]
        leaves = [one.clone().requires_grad_(True) for one in weights]
        rows = target[step]
        logits = _logits(sizes, leaves, source[step], rows[:, 1:] if "not-shifted" in flags else rows[:, :-1])
        loss = _losses(flags, logits, rows[:, 1:], sizes[-1], SMOOTHING)
        losses.append(loss.detach())
        for i, grad in enumerate(torch.autograd.grad(loss, leaves)):
            first[i] = torch.lerp(grad, first[i], b1)
            second[i] = torch.lerp(grad**2, second[i], b2)
            ups = (1.0, 1.0) if "not-corrected" in flags else (1 - b1 ** (step + 1), 1 - b2 ** (step + 1))
            move = grad if "plain-descent" in flags else first[i] / ups[0] / ((second[i] / ups[1]).sqrt() + EPS)
            weights[i] = weights[i] - rate * move
    return torch.stack(losses), torch.cat([one.flatten() for one in weights])


def _train(*given: Any) -> tuple[Any, Any]:
    sizes, (source, target, rates), weights = given[:6], given[6:9], given[9:]
    return _trained(NONE, sizes, source, target, rates, weights)


def _train_mistaken(flags: Flags, *given: Any) -> tuple[np.ndarray, np.ndarray]:
    import torch

    tensors = [torch.from_numpy(one) if isinstance(one, np.ndarray) else one for one in given]
    source, target, rates = tensors[6:9]
    losses, weights = _trained(flags, tuple(given[:6]), source, target, rates, tensors[9:])
    return losses.numpy(), weights.numpy()


SQUARES = "v[i] = 0.98 * v[i] + (1 - 0.98) * g * g"
CORRECTED = "up, root = m[i] / (1 - 0.9**k), (v[i] / (1 - 0.98**k)).sqrt()"
CALL = "logits = model(ids, rows[:, :-1])"
STEP_LOSS = "loss = translation_loss(logits, rows[:, 1:], pad_id, 0.1)"
MOVE = "own[i] -= rate * up / (root + 1e-9)"

TRAIN = Task(
    id="90.train",
    name="train_steps",
    title="Some steps of training",
    points=5,
    minutes=20,
    difficulty=3,
    page=PAGE,
    anchor="beyond-text-capstone-train",
    returns=("losses", "weights"),
    cases=_train_cases,
    oracle=_train,
    mistaken=_train_mistaken,
    mistakes=(
        known(
            "not-shifted",
            (CALL, "logits = model(ids, rows[:, 1:])"),
            says="The decoder is given the labels themselves, so it only has to copy: it is given the row without its "
            "last id, and predicts the row without its first.",
            number=61,
        ),
        known(
            "usual-betas",
            (SQUARES, SQUARES.replace("0.98", "0.999")),
            (CORRECTED, CORRECTED.replace("0.98", "0.999")),
            says="The second beta is 0.999, the usual one: the paper's is 0.98.",
        ),
        known(
            "not-corrected",
            (CORRECTED, "up, root = m[i], v[i].sqrt()"),
            says="The running means begin at 0 and are too small at first: divide them by 1 - beta^k.",
        ),
        known(
            "first-rate-alone",
            (MOVE, MOVE.replace("rate", "rates[0]")),
            says="Every step takes the first rate: each has its own.",
            number=66,
        ),
        known(
            "plain-descent",
            (MOVE, "own[i] -= rate * g"),
            says="This is plain gradient descent: the steps are Adam's.",
        ),
        known(
            "no-smoothing",
            (STEP_LOSS, STEP_LOSS.replace("0.1", "0.0")),
            says="The loss is not smoothed: eps is 0.1.",
            number=65,
        ),
        known(
            "padding-counted",
            (STEP_LOSS, STEP_LOSS.replace("pad_id", "-1")),
            says="Padding is counted as if it were to be predicted.",
            number=62,
        ),
    ),
)


def _greedy_cases(rng: Rng) -> list[Case]:
    def case(label: str, sizes: tuple[int, ...], b: int, s: int, longest: int) -> Case:
        # Models with random weights often write one word alone; such a one would show no mistake.
        for _ in range(300):
            args = (*sizes, 1, 2, longest, _sentences(rng, b, s, sizes[0], 2), *_weights(rng, sizes, 1.5))
            right = _greedy_mistaken(NONE, *args)
            wrong = (_greedy_mistaken(frozenset({slug}), *args) for slug in ("never-stops", "first-position"))
            if all(not np.array_equal(right, one) for one in wrong):
                break
        return Case(label, args)

    return [
        case("four sentences, V = 6, D = 4", (6, 4, 2, 5, 1, 0), 4, 4, 6),
        case("six sentences, V = 5, two layers", (5, 6, 3, 4, 2, 0), 6, 3, 5),
        case("many short ones, V = 4", (4, 4, 1, 6, 1, 0), 8, 4, 4),
        Case("one word", (7, 4, 2, 3, 1, 0, 1, 2, 1, _sentences(rng, 3, 3, 7, 2), *_weights(rng, (7, 4, 2, 3, 1, 0)))),
    ]


def _written(sizes: tuple[int, ...], start: int, end: int, longest: int, source: Any, w: Any) -> Any:
    """All sentences to their full length, and what stands behind an end is wiped out at last."""
    import torch

    ids = torch.full((len(source), 1), start)
    with torch.no_grad():
        for _ in range(longest):
            ids = torch.hstack([ids, _logits(sizes, list(w), source, ids)[:, -1:].argmax(-1)])
    ids = ids[:, 1:]
    is_end = (ids == end).long()
    return ids.masked_fill(is_end.cumsum(1) > is_end, sizes[-1])


def _greedy(*given: Any) -> Any:
    start, end, longest = given[6:9]
    return _written(given[:6], start, end, longest, given[9], given[10:])


def _greedy_mistaken(flags: Flags, *given: Any) -> np.ndarray:
    """The same in numpy, with chapter 8's model in numpy."""
    sizes, (start, end, longest, source), w = given[:6], given[6:10], given[10:]
    vocab, d, _, hidden, n_layers, pad = sizes
    names = list(shapes(vocab, d, n_layers, hidden))
    named = dict(zip(sorted(names), w, strict=True))
    weights = [named[name] for name in names]
    ids, open_ = np.full((len(source), 1), start), np.ones(len(source), dtype=bool)
    for _ in range(longest):
        logits = TRANSFORMER.mistaken(NONE, *sizes, *weights, source, ids)
        best = logits[:, 0 if "first-position" in flags else -1].argmax(-1)
        best = np.where(open_, best, pad)
        if "never-stops" not in flags:
            open_ = open_ & (best != end)
        ids = np.concatenate([ids, best[:, None]], axis=1)
    if "end-left-out" in flags:
        ids = np.where(ids == end, pad, ids)
    return ids[:, :-1] if "start-kept" in flags else ids[:, 1:]


BEST = "best = model(source, written)[:, -1].argmax(dim=-1)"
FILL = "best = torch.where(ended, pad_id, best)"
WRITTEN = "return written[:, 1:]"

GREEDY = Task(
    id="90.greedy",
    name="write_greedily",
    title="What it writes",
    points=4,
    minutes=12,
    difficulty=2,
    page=PAGE,
    anchor="beyond-text-capstone-greedy",
    returns=("ids",),
    cases=_greedy_cases,
    oracle=_greedy,
    mistaken=_greedy_mistaken,
    mistakes=(
        known(
            "first-position",
            (BEST, BEST.replace("-1]", "0]")),
            says="The first position's logits are read: what comes next stands at the LAST position.",
            number=74,
        ),
        known(
            "never-stops",
            (FILL, "pass"),
            says="It writes on behind the end token: from there on a sentence is padding.",
            number=74,
        ),
        known(
            "start-kept",
            (WRITTEN, "return written[:, :-1]"),
            says="The start token is returned, and the last word is not: return what was written.",
        ),
        known(
            "end-left-out",
            (WRITTEN, "return torch.where(written == end_id, pad_id, written)[:, 1:]"),
            says="The end token is left out: it was written, and is returned.",
        ),
    ),
)
