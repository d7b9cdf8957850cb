"""Tasks on a whole model at work: some steps of training, and what it writes."""

from typing import Any

import numpy as np

from softlookup.checks.capstone.loss import SMOOTHING, smoothed_loss
from softlookup.checks.capstone.page import PAGE
from softlookup.checks.compare import same
from softlookup.checks.decoder_and_masks import layer
from softlookup.checks.decoder_and_masks.whole import TRANSFORMER
from softlookup.checks.decoder_and_masks.whole_cases import shapes
from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import known
from softlookup.checks.oracle import mistaken, wanted
from softlookup.checks.task import Case, Task

BETAS, EPS = (0.9, 0.98), 1e-9


def _sentences(rng: Rng, b: int, t: int, v: int, least: int, special: tuple[int, int, int]) -> np.ndarray:
    """Rows of words, filled up; the special ones are the pad, the start and the end."""
    ids = rng.choice(np.setdiff1d(np.arange(v), special), (b, t))
    ids[np.arange(t) >= rng.integers(least, t + 1, b)[:, None]] = special[0]
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
        special = sizes[-1], 1, 2
        source = np.stack([_sentences(rng, b, s, sizes[0], 2, special) for _ in range(steps)])
        rows = np.stack([_sentences(rng, b, t, sizes[0], 2, special) for _ in range(steps)])
        rows[:, :, 0] = 1
        return Case(
            label, (*sizes, source, rows, np.array(rates), *_weights(rng, sizes)), tolerance=1e-8, descends=True
        )

    # The short one first: whatever is wrong in it is told from most mistakes by one step.
    return [
        case("one step", (7, 4, 1, 3, 1, 0), 1, 2, 3, 3, [0.05]),
        case("three steps, V = 9, D = 4, one layer", (9, 4, 2, 5, 1, 0), 3, 2, 4, 5, [0.01, 0.03, 0.02]),
        case("two steps, V = 8, D = 6, two layers, the pad is 5", (8, 6, 3, 4, 2, 5), 2, 3, 3, 4, [0.02, 0.01]),
    ]


def _train(*given: Any) -> tuple[Any, Any]:
    """Adam written out."""
    import torch

    sizes, (source, target, rates) = given[:6], given[6:9]
    weights = [one.detach().clone() for one in given[9:]]
    first, second = ([torch.zeros_like(one) for one in weights] for _ in range(2))
    found = []
    for step, rate in enumerate(rates):
        leaves = [one.clone().requires_grad_(True) for one in weights]
        rows = target[step]
        loss = smoothed_loss(_logits(sizes, leaves, source[step], rows[:, :-1]), rows[:, 1:], sizes[-1], SMOOTHING)
        found.append(loss.detach())
        for i, grad in enumerate(torch.autograd.grad(loss, leaves)):
            first[i] = torch.lerp(grad, first[i], BETAS[0])
            second[i] = torch.lerp(grad**2, second[i], BETAS[1])
            up, root = first[i] / (1 - BETAS[0] ** (step + 1)), (second[i] / (1 - BETAS[1] ** (step + 1))).sqrt()
            weights[i] = weights[i] - rate * up / (root + EPS)
    return torch.stack(found), torch.cat([one.flatten() for one in weights])


SQUARES = "v[i] = 0.98 * v[i] + (1 - 0.98) * g * g"
CORRECTED = "up, root = m[i] / (1 - 0.9**k), (v[i] / (1 - 0.98**k)).sqrt()"
CALL = "logits = model(ids, rows[:, :-1])"
STEP_LOSS = "loss = translation_loss(logits, rows[:, 1:], pad_id, 0.1)"
GRADS = "grads = torch.autograd.grad(loss, own)"
KEEP = "losses.append(loss.detach())"
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
            "usual-eps",
            (MOVE, MOVE.replace("1e-9", "1e-8")),
            says="What is added below the line is 1e-8, torch's own: here it is 1e-9.",
        ),
        known(
            "given-ones-returned",
            ("weights_of(model)", "torch.cat([w.flatten() for w in weights])"),
            says="The weights that were given are returned: with_weights made copies, and those have moved.",
        ),
        known(
            "not-corrected",
            (CORRECTED, "up, root = m[i], v[i].sqrt()"),
            says="The running means begin at 0 and are too small at first: divide them by 1 - beta^k.",
        ),
        known(
            "gradients-kept",
            (GRADS, "loss.backward()\n        grads = [w.grad for w in own]"),
            says="The gradients of earlier steps are still there and add up: clear them before each backward "
            "(zero_grad).",
        ),
        known(
            "loss-after-step",
            (KEEP, "pass"),
            (
                MOVE,
                f"{MOVE}\n        losses.append(translation_loss(model(ids, rows[:, :-1]), rows[:, 1:], pad_id, "
                "0.1).detach())",
            ),
            says="Each loss is computed after its step: it is the one that the step was taken for.",
        ),
        known(
            "state-forgotten",
            (CALL, f"{CALL}\n        m, v, k = [0 * w for w in own], [0 * w for w in own], 1"),
            says="The running means begin anew in every step (an optimiser made inside the loop): make it once, "
            "before the loop.",
        ),
        known(
            "steps-from-zero",
            (", start=1)", ", start=0)"),
            says="The steps are counted from 0, so that the first correction divides by 1 - beta^0 = 0: they are "
            "counted from 1.",
            number=66,
        ),
        known(
            "first-batch-alone",
            (CALL, f"ids, rows = source[0], target[0]\n        {CALL}"),
            says="Every step is taken with the first batch: each has its own.",
        ),
        known(
            "decayed",
            (MOVE, "own[i] -= rate * (0.01 * own[i] + up / (root + 1e-9))"),
            says="The weights are pulled towards 0 as well (AdamW's weight decay of 0.01): this is Adam, without it.",
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
    def case(label: str, sizes: tuple[int, ...], b: int, s: int, longest: int, start: int = 1, end: int = 2) -> Case:
        # Models with random weights often write one word alone; such a one would show no mistake. Where the last gain
        # is below 0, a word is rather not followed by itself.
        gain = sorted(shapes(sizes[0], sizes[1], sizes[4], sizes[3])).index("decoder_norm.weight")
        for _ in range(300):
            weights = _weights(rng, sizes, 1.5)
            weights[gain] = -weights[gain]
            source = _sentences(rng, b, s, sizes[0], 2, (sizes[-1], start, end))
            args = (*sizes, start, end, longest, source, *weights)
            asked = Case(label, args)
            right = wanted(GREEDY, asked, {})
            slips = ("never-stops", "first-position", "last-word-alone")
            wrong = (mistaken(GREEDY, (slug,), asked) for slug in slips)
            if not any(one is None or same(one, right, asked) for one in wrong):
                break
        return asked

    short = (7, 4, 2, 3, 1, 0)
    return [
        case("four sentences, V = 6, D = 4", (6, 4, 2, 5, 1, 0), 4, 4, 6),
        case("the pad is 4, the start 0, the end 3", (5, 6, 3, 4, 2, 4), 6, 3, 5, 0, 3),
        case("many short ones, V = 4", (4, 4, 1, 6, 1, 0), 8, 4, 4),
        Case("one word", (*short, 1, 2, 1, _sentences(rng, 3, 3, 7, 2, (0, 1, 2)), *_weights(rng, short))),
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
            "last-word-alone",
            (BEST, BEST.replace("written)", "written[:, -1:])")),
            says="The decoder is shown the last word alone: it looks back at all that is written so far.",
        ),
        known(
            "end-repeated",
            (FILL, FILL.replace("pad_id", "end_id")),
            says="Behind its end a sentence is filled up with end tokens: there stands padding.",
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
