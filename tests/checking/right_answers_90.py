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


def loss_loop(logits, labels, pad_id, eps):
    losses = []
    for row, row_labels in zip(logits, labels, strict=True):
        for scores, label in zip(row, row_labels.tolist(), strict=True):
            if label != pad_id:
                losses.append(scores.logsumexp(0) - (1 - eps) * scores[label] - eps * scores.mean())
    return sum(losses) / len(losses)


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


def train_functional(*args):
    """Weights as a dictionary; Adam by hand."""
    sizes, (source, target, rates), weights = args[:6], args[6:9], args[9:]
    model = model_of(sizes, weights)
    w = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    first, second, losses = {k: 0.0 for k in w}, {k: 0.0 for k in w}, []
    for step in range(len(rates)):

        def loss_of(w, s=source[step], t=target[step]):
            return loss_distribution(torch.func.functional_call(model, w, (s, t[:, :-1])), t[:, 1:], sizes[5], 0.1)

        grads, loss = torch.func.grad_and_value(loss_of)(w)
        losses.append(loss)
        for name, g in grads.items():
            first[name] = 0.9 * first[name] + 0.1 * g
            second[name] = 0.98 * second[name] + 0.02 * g * g
            root = (second[name] / (1 - 0.98 ** (step + 1))) ** 0.5 + 1e-9
            w[name] = w[name] - rates[step] * first[name] / (1 - 0.9 ** (step + 1)) / root
    return torch.stack(losses), in_a_row(w)


@torch.no_grad()
def greedy_alone(*args):
    """Each sentence for itself, without its padding."""
    sizes, (start, end, longest, source), weights = args[:6], args[6:10], args[10:]
    model, rows = model_of(sizes, weights), []
    for sentence in source:
        ids, real = [start], sentence[sentence != sizes[5]][None]
        while len(ids) <= longest and end not in ids[1:]:
            ids.append(model(real, torch.tensor([ids]))[0, -1].argmax().item())
        rows.append((ids[1:] + [sizes[5]] * longest)[:longest])
    return torch.tensor(rows)


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
    "90.loss": [loss_torch, loss_distribution, loss_loop],
    "90.train": [train_torch, train_functional],
    "90.greedy": [greedy_alone, greedy_to_the_end],
}
