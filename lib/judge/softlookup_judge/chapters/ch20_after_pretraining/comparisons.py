"""Tasks on losses that compare: reward models, DPO and distillation; and a layer with a low-rank adapter."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles
from softlookup_judge.chapters.forbidden import SOFTMAXES
from softlookup_judge.chapters.oracles import torch

SIGMOIDS = (
    *("torch.sigmoid", "torch.nn.functional.logsigmoid", "torch.nn.LogSigmoid", "torch.special.expit"),
    *("torch.nn.functional.softplus", "torch.nn.functional.binary_cross_entropy_with_logits"),
    *("torch.nn.functional.soft_margin_loss", "scipy.special.expit", "scipy.special.log_expit"),
)
"""What computes a logistic loss by itself."""


def _log_prob_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, *turns: tuple[int, ...], scale: float = 2.0, padding: int = 1, **facts: Any) -> Case:
        """Rows whose answers stand at the positions that are named; padding follows."""
        length = max(max(row, default=0) for row in turns) + 1 + padding
        is_answer = np.zeros((len(turns), length), dtype=bool)
        for row, positions in enumerate(turns):
            is_answer[row, list(positions)] = True
        ids = rng.integers(0, v, size=is_answer.shape)
        return Case(label, (doubles(rng, *ids.shape, v, scale=scale), ids, is_answer), **facts)

    levels = case("positions that lie thousands apart", 5, (2, 3), (1, 2, 3), part="large", tolerance=1e-8)
    levels.args[0][...] += rng.permutation([-4000.0, -900.0, 0.0, 2500.0, 4000.0])[None, :, None]
    near = case("logits near 5,000", 5, (1, 2), (2,), part="large", tolerance=1e-8)
    near.args[0][...] += 5000.0
    return [
        case("answers of three tokens and of one", 6, (2, 3, 4), (3,)),
        case("a row without an answer", 5, (1, 2), (), (2, 4)),
        case("an answer from the second token on", 7, (1, 2, 3, 4), (2,)),
        case("two answers in a row of tokens", 6, (1, 4, 5), (3, 4)),
        case("the first token is an answer's, and is predicted by nothing", 5, (0, 1, 2), (0, 3)),
        case("as many rows, tokens and ids", 4, (1, 2), (2,), (1,), ()),
        case("one row", 8, (2, 3)),
        case("answers of one token", 3, (1,), (1,)),
        case("answers up to the last token of the row", 5, (3, 4), (2, 3, 4), padding=0),
        levels,
        near,
        case("a vocabulary of more than 600 ids", int(rng.integers(601, 700)), (1, 2, 3), scale=1.0),
        case("an answer of 299 tokens", 3, tuple(range(1, 300)), (2, 290)),
        case("logits in the thousands", 4, (1, 2), (2, 3), scale=1500.0, part="large", tolerance=1e-8),
    ]


@graded(
    "20.answer-log-probs",
    _log_prob_cases,
    frame="numpy",
    parts={"core": 0.7, "large": 0.3},
    cuts=False,
    forbids=SOFTMAXES,
)
def _answer_log_probs(logits: Any, ids: Any, is_answer: Any) -> Any:
    """Row by row and token by token."""
    sums = []
    for row, row_ids, counts in zip(logits, ids, is_answer, strict=True):
        total = 0.0
        for t in range(1, len(row_ids)):
            if counts[t]:
                total += float(row[t - 1, row_ids[t]] - np.logaddexp.reduce(row[t - 1]))
        sums.append(total)
    return np.array(sums)


def _reward_cases(rng: Rng) -> list[Case]:
    def case(label: str, chosen: Any, rejected: Any, **facts: Any) -> Case:
        pair = (np.asarray(chosen, dtype=np.float64), np.asarray(rejected, dtype=np.float64))
        return Case(label, pair, **facts)

    return [
        case("five pairs", *doubles(rng, 2, 5, scale=2)),
        case("one pair in the wrong order", [-1.5], [0.5]),
        case("equal rewards", [2.0, -3.0, 0.0], [2.0, -3.0, 0.0]),
        case("rewards that are all far from zero", *(doubles(rng, 2, 4) + 9)),
        case("seven pairs, three in the wrong order", [1, 2, 0, -1, 3, 0.5, 2], [0, 2.5, 1, -2, 1, 0.2, 2.2]),
        case("four hundred pairs", *doubles(rng, 2, 400, scale=2)),
        case("differences of a thousand", [1000.0, -1000.0, 3.0], [0.0, 0.0, 2.0], part="large"),
        case("rewards in the thousands", [5000.0, 4999.0, -3000.0], [4998.0, 5000.5, -3001.0], part="large"),
    ]  # fmt: skip


@graded(
    "20.reward", _reward_cases, frame="numpy", parts={"core": 0.7, "large": 0.3}, forbids=(*SIGMOIDS, "torch.autograd")
)
def _reward_loss(chosen: Any, rejected: Any) -> Any:
    """By torch: logsigmoid, and its gradient by autograd."""
    rewards = torch.tensor(chosen, dtype=torch.float64, requires_grad=True)
    loss = -torch.nn.functional.logsigmoid(rewards - torch.tensor(rejected, dtype=torch.float64)).mean()
    loss.backward()
    assert rewards.grad is not None
    return loss.detach().numpy(), rewards.grad.numpy()


def _dpo_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, beta: float, scale: float = 3.0, **facts: Any) -> Case:
        reference = doubles(rng, 2, b, scale=6.0) - 25.0
        policy = reference + doubles(rng, 2, b, scale=scale)
        return Case(label, (policy[0], policy[1], reference[0], reference[1], beta), **facts)

    at_begin = doubles(rng, 2, 3, scale=4.0) - 20.0
    lengths = np.array([-12.0, -80.0, -31.0]), np.array([-45.0, -20.0, -33.0])
    far = lengths[0] - np.array([0.0, 3000.0, 5.0]), lengths[1] - np.array([2000.0, 0.0, 4.0])
    return [
        case("five pairs, beta = 0.1", 5, 0.1),
        case("four pairs, beta = 0.5", 4, 0.5),
        case("one pair, beta = 2", 1, 2.0),
        Case("the policy is the reference still", (*at_begin, *at_begin, 0.3)),
        Case("answers of unequal lengths", (lengths[0] + 1.0, lengths[1] - 2.5, *lengths, 0.2)),
        Case("both answers are less probable now", (lengths[0] - 2.0, lengths[1] - 7.0, *lengths, 0.1)),
        case("four hundred pairs, beta = 0.2", 400, 0.2),
        Case("policies that have moved by thousands", (*far, *lengths, 1.0), "large", "numpy"),
    ]  # fmt: skip


@graded("20.dpo", _dpo_cases, frame="numpy", parts={"core": 0.7, "large": 0.3}, forbids=SIGMOIDS)
def _dpo_loss(chosen: Any, rejected: Any, reference_chosen: Any, reference_rejected: Any, beta: float) -> Any:
    """Each pair's preference from the two ratios, in the form log(1 + exp(-margin))."""
    margins = np.array(
        [
            beta * (a - r) - beta * (b - s)
            for a, b, r, s in zip(chosen, rejected, reference_chosen, reference_rejected, strict=True)
        ]
    )
    return np.mean([np.logaddexp(0.0, -margin) for margin in margins]), margins


def _lora_cases(rng: Rng) -> list[Case]:
    def case(label: str, lead: tuple[int, ...], d: int, f: int, r: int, alpha: float) -> Case:
        shapes = ((*lead, d), (f, d), (r, d), (f, r))
        return Case(label, (*(doubles(rng, *shape) for shape in shapes), alpha))

    untrained = case("b is zero, as before the first step", (2,), 3, 4, 2, 8.0)
    untrained.args[3][:] = 0.0
    return [
        case("five rows, D = 4, F = 6, rank 3", (5,), 4, 6, 3, 6.5),
        case("two sequences of three rows, rank 2", (2, 3), 5, 4, 2, 16.0),
        case("a vector", (), 5, 3, 2, 1.0),
        case("rank 1", (3,), 4, 2, 1, 0.5),
        case("alpha equal to the rank", (2,), 5, 6, 4, 4.0),
        case("as many rows, columns and ranks", (3,), 3, 3, 3, 5.0),
        case("a rank above both widths", (4,), 2, 3, 5, 2.0),
        untrained,
        case("D = 33, F = 40, rank 17", (3,), 33, 40, 17, 8.0),
    ]


@graded("20.lora", _lora_cases, frame="numpy")
def _lora(x: Any, w: Any, a: Any, b: Any, alpha: float) -> Any:
    """The sum of the ranks' outer products, and the plain layer that it makes."""
    w, a, b = (np.asarray(array, dtype=np.float64) for array in (w, a, b))
    update = np.einsum("fr,rd->fd", b, a) * alpha / a.shape[0]
    merged = w + update
    return np.einsum("...d,fd->...f", x, merged), merged


def _distill_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, v: int, tau: float, scale: float = 2.0, **facts: Any) -> Case:
        both = [doubles(rng, t, v, scale=scale) for _ in range(2)]
        return Case(label, (*both, tau), **facts)

    equal = doubles(rng, 3, 4)
    apart = doubles(rng, 4, 5, scale=2.0)
    levels = np.array([-3000.0, 800.0, 0.0, 4000.0])[:, None]
    sure = np.where(np.arange(6) == np.array([[1], [5], [0]]), 40.0, 0.0)
    return [
        case("four tokens, V = 6, tau = 2", 4, 6, 2.0),
        case("a temperature of 1", 3, 5, 1.0),
        case("a temperature below 1", 2, 7, 0.5),
        case("a high temperature", 3, 4, 8.0, 4.0),
        case("as many tokens as ids", 4, 4, 3.0),
        case("one token", 1, 5, 1.5),
        Case("a student that is sure of another token", (sure[:, ::-1].copy(), sure, 4.0)),
        Case("the student is the teacher, moved by a constant", (equal + 3.0, equal, 2.5)),
        Case(
            "tokens whose logits lie thousands apart",
            (apart[::-1] + levels, apart + levels[::-1], 2.0),
            "large",
            "numpy",
        ),
        case("logits in the thousands", 3, 5, 2.0, 1500.0, part="large"),
        case("a vocabulary of more than 600 ids", 2, int(rng.integers(601, 700)), 1.5, 1.0),
        case("three hundred tokens", 300, 3, 2.0),
        Case("logits near 5,000", (apart + 5000.0, apart[:, ::-1] + 5000.0, 1.5), "large", "numpy", tolerance=1e-8),
    ]


@graded(
    "20.distill",
    _distill_cases,
    frame="numpy",
    parts={"core": 0.7, "large": 0.3},
    forbids=(*SOFTMAXES, "torch.nn.functional.kl_div", "torch.nn.KLDivLoss", "scipy.special.rel_entr"),
)
def _distill_loss(student: Any, teacher: Any, tau: float) -> Any:
    log_q, log_p = (
        torch.log_softmax(torch.from_numpy(np.ascontiguousarray(logits)) / tau, dim=-1) for logits in (student, teacher)
    )
    divergence = torch.nn.functional.kl_div(log_q, log_p, reduction="batchmean", log_target=True)
    return (tau**2 * divergence).numpy()
