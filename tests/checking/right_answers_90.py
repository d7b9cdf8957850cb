"""The capstone: the right answers of the parts' own chapters, and others for what is new."""

import torch
from torch.nn import functional as F

import right_answers_05
import right_answers_08
from right_answers_08 import ModelOfLists
from softlookup_judge.chapters.ch90_capstone import FROM_EARLIER


def loss_torch(logits, labels, pad_id, eps):
    return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, label_smoothing=eps)


def loss_distribution(logits, labels, pad_id, eps):
    v = logits.shape[-1]
    target = F.one_hot(labels, v).to(logits.dtype) * (1 - eps) + eps / v
    losses = -(target * logits.log_softmax(-1)).sum(-1)
    real = (labels != pad_id).to(logits.dtype)
    return (losses * real).sum() / real.sum()


def model_of(sizes, weights):
    model = ModelOfLists(*sizes).to(weights[0].dtype)
    names = sorted(name for name, _ in model.named_parameters())
    model.load_state_dict(dict(zip(names, weights, strict=True)))
    return model


def in_a_row(named):
    return torch.cat([named[name].detach().reshape(-1) for name in sorted(named)])


def train_torch(*args):
    sizes, (source, target, rates), weights = args[:6], args[6:9], args[9:]
    model, losses = model_of(sizes, weights), []
    adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    plan = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: float(rates[min(step, len(rates) - 1)]))
    for s, t in zip(source, target, strict=True):
        loss = loss_torch(model(s, t[:, :-1]), t[:, 1:], sizes[5], 0.1)
        model.zero_grad()
        loss.backward()
        adam.step()
        plan.step()
        losses.append(loss.item())
    return losses, in_a_row(dict(model.named_parameters()))


@torch.no_grad()
def greedy_to_the_end(*args):
    """All places are written, and what stands behind the first end token is wiped out."""
    sizes, (start, end, longest, source), weights = args[:6], args[6:10], args[10:]
    model, ids = model_of(sizes, weights), torch.full((len(args[9]), 1), start)
    for _ in range(longest):
        ids = torch.hstack([ids, model(source, ids)[:, -1:].max(-1).indices])
    ids = ids[:, 1:]
    behind = ((ids == end).cumsum(1) - (ids == end).long()) > 0
    return ids.masked_fill(behind, sizes[5])


RIGHT = {
    f"90.{description.task_id.split('.')[1]}": (right_answers_05.RIGHT | right_answers_08.RIGHT)[description.task_id]
    for description in FROM_EARLIER
} | {
    "90.loss": [loss_torch, loss_distribution],
    "90.train": [train_torch],
    "90.greedy": [greedy_to_the_end],
}
