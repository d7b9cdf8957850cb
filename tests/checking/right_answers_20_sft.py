"""Chapter 20, supervised fine-tuning: right answers written otherwise."""

import numpy as np

IM_START, IM_END = "<|im_start|>", "<|im_end|>"


def template_formatted(messages, add_generation_prompt):
    turns = "".join("{}{role}\n{content}{}\n".format(IM_START, IM_END, **m) for m in messages)
    return turns + (IM_START + "assistant\n" if add_generation_prompt else "")


def template_recursive(messages, add_generation_prompt):
    if not messages:
        return IM_START + "assistant\n" if add_generation_prompt else ""
    role, content = messages[0]["role"], messages[0]["content"]
    turn = IM_START + role + "\n" + content + IM_END + "\n"
    return turn + template_recursive(messages[1:], add_generation_prompt)


def mask_copied(ids, is_answer):
    labels = ids.copy()
    labels[~is_answer] = -100
    return ids[:-1], labels[1:]


def mask_arithmetic(ids, is_answer):
    answers = is_answer.astype(ids.dtype)
    return np.delete(ids, -1), (ids * answers - 100 * (1 - answers))[1:]


def loss_take_along(logits, labels):
    is_label = labels >= 0
    right = np.take_along_axis(logits, np.where(is_label, labels, 0)[..., None], axis=-1)[..., 0]
    largest = logits.max(axis=-1)
    normaliser = largest + np.log(np.exp(logits - largest[..., None]).sum(axis=-1))
    return np.where(is_label, normaliser - right, 0.0).sum() / is_label.sum()


def loss_logaddexp(logits, labels):
    b, t = np.nonzero(labels != -100)
    rows, ids = logits[b, t], labels[b, t]
    return (np.logaddexp.reduce(rows, axis=1) - rows[np.arange(len(ids)), ids]).mean()


def packed_by_begins(lengths):
    ends = np.cumsum(lengths)
    t = np.arange(ends[-1])
    example = np.searchsorted(ends, t, side="right")
    begins = (ends - lengths)[example]
    return t - begins, (t[None, :] <= t[:, None]) & (t[None, :] >= begins[:, None])


def packed_pairs(lengths):
    tokens = [(e, p) for e, length in enumerate(lengths) for p in range(length)]
    may_attend = [[e == f and q <= p for f, q in tokens] for e, p in tokens]
    return np.array([p for _, p in tokens]), np.array(may_attend)


def lora_merged_first(x, w, a, b, alpha):
    merged = w + b @ a * (alpha / a.shape[0])
    return x @ merged.T, merged


def lora_einsum(x, w, a, b, alpha):
    inner = np.einsum("...d,rd->...r", x, a) * alpha / b.shape[1]
    update = np.einsum("fr,rd->fd", b, a) * alpha / b.shape[1]
    return np.einsum("...d,fd->...f", x, w) + np.einsum("...r,fr->...f", inner, b), w + update


def distill_entropies(student, teacher, tau):
    log_q = student / tau - np.logaddexp.reduce(student / tau, axis=1)[:, None]
    log_p = teacher / tau - np.logaddexp.reduce(teacher / tau, axis=1)[:, None]
    p = np.exp(log_p)
    return tau**2 * ((p * log_p).sum() - (p * log_q).sum()) / len(p)


def distill_stacked(student, teacher, tau):
    both = np.stack([student, teacher]) / tau
    both = both - both.max(axis=2, keepdims=True)
    both = both - np.log(np.exp(both).sum(axis=2, keepdims=True))
    return tau**2 * np.einsum("tv,tv->t", np.exp(both[1]), both[1] - both[0]).mean()


SFT = {
    "20.template": (template_formatted, template_recursive),
    "20.loss-mask": (mask_copied, mask_arithmetic),
    "20.sft-loss": (loss_take_along, loss_logaddexp),
    "20.packed": (packed_by_begins, packed_pairs),
    "20.lora": (lora_merged_first, lora_einsum),
    "20.distill": (distill_entropies, distill_stacked),
}
