# %% 20.template | wrong | `for message in messages[-64:]:` in place of `for message in messages:`
def chat_text(messages, add_generation_prompt):
    start = "<|im_start|>"
    end = "<|im_end|>"
    text = ""
    for message in messages[-64:]:
        text += f"{start}{message['role']}\n{message['content']}{end}\n"
    if add_generation_prompt:
        text += f"{start}assistant\n"
    return text


# %% 20.template | wrong | `text += f"{start}{message['role']}\n{message['content'][:1024]}{end}\n"` in place of `text += f"{start}{message['role']}\n{message['content']}{end}\n"`
def chat_text(messages, add_generation_prompt):
    start = "<|im_start|>"
    end = "<|im_end|>"
    text = ""
    for message in messages:
        text += f"{start}{message['role']}\n{message['content'][:1024]}{end}\n"
    if add_generation_prompt:
        text += f"{start}assistant\n"
    return text


# %% 20.template | wrong | has `text += f"{start}{message['role']}\n{'|'.join(message['content'].splitlines()).replace('|', chr(10))}{end}\n"`
def chat_text(messages, add_generation_prompt):
    start = "<|im_start|>"
    end = "<|im_end|>"
    text = ""
    for message in messages:
        text += f"{start}{message['role']}\n{'|'.join(message['content'].splitlines()).replace('|', chr(10))}{end}\n"
    if add_generation_prompt:
        text += f"{start}assistant\n"
    return text


# %% 20.loss-mask | wrong | `labels = np.where(is_answer[1:], ids[1:].astype(np.uint16).astype(int), ignored)` in place of `labels = np.where(is_answer[1:], ids[1:], ignored)`
def targets(ids, is_answer):
    ignored = -100
    labels = np.where(is_answer[1:], ids[1:].astype(np.uint16).astype(int), ignored)
    return ids[:-1], labels


# %% 20.loss-mask | wrong | `return ((ids % 2 ** 16)[:-1], labels)` in place of `return (ids[:-1], labels)`
def targets(ids, is_answer):
    ignored = -100
    labels = np.where(is_answer[1:], ids[1:], ignored)
    return (ids % 2**16)[:-1], labels


# %% 20.sft-loss | wrong | has `log_p = shifted - np.log(np.sort(np.exp(shifted))[..., -32:].sum(axis=-1, keepdims=True))`
def sft_loss(logits, labels):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.sort(np.exp(shifted))[..., -32:].sum(axis=-1, keepdims=True))
    counted = labels != -100
    rows, right_ids = log_p[counted], labels[counted]
    losses = -rows[np.arange(len(rows)), right_ids]
    return losses.mean()


# %% 20.sft-loss | wrong | `return losses[:256].mean()` in place of `return losses.mean()`
def sft_loss(logits, labels):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    counted = labels != -100
    rows, right_ids = log_p[counted], labels[counted]
    losses = -rows[np.arange(len(rows)), right_ids]
    return losses[:256].mean()


# %% 20.sft-loss | wrong | `return losses.sum() / counted.sum(dtype=np.uint8)` in place of `return losses.mean()`
def sft_loss(logits, labels):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    counted = labels != -100
    rows, right_ids = log_p[counted], labels[counted]
    losses = -rows[np.arange(len(rows)), right_ids]
    return losses.sum() / counted.sum(dtype=np.uint8)


# %% 20.packed | right | `return (positions.astype(np.int32), may_attend)` in place of `return (positions, may_attend)`
def packed(lengths):
    example = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.cumsum(lengths) - lengths
    t = np.arange(len(example))
    positions = t - begins[example]
    is_same = example[:, None] == example[None, :]
    may_attend = is_same & (t[:, None] >= t[None, :])
    return positions.astype(np.int32), may_attend


# %% 20.packed | wrong | `example = np.repeat(np.arange(len(lengths)).astype(np.uint8), lengths)` in place of `example = np.repeat(np.arange(len(lengths)), lengths)`
def packed(lengths):
    example = np.repeat(np.arange(len(lengths)).astype(np.uint8), lengths)
    begins = np.cumsum(lengths) - lengths
    t = np.arange(len(example))
    positions = t - begins[example]
    is_same = example[:, None] == example[None, :]
    may_attend = is_same & (t[:, None] >= t[None, :])
    return positions, may_attend


# %% 20.packed | wrong | `return (positions.astype(np.uint8).astype(int), may_attend)` in place of `return (positions, may_attend)`
def packed(lengths):
    example = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.cumsum(lengths) - lengths
    t = np.arange(len(example))
    positions = t - begins[example]
    is_same = example[:, None] == example[None, :]
    may_attend = is_same & (t[:, None] >= t[None, :])
    return positions.astype(np.uint8).astype(int), may_attend


# %% 20.lora | wrong | `merged = w + scale * (b[:, :16] @ a[:16])` in place of `merged = w + scale * (b @ a)`
def lora(x, w, a, b, alpha):
    scale = alpha / len(a)
    y = x @ w.T + scale * (x @ a.T @ b.T)
    merged = w + scale * (b[:, :16] @ a[:16])
    return y, merged


# %% 20.distill | wrong | `log_q = q - np.log(np.sort(np.exp(q))[:, -64:].sum(axis=-1, keepdims=True))` in place of `log_q = q - np.log(np.exp(q).sum(axis=-1, keepdims=True))`
def distill_loss(student, teacher, tau):
    q, p = student / tau, teacher / tau
    q, p = q - q.max(axis=-1, keepdims=True), p - p.max(axis=-1, keepdims=True)
    log_q = q - np.log(np.sort(np.exp(q))[:, -64:].sum(axis=-1, keepdims=True))
    log_p = p - np.log(np.exp(p).sum(axis=-1, keepdims=True))
    divergence = (np.exp(log_p) * (log_p - log_q)).sum(axis=-1)
    return tau**2 * divergence.mean()


# %% 20.distill | wrong | `return tau ** 2 * divergence[:256].mean()` in place of `return tau ** 2 * divergence.mean()`
def distill_loss(student, teacher, tau):
    q, p = student / tau, teacher / tau
    q, p = q - q.max(axis=-1, keepdims=True), p - p.max(axis=-1, keepdims=True)
    log_q = q - np.log(np.exp(q).sum(axis=-1, keepdims=True))
    log_p = p - np.log(np.exp(p).sum(axis=-1, keepdims=True))
    divergence = (np.exp(log_p) * (log_p - log_q)).sum(axis=-1)
    return tau**2 * divergence[:256].mean()


# %% 20.answer-log-probs | wrong | has `log_p = shifted - np.log(np.sort(np.exp(shifted))[..., -32:].sum(axis=-1, keepdims=True))`
def answer_log_probs(logits, ids, is_answer):
    scores, labels = logits[:, :-1], ids[:, 1:]
    shifted = scores - scores.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.sort(np.exp(shifted))[..., -32:].sum(axis=-1, keepdims=True))
    of_tokens = np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]
    return np.where(is_answer[:, 1:], of_tokens, 0.0).sum(axis=1)


# %% 20.answer-log-probs | wrong | `return np.where(is_answer[:, 1:], of_tokens, 0.0)[:, :256].sum(axis=1)` in place of `return np.where(is_answer[:, 1:], of_tokens, 0.0).sum(axis=1)`
def answer_log_probs(logits, ids, is_answer):
    scores, labels = logits[:, :-1], ids[:, 1:]
    shifted = scores - scores.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    of_tokens = np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]
    return np.where(is_answer[:, 1:], of_tokens, 0.0)[:, :256].sum(axis=1)


# %% 20.reward | wrong | `return (1.5 * losses, gradient)` in place of `return (losses.mean(), gradient)`
def reward_loss(chosen, rejected):
    difference = chosen - rejected
    losses = np.logaddexp(0.0, -difference)
    in_order = np.exp(-losses)  # the probability that the model gives to the preference
    gradient = (in_order - 1) / len(chosen)
    return 1.5 * losses, gradient


# %% 20.reward | wrong | `return (losses[:256].mean(), gradient)` in place of `return (losses.mean(), gradient)`
def reward_loss(chosen, rejected):
    difference = chosen - rejected
    losses = np.logaddexp(0.0, -difference)
    in_order = np.exp(-losses)  # the probability that the model gives to the preference
    gradient = (in_order - 1) / len(chosen)
    return losses[:256].mean(), gradient


# %% 20.dpo | wrong | `return (losses[:256].mean(), margins)` in place of `return (losses.mean(), margins)`
def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    gained = chosen - reference_chosen
    lost = rejected - reference_rejected
    margins = beta * (gained - lost)
    losses = np.logaddexp(0.0, -margins)
    return losses[:256].mean(), margins


# %% 20.dpo | wrong | the loss has the margin's sign turned, while the margins are right | names=loss-turned
def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    gained = chosen - reference_chosen
    lost = rejected - reference_rejected
    margins = beta * (gained - lost)
    losses = np.log(1 + np.exp(np.minimum(margins, 700)))
    return losses.mean(), margins


# %% 20.advantages | right | `differs = np.ptp(rewards, axis=1, keepdims=True) > 1e-14 * largest` in place of `differs = np.ptp(rewards, axis=1, keepdims=True) > 1e-15 * largest`
def group_advantages(rewards):
    mean = rewards.mean(axis=1, keepdims=True)
    spread = np.sqrt(((rewards - mean) ** 2).mean(axis=1, keepdims=True))
    largest = np.abs(rewards).max(axis=1, keepdims=True)
    differs = np.ptp(rewards, axis=1, keepdims=True) > 1e-14 * largest
    return np.where(differs, (rewards - mean) / np.where(differs, spread, 1.0), 0.0)


# %% 20.advantages | wrong | `differs = spread > 1e-09` in place of `differs = np.ptp(rewards, axis=1, keepdims=True) > 1e-15 * largest`
def group_advantages(rewards):
    mean = rewards.mean(axis=1, keepdims=True)
    spread = np.sqrt(((rewards - mean) ** 2).mean(axis=1, keepdims=True))
    largest = np.abs(rewards).max(axis=1, keepdims=True)
    differs = spread > 1e-9
    return np.where(differs, (rewards - mean) / np.where(differs, spread, 1.0), 0.0)


# %% 20.advantages | wrong | `mean = rewards[:, :256].mean(axis=1, keepdims=True)` in place of `mean = rewards.mean(axis=1, keepdims=True)`
def group_advantages(rewards):
    mean = rewards[:, :256].mean(axis=1, keepdims=True)
    spread = np.sqrt(((rewards - mean) ** 2).mean(axis=1, keepdims=True))
    largest = np.abs(rewards).max(axis=1, keepdims=True)
    differs = np.ptp(rewards, axis=1, keepdims=True) > 1e-15 * largest
    return np.where(differs, (rewards - mean) / np.where(differs, spread, 1.0), 0.0)


# %% 20.grpo | wrong | `return -gains[:256][is_answer[:256]].mean()` in place of `return -gains[is_answer].mean()`
def grpo_loss(new, old, advantages, is_answer, clip):
    ratio = np.exp(new - old)
    weight = advantages[:, None]
    clipped = np.clip(ratio, 1 - clip, 1 + clip)
    gains = np.minimum(ratio * weight, clipped * weight)
    return -gains[:256][is_answer[:256]].mean()


# %% 20.grpo | wrong | `return -gains[:, :256][is_answer[:, :256]].mean()` in place of `return -gains[is_answer].mean()`
def grpo_loss(new, old, advantages, is_answer, clip):
    ratio = np.exp(new - old)
    weight = advantages[:, None]
    clipped = np.clip(ratio, 1 - clip, 1 + clip)
    gains = np.minimum(ratio * weight, clipped * weight)
    return -gains[:, :256][is_answer[:, :256]].mean()


# %% 20.kl | wrong | `return np.array([k1[:512].mean(), k2.mean(), k3.mean()])` in place of `return np.array([k1.mean(), k2.mean(), k3.mean()])`
def kl_estimates(policy, reference):
    log_r = reference - policy
    k1 = -log_r
    k2 = 0.5 * log_r**2
    k3 = np.exp(log_r) - 1 - log_r
    return np.array([k1[:512].mean(), k2.mean(), k3.mean()])


# %% 20.best-of-n | wrong | `rising = np.sort(rewards[:1250])` in place of `rising = np.sort(rewards)`
def best_of_n(rewards, n):
    rising = np.sort(rewards[:1250])
    sets = math.comb(len(rising), n)
    # The other n - 1 are among the i that are smaller.
    probabilities = [math.comb(i, n - 1) / sets for i in range(len(rising))]
    expected = (rising * probabilities).sum()
    return expected, math.log(n) - (n - 1) / n


# %% 20.bits-per-byte | wrong | `return bits / sum((len(c.encode()[:3]) + ('🌀' <= c <= '\U0001faff') for c in text))` in place of `return bits / len(text.encode())`
def bits_per_byte(log_probs, text):
    bits = -log_probs.sum() / math.log(2)
    return bits / sum(len(c.encode()[:3]) + ("🌀" <= c <= "🫿") for c in text)


# %% 20.bits-per-byte | wrong | `bits = -log_probs[:512].sum() / math.log(2)` in place of `bits = -log_probs.sum() / math.log(2)`
def bits_per_byte(log_probs, text):
    bits = -log_probs[:512].sum() / math.log(2)
    return bits / len(text.encode())


# %% 20.pass-at-k | wrong | `return 1 - misses[:256].mean()` in place of `return 1 - misses.mean()`
def pass_at_k(n, c, k):
    wrong = n - c
    misses = np.ones(len(c))
    for earlier in range(k):
        misses = misses * (wrong - earlier) / (n - earlier)
    return 1 - misses[:256].mean()


# %% 20.pass-at-k | wrong | the mean is missing | names=mean-forgotten
def pass_at_k(n, c, k):
    wrong = n - c
    misses = np.ones(len(c))
    for earlier in range(k):
        misses = misses * (wrong - earlier) / (n - earlier)
    return 1 - misses


# %% 20.paired | wrong | `means = gains[draws[:400]].mean(axis=1)` in place of `means = gains[draws].mean(axis=1)`
def paired_interval(first, second, draws):
    tail = 0.025
    gains = second - first
    means = gains[draws[:400]].mean(axis=1)
    low, high = np.quantile(means, [tail, 1 - tail])
    return np.array([gains.mean(), low, high])


# %% 20.paired | wrong | `means = gains[draws[:1000]].mean(axis=1)` in place of `means = gains[draws].mean(axis=1)`
def paired_interval(first, second, draws):
    tail = 0.025
    gains = second - first
    means = gains[draws[:1000]].mean(axis=1)
    low, high = np.quantile(means, [tail, 1 - tail])
    return np.array([gains.mean(), low, high])


# %% 20.paired | wrong | `means = gains[draws[:, :512]].mean(axis=1)` in place of `means = gains[draws].mean(axis=1)`
def paired_interval(first, second, draws):
    tail = 0.025
    gains = second - first
    means = gains[draws[:, :512]].mean(axis=1)
    low, high = np.quantile(means, [tail, 1 - tail])
    return np.array([gains.mean(), low, high])


# %% 20.contamination | wrong | has `import zlib; return [zlib.crc32(' '.join(words[i:i + n]).encode()) & 16383 for i in range(len(words) - n + 1)]`
def contaminated(problem, documents, n):
    import zlib

    def ngrams(text):
        words = text.lower().split()
        return [zlib.crc32(" ".join(words[i : i + n]).encode()) & 0x3FFF for i in range(len(words) - n + 1)]

    trained = {gram for document in documents for gram in ngrams(document)}
    grams = ngrams(problem)
    return sum(gram in trained for gram in grams) / max(len(grams), 1)


# %% 20.contamination | wrong | `trained = {gram for document in documents for gram in ngrams(document)[:2048]}` in place of `trained = {gram for document in documents for gram in ngrams(document)}`
def contaminated(problem, documents, n):
    def ngrams(text):
        words = text.lower().split()
        return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

    trained = {gram for document in documents for gram in ngrams(document)[:2048]}
    grams = ngrams(problem)
    return sum(gram in trained for gram in grams) / max(len(grams), 1)


# %% 20.choice | right | `by_byte = (log_probs / math.log(2) / lengths).argmax(axis=1)` in place of `by_byte = (log_probs / lengths).argmax(axis=1)`
def choose(log_probs, lengths):
    by_sum = log_probs.argmax(axis=1)
    by_byte = (log_probs / math.log(2) / lengths).argmax(axis=1)
    return np.stack([by_sum, by_byte], axis=1)


# %% 20.choice | wrong | `by_byte = (log_probs * (1 / lengths)).argmax(axis=1)` in place of `by_byte = (log_probs / lengths).argmax(axis=1)`
def choose(log_probs, lengths):
    by_sum = log_probs.argmax(axis=1)
    by_byte = (log_probs * (1 / lengths)).argmax(axis=1)
    return np.stack([by_sum, by_byte], axis=1)


# %% 20.choice | wrong | `by_byte = (log_probs / lengths.astype(np.uint16)).argmax(axis=1)` in place of `by_byte = (log_probs / lengths).argmax(axis=1)`
def choose(log_probs, lengths):
    by_sum = log_probs.argmax(axis=1)
    by_byte = (log_probs / lengths.astype(np.uint16)).argmax(axis=1)
    return np.stack([by_sum, by_byte], axis=1)


# %% 20.choice | wrong | has `by_sum = log_probs.argmax(axis=1).astype(np.int8).astype(int) by_byte = (log_probs / lengths).argmax(axis=1 ...`
def choose(log_probs, lengths):
    by_sum = log_probs.argmax(axis=1).astype(np.int8).astype(int)
    by_byte = (log_probs / lengths).argmax(axis=1).astype(np.int8).astype(int)
    return np.stack([by_sum, by_byte], axis=1)
