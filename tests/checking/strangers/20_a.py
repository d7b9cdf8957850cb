# %% 20.advantages | right | differences from the first reward, scaled by the largest of them before squaring
def group_advantages(rewards):
    rewards = np.asarray(rewards, dtype=np.float64)
    out = np.zeros(rewards.shape)
    for p, row in enumerate(rewards):
        if row.max() - row.min() <= 1e-15 * np.abs(row).max():
            continue
        d = row - row[0]
        d = d / np.abs(d).max()
        d = d - d.mean()
        out[p] = d / math.sqrt(float(d @ d) / len(d))
    return out


# %% 20.advantages | wrong | G - 1 in the denominator of the standard deviation, as torch does | names=sample-spread
def group_advantages(rewards):
    r = np.asarray(rewards, dtype=float)
    P, G = r.shape
    if G == 1:
        return np.zeros_like(r)
    same = r.max(1) - r.min(1) <= 1e-15 * np.abs(r).max(1)
    std = r.std(axis=1, ddof=1)
    std[same] = 1.0
    adv = (r - r.mean(1, keepdims=True)) / std[:, None]
    adv[same] = 0.0
    return adv


# %% 20.advantages | wrong | rewards are equal where np.isclose says so (rewards of 1e-20 and 2e-20, or 1e10 and 1e10 + 1, become 0)
def group_advantages(rewards):
    r = np.asarray(rewards, dtype=float)
    mean = r.mean(axis=1, keepdims=True)
    std = r.std(axis=1, keepdims=True)
    same = np.isclose(r.max(axis=1, keepdims=True), r.min(axis=1, keepdims=True))
    return np.where(same, 0.0, (r - mean) / np.where(same, 1.0, std))


# %% 20.answer-log-probs | wrong | is_answer is not shifted: the mask of the input, not of the token that is predicted | names=answer-mask-not-shifted
def answer_log_probs(logits, ids, is_answer):
    z = logits - logits.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    tok = np.take_along_axis(logp[:, :-1], ids[:, 1:, None], axis=-1)[..., 0]
    return (tok * is_answer[:, :-1]).sum(-1)


# %% 20.answer-log-probs | wrong | np.roll instead of slices: position 0 is scored by the last logits (a row whose first token is the answer's) | names=first-token-from-last-logits
def answer_log_probs(logits, ids, is_answer):
    z = logits - logits.max(axis=-1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    logp = np.roll(logp, 1, axis=1)
    tok = np.take_along_axis(logp, ids[..., None], axis=-1)[..., 0]
    return np.where(is_answer, tok, 0.0).sum(axis=1)


# %% 20.answer-log-probs | right | token by token: minus the logarithm of a sum of exponentials of differences
def answer_log_probs(logits, ids, is_answer):
    out = np.zeros(len(ids))
    for b in range(len(ids)):
        for t in range(1, len(ids[b])):
            if is_answer[b][t]:
                row = np.asarray(logits[b][t - 1], dtype=np.float64)
                top = row.max()
                out[b] += float(row[ids[b][t]] - top) - math.log(math.fsum(np.exp(row - top)))
    return out


# %% 20.best-of-n | right | from the best downwards: each reward's chance is that of the one above, times a fraction
def best_of_n(rewards, n):
    ordered = sorted((float(r) for r in rewards), reverse=True)
    left, chance, terms = len(ordered), n / len(ordered), []
    for r in ordered[: len(ordered) - n + 1]:
        terms.append(r * chance)
        left -= 1
        if left:
            chance *= (left - n + 1) / left
    return math.fsum(terms), math.log(n) - (n - 1) / n


# %% 20.best-of-n | wrong | draws with replacement: (i / S)^n - ((i - 1) / S)^n (right for n = 1 only) | names=with-replacement-drawn
def best_of_n(rewards, n):
    r = np.sort(np.asarray(rewards, dtype=float))
    cdf = np.arange(len(r) + 1) / len(r)
    return float((r * np.diff(cdf**n)).sum()), math.log(n) - (n - 1) / n


# %% 20.best-of-n | wrong | np.unique sorts, and throws equal rewards together (rewards that come more than once)
def best_of_n(rewards, n):
    r = np.unique(rewards)
    S = len(rewards)
    total = math.comb(S, n)
    start = S - len(r)
    e = sum(x * (math.comb(start + i, n - 1) / total) for i, x in enumerate(r))
    return e, math.log(n) - (n - 1) / n


# %% 20.bits-per-byte | wrong | divides by the letters of the text, not by its bytes | names=bits-per-letter
def bits_per_byte(log_probs, text):
    return -np.sum(log_probs) / math.log(2) / len(text)


# %% 20.bits-per-byte | wrong | two bytes for each letter beyond ASCII (letters of three and four bytes, such as the euro sign or an emoji)
def bits_per_byte(log_probs, text):
    n = sum(1 if ord(c) < 128 else 2 for c in text)
    return float(-np.sum(np.asarray(log_probs) / np.log(2)) / n)


# %% 20.choice | wrong | sorts and takes the last: of equal scores, not the first | names=last-of-equals
def choose(log_probs, lengths):
    by_sum = np.argsort(log_probs, axis=1, kind="stable")[:, -1]
    by_byte = np.argsort(log_probs / lengths, axis=1, kind="stable")[:, -1]
    return np.stack([by_sum, by_byte], axis=1)


# %% 20.choice | wrong | divides probabilities instead of their logarithms by the bytes | names=probability-per-byte
def choose(log_probs, lengths):
    p = np.exp(log_probs - log_probs.max(axis=1, keepdims=True))
    return np.stack([log_probs.argmax(1), (p / lengths).argmax(1)], axis=1)


# %% 20.contamination | right | two rolling lists zipped, documents searched one n-gram at a time in sets
def contaminated(problem, documents, n):
    def grams(text):
        words = text.lower().split()
        return list(zip(*(words[i:] for i in range(n))))

    mine = grams(problem)
    if not mine:
        return 0.0
    left = set(mine)
    for document in documents:
        left.difference_update(grams(document))
    return 1.0 - sum(gram in left for gram in mine) / len(mine)


# %% 20.contamination | wrong | looks for the joined words as a substring of the document: found inside longer words as well | names=ends-within-words
def contaminated(problem, documents, n):
    words = problem.lower().split()
    grams = [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
    if not grams:
        return 0.0
    docs = [" ".join(d.lower().split()) for d in documents]
    return sum(any(g in d for d in docs) for g in grams) / len(grams)


# %% 20.contamination | wrong | all documents are put behind each other first (an n-gram across the border of two documents) | names=across-documents
def contaminated(problem, documents, n):
    p = problem.lower().split()
    d = " ".join(documents).lower().split()
    seen = {tuple(d[i : i + n]) for i in range(len(d) - n + 1)}
    mine = [tuple(p[i : i + n]) for i in range(len(p) - n + 1)]
    return sum(g in seen for g in mine) / len(mine) if mine else 0.0


# %% 20.distill | right | cross-entropy minus entropy is avoided: differences of log-probabilities from logaddexp
def distill_loss(student, teacher, tau):
    def log_p(logits):
        z = np.asarray(logits, dtype=np.float64) / tau
        return z - np.logaddexp.reduce(z, axis=-1)[:, None]

    p, q = log_p(teacher), log_p(student)
    kl = np.einsum("tv,tv->t", np.exp(p), p - q)
    return float(tau * tau * kl.sum() / len(kl))


# %% 20.distill | wrong | the mean is taken over tokens and vocabulary | names=mean-over-ids
def distill_loss(student, teacher, tau):
    def ls(x):
        x = x / tau
        x = x - x.max(-1, keepdims=True)
        return x - np.log(np.exp(x).sum(-1, keepdims=True))

    t, s = ls(teacher), ls(student)
    return tau**2 * np.mean(np.exp(t) * (t - s))


# %% 20.distill | wrong | the student's probabilities are floored at 1e-12 before the logarithm (far too small a loss where logits are in the thousands)
def distill_loss(student, teacher, tau):
    def probabilities(x):
        e = np.exp(x / tau - np.max(x / tau, axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    p, q = probabilities(teacher), probabilities(student)
    log_p, log_q = np.log(np.maximum(p, 1e-12)), np.log(np.maximum(q, 1e-12))
    return tau**2 * (p * (log_p - log_q)).sum(axis=-1).mean()


# %% 20.dpo | wrong | log(1 + exp(-margin)) as it stands: infinite for margins in the minus thousands | names=exponential-overflows
def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    margins = beta * ((chosen - reference_chosen) - (rejected - reference_rejected))
    return np.log1p(np.exp(-margins)).mean(), margins


# %% 20.dpo | wrong | the margins are returned without beta (the loss is right) | names=margins-without-beta
def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    policy = chosen - rejected
    reference = reference_chosen - reference_rejected
    margins = policy - reference
    return np.mean(np.logaddexp(0, -beta * margins)), margins


# %% 20.grpo | right | case by case: with a positive advantage the ratio is capped above, with a negative one below
def grpo_loss(new, old, advantages, is_answer, clip):
    gains = []
    for b, a in enumerate(np.asarray(advantages, dtype=np.float64)):
        for t in np.flatnonzero(is_answer[b]):
            ratio = math.exp(float(new[b, t]) - float(old[b, t]))
            gains.append(float(a) * (min(ratio, 1 + clip) if a >= 0 else max(ratio, 1 - clip)))
    return -math.fsum(gains) / len(gains)


# %% 20.grpo | wrong | the smaller of the two ratios, times the advantage (wrong where an advantage is negative and the ratio is clipped) | names=smaller-ratio
def grpo_loss(new, old, advantages, is_answer, clip):
    ratio = np.exp(new - old)
    ratio = np.minimum(ratio, np.clip(ratio, 1 - clip, 1 + clip))
    gain = ratio * advantages[:, None]
    return -gain[is_answer].mean()


# %% 20.grpo | wrong | the mean of the answers' means | names=mean-of-answer-means
def grpo_loss(new, old, advantages, is_answer, clip):
    r = np.exp(new - old)
    a = advantages[:, None]
    g = np.minimum(r * a, np.clip(r, 1 - clip, 1 + clip) * a)
    n = is_answer.sum(axis=1)
    per_answer = np.where(is_answer, g, 0).sum(axis=1)[n > 0] / n[n > 0]
    return -per_answer.mean()


# %% 20.kl | wrong | divides probabilities: 0 / 0 for log-probabilities of minus some thousands | names=probabilities-divided
def kl_estimates(policy, reference):
    r = np.exp(reference) / np.exp(policy)
    return np.array([-np.log(r).mean(), (0.5 * np.log(r) ** 2).mean(), (r - 1 - np.log(r)).mean()])


# %% 20.kl | wrong | k2 is half the square of the mean, not the mean of the squares (right for one sample) | names=k2-of-mean
def kl_estimates(policy, reference):
    log_r = reference - policy
    k1 = -log_r.mean()
    k3 = (np.expm1(log_r) - log_r).mean()
    return np.array([k1, 0.5 * k1**2, k3])


# %% 20.lora | wrong | the number of columns of a is taken for r | names=divided-by-width
def lora(x, w, a, b, alpha):
    scale = alpha / a.shape[-1]
    merged = w + scale * b @ a
    return x @ merged.T, merged


# %% 20.lora | wrong | merges into w itself (changes an input) | names=inputs-changed
def lora(x, w, a, b, alpha):
    r = a.shape[0]
    y = x @ w.T + alpha / r * (x @ a.T) @ b.T
    w += alpha / r * (b @ a)
    return y, w


# %% 20.lora | right | w and the adapter side by side as one block product: [x, s x A^T] with [W, B]
def lora(x, w, a, b, alpha):
    x, w, a, b = (np.asarray(t, dtype=np.float64) for t in (x, w, a, b))
    s = alpha / len(a)
    low = np.einsum("...d,rd->...r", x, a)
    y = np.concatenate([x, s * low], axis=-1) @ np.concatenate([w, b], axis=1).T
    merged = w.copy()
    for i in range(len(a)):
        merged += s * np.outer(b[:, i], a[i])
    return y, merged


# %% 20.loss-mask | wrong | the label is -100 where the input is not the assistant's, instead of the token that follows | names=masked-by-input
def targets(ids, is_answer):
    ids, is_answer = np.asarray(ids), np.asarray(is_answer, dtype=bool)
    return ids[:-1], np.where(is_answer[:-1], ids[1:], -100)


# %% 20.loss-mask | wrong | multiplies by the mask and makes every 0 a -100 (an answer's token with the id 0 is lost)
def targets(ids, is_answer):
    ids = np.array(ids)
    labels = ids[1:] * np.array(is_answer[1:]).astype(int)
    labels[labels == 0] = -100
    return ids[:-1], labels


# %% 20.loss-mask | right | arithmetic with the mask: label + 100, times 0 or 1, minus 100
def targets(ids, is_answer):
    ids = np.array(ids)
    keep = np.array(is_answer).astype(ids.dtype)
    return ids[:-1].copy(), (ids[1:] + 100) * keep[1:] - 100


# %% 20.packed | right | a block for each example, filled with np.tri
def packed(lengths):
    lengths = [int(n) for n in lengths]
    T = sum(lengths)
    mask = np.zeros((T, T), dtype=bool)
    positions = np.zeros(T, dtype=np.int64)
    start = 0
    for n in lengths:
        mask[start : start + n, start : start + n] = np.tri(n, dtype=bool)
        positions[start : start + n] = range(n)
        start += n
    return positions, mask


# %% 20.packed | wrong | tells examples apart by their length (two examples of equal length see each other) | names=examples-known-by-length
def packed(lengths):
    lengths = np.asarray(lengths)
    positions = np.concatenate([np.arange(n) for n in lengths])
    own = np.repeat(lengths, lengths)
    T = len(own)
    return positions, (own[:, None] == own[None, :]) & np.tril(np.ones((T, T), dtype=bool))


# %% 20.packed | wrong | causality from the positions inside the examples instead of places in the row: no example is kept apart
def packed(lengths):
    positions = np.concatenate([np.arange(n) for n in lengths])
    T = len(positions)
    may = (positions[None, :] <= positions[:, None]) & (np.arange(T)[None, :] <= np.arange(T)[:, None])
    return positions, may


# %% 20.paired | right | counts how often each problem was drawn, and one matrix product
def paired_interval(first, second, draws):
    d = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    counts = np.stack([np.bincount(row, minlength=len(d)) for row in np.asarray(draws)])
    low, high = np.quantile(counts @ d / len(d), [0.025, 1 - 0.025])
    return np.array([d.mean(), low, high])


# %% 20.paired | wrong | the first number is the mean of the resampled means | names=mean-of-resamples-first
def paired_interval(first, second, draws):
    means = (second[draws] - first[draws]).mean(axis=1)
    return np.array([means.mean(), np.quantile(means, 0.025), np.quantile(means, 0.975)])


# %% 20.paired | wrong | each model gets its own interval, and their ends are subtracted (right where one model's scores are all equal) | names=intervals-subtracted
def paired_interval(first, second, draws):
    a, b = first[draws].mean(axis=1), second[draws].mean(axis=1)
    lo = np.quantile(b, 0.025) - np.quantile(a, 0.975)
    hi = np.quantile(b, 0.975) - np.quantile(a, 0.025)
    return np.array([np.mean(second - first), lo, hi])


# %% 20.pass-at-k | right | a product of k factors, the chance that one draw after the other fails
def pass_at_k(n, c, k):
    scores = []
    for right in np.asarray(c):
        wrong, fails = n - int(right), 1.0
        for i in range(k):
            fails *= max(wrong - i, 0) / (n - i)
        scores.append(1.0 - fails)
    return math.fsum(scores) / len(scores)


# %% 20.pass-at-k | wrong | 1 - (1 - c / n)^k, the draws with replacement | names=with-replacement
def pass_at_k(n, c, k):
    c = np.asarray(c)
    return float(np.mean(1 - (1 - c / n) ** k))


# %% 20.pass-at-k | wrong | products of whole numbers in int64 (overflow for n = 200) | names=subsets-in-int64
def pass_at_k(n, c, k):
    c = np.asarray(c)
    out = []
    for ci in c:
        if n - ci < k:
            out.append(1.0)
            continue
        top = np.prod(np.arange(n - ci - k + 1, n - ci + 1, dtype=np.int64))
        bottom = np.prod(np.arange(n - k + 1, n + 1, dtype=np.int64))
        out.append(1 - top / bottom)
    return float(np.mean(out))


# %% 20.reward | right | everything by logaddexp: the gradient is the exponential of a log-probability
def reward_loss(chosen, rejected):
    d = np.asarray(chosen, dtype=np.float64) - np.asarray(rejected, dtype=np.float64)
    return float(np.logaddexp(0.0, -d).mean()), -np.exp(-np.logaddexp(0.0, d)) / d.size


# %% 20.reward | wrong | the gradient of each pair's own loss, not divided by the number of pairs (right for a single pair) | names=gradient-of-sum
def reward_loss(chosen, rejected):
    d = chosen - rejected
    loss = np.maximum(-d, 0) + np.log1p(np.exp(-np.abs(d)))
    e = np.exp(-np.abs(d))
    grad = -np.where(d >= 0, e, 1.0) / (1 + e)
    return loss.mean(), grad


# %% 20.reward | wrong | differences are clipped to 500 against overflow, so a pair at -2000 costs 500 | names=difference-clipped-far
def reward_loss(chosen, rejected):
    d = np.clip(chosen - rejected, -500, 500)
    sig = 1 / (1 + np.exp(-d))
    return -np.log(sig).mean(), -(1 - sig) / len(d)


# %% 20.sft-loss | right | logaddexp.reduce over the vocabulary, only at labelled positions
def sft_loss(logits, labels):
    rows = np.asarray(labels) != -100
    picked = np.asarray(logits, dtype=np.float64)[rows]
    ids = np.asarray(labels)[rows]
    total = np.logaddexp.reduce(picked, axis=-1)
    return float((total - np.take_along_axis(picked, ids[:, None], axis=1)[:, 0]).mean())


# %% 20.sft-loss | wrong | the mean of the rows' means, rows without labels left out | names=mean-of-means
def sft_loss(logits, labels):
    logits = np.asarray(logits, dtype=float)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    logp = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    losses = []
    for b in range(len(labels)):
        at = np.flatnonzero(labels[b] != -100)
        if len(at):
            losses.append(-logp[b, at, labels[b][at]].mean())
    return np.mean(losses)


# %% 20.sft-loss | wrong | subtracts one maximum of the whole batch (infinite where a position's logits lie thousands below it) | names=one-max-for-all
def sft_loss(logits, labels):
    x = np.asarray(logits, dtype=float)
    x = x - x.max()
    p = np.exp(x)
    logp = x - np.log(p.sum(-1, keepdims=True))
    keep = labels != -100
    safe = np.where(keep, labels, 0)
    nll = -np.take_along_axis(logp, safe[..., None], axis=-1)[..., 0]
    return nll[keep].mean()


# %% 20.template | wrong | no generation prompt behind a message of the assistant
def chat_text(messages, add_generation_prompt):
    text = ""
    for m in messages:
        text += f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n"
    if add_generation_prompt and (not messages or messages[-1]["role"] != "assistant"):
        text += "<|im_start|>assistant\n"
    return text


# %% 20.template | wrong | returns the empty text at once where there is no message (no messages, with a generation prompt)
def chat_text(messages, add_generation_prompt):
    if not messages:
        return ""
    parts = ["<|im_start|>" + m["role"] + "\n" + m["content"] + "<|im_end|>\n" for m in messages]
    if add_generation_prompt:
        parts.append("<|im_start|>assistant\n")
    return "".join(parts)


# %% 20.template | right | lines are collected, and joined by an empty one at the end
def chat_text(messages, add_generation_prompt):
    lines = []
    for message in messages:
        lines.append("<|im_start|>" + message["role"])
        lines.append(message["content"] + "<|im_end|>")
    if add_generation_prompt:
        lines.append("<|im_start|>assistant")
    return "\n".join(lines + [""])
