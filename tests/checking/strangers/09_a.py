# %% 09.accumulate | wrong | mean of the batches' means | variant=2, names=mean-of-means
def accumulate(w, every, tokens, gradients, rate):
    M = len(tokens)
    means = (gradients / tokens).T
    rows = []
    for start in range(0, M, every):
        group = means[start : start + every]
        rows.extend([w] * (len(group) - 1))
        w = w - rate * group.mean(0)
        rows.append(w)
    return torch.stack(rows)


# %% 09.accumulate | wrong | batches left over at the end make no step | variant=2, names=rest-dropped
def accumulate(w, every, tokens, gradients, rate):
    total, count, rows = torch.zeros_like(w), 0, []
    for i, g in enumerate(gradients.unbind(-1)):
        total, count = total + g, count + tokens[i]
        if (i + 1) % every == 0:
            w = w - rate * total / count
            total, count = torch.zeros_like(w), 0
        rows.append(w)
    return torch.stack(rows)


# %% 09.accumulate | right | no loop over batches: products with the group matrix, then a cumulative sum of the steps | variant=2
def accumulate(w, every, tokens, gradients, rate):
    M = gradients.shape[-1]
    group = torch.arange(M) // every
    member = (group[:, None] == torch.arange(int(group[-1]) + 1)).to(gradients.dtype)
    sums = member.T @ gradients.T
    counts = member.T @ tokens.to(gradients.dtype)
    steps = rate * sums / counts[:, None]
    last = torch.ones(M, dtype=torch.bool)
    last[:-1] = group[1:] != group[:-1]
    made = torch.where(last[:, None], steps[group], torch.zeros_like(steps[group]))
    return w - made.cumsum(0)


# %% 09.adam | wrong | eps is added to the root of the uncorrected v, and the corrections go into the rate (another eps; seen where eps is large) | variant=8, names=eps-uncorrected
def adam_step(step, g, m, v, w, rate, beta_1, beta_2, eps):
    m_new = beta_1 * m + (1 - beta_1) * g
    v_new = beta_2 * v + (1 - beta_2) * g * g
    rate_t = rate * math.sqrt(1 - beta_2**step) / (1 - beta_1**step)
    w_new = w - rate_t * m_new / (v_new.sqrt() + eps)
    return w_new, v_new, m_new


# %% 09.adam | wrong | updates m and v in place, so the caller's averages change | variant=8, names=inputs-changed
def adam_step(step, g, m, v, w, rate, beta_1, beta_2, eps):
    m.mul_(beta_1).add_(g, alpha=1 - beta_1)
    v.mul_(beta_2).addcmul_(g, g, value=1 - beta_2)
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - rate * m_hat / (v_hat.sqrt() + eps), v, m


# %% 09.adam | right | both averages stacked in one tensor and updated together, in float64 | variant=8
def adam_step(step, g, m, v, w, rate, beta_1, beta_2, eps):
    g64 = g.double()
    shape = (2,) + (1,) * g.dim()
    beta = torch.tensor([beta_1, beta_2], dtype=torch.float64).view(shape)
    old, seen = torch.stack([m, v]).double(), torch.stack([g64, g64.square()])
    new = seen + beta * (old - seen)
    m_hat, v_hat = new / (1 - beta**step)
    moved = w.double() - rate * m_hat / (v_hat.sqrt() + eps)
    return moved.to(w.dtype), new[1].to(v.dtype), new[0].to(m.dtype)


# %% 09.bytes | wrong | only the states are counted for the 7 replicas | variant=4
def training_bytes(activations, parameters, recipe):
    states = 16 * parameters
    per_activation = 4 if recipe == "float32" else 2
    return 7 * states, per_activation * activations


# %% 09.bytes | wrong | autocast counted with the half-precision copies of the weights, 18 bytes | variant=4, names=copies-counted
def training_bytes(activations, parameters, recipe):
    per_parameter = {"float32": 4 + 4 + 8, "autocast": 4 + 4 + 8 + 2, "master": 2 + 2 + 8 + 4}[recipe]
    per_activation = {"float32": 4, "autocast": 2, "master": 2}[recipe]
    return 7 * per_parameter * parameters, 7 * per_activation * activations


# %% 09.bytes | right | a list of (float32 numbers, half-precision numbers) per recipe, times the bytes of each | variant=4
def training_bytes(activations, parameters, recipe):
    full, half = {"float32": (4, 0), "autocast": (4, 0), "master": (3, 2)}[recipe]
    states = sum(full * [4] + half * [2]) * parameters
    size = torch.finfo(torch.float32 if recipe == "float32" else torch.bfloat16).bits // 8
    return states * 7, size * activations * 7


# %% 09.clip | wrong | each gradient by its own norm | names=each-alone
def clip(g_1, g_2, g_3, max_norm):
    norms = [g.norm() for g in (g_1, g_2, g_3)]
    clipped = [g * min(1.0, max_norm / n) if n > 0 else g for g, n in zip((g_1, g_2, g_3), norms)]
    return *clipped, torch.stack(norms).norm()


# %% 09.clip | wrong | adds 1e-6 to the norm as torch does; wrong where norm and max_norm are about a millionth | names=millionth-added
def clip(g_1, g_2, g_3, max_norm):
    norm = torch.sqrt(sum((g**2).sum() for g in (g_1, g_2, g_3)))
    factor = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
    return g_1 * factor, g_2 * factor, g_3 * factor, norm


# %% 09.clip | right | hypot of the three norms; divides by the larger of 1 and norm / max_norm
def clip(g_1, g_2, g_3, max_norm):
    a, b, c = (torch.linalg.vector_norm(g) for g in (g_1, g_2, g_3))
    norm = torch.hypot(torch.hypot(a, b), c)
    if not norm > max_norm:
        return g_1, g_2, g_3, norm
    shrink = norm / max_norm
    return g_1 / shrink, g_2 / shrink, g_3 / shrink, norm


# %% 09.count | wrong | the feed-forward network's biases are counted as 2 D, not F + D (the same where F = D) | variant=7, names=inner-bias-of-the-width
def transformer_parameters(n_layers, d_model, d_hidden, vocab_size):
    attention = 4 * d_model**2
    mlp = 2 * d_model * d_hidden + 2 * d_model
    norm = 2 * d_model
    encoder = attention + mlp + 2 * norm
    decoder = 2 * attention + mlp + 3 * norm
    return 7 * (n_layers * (encoder + decoder) + vocab_size * d_model)


# %% 09.count | wrong | a separate embedding table for source and target | variant=7, names=two-tables
def transformer_parameters(n_layers, d_model, d_hidden, vocab_size):
    D, F = d_model, d_hidden
    layer_pair = 12 * D * D + 2 * (2 * D * F + F + D) + 5 * 2 * D
    return 7 * (n_layers * layer_pair + 2 * vocab_size * D)


# %% 09.count | right | lists the shapes of all parameters and adds up their products | variant=7
def transformer_parameters(n_layers, d_model, d_hidden, vocab_size):
    D, F = d_model, d_hidden
    attention, norm = 4 * [(D, D)], 2 * [(D,)]
    mlp = [(D, F), (F,), (F, D), (D,)]
    encoder = attention + norm + mlp + norm
    decoder = attention + norm + attention + norm + mlp + norm
    shapes = [(vocab_size, D)] + n_layers * (encoder + decoder)
    return sum(math.prod(shape) for shape in shapes) * 7


# %% 09.cross-entropy | wrong | mean of the sentences' means, in which a short sentence weighs as much as a long one | names=mean-of-means
def cross_entropy(logits, labels, pad_id):
    log_p = logits.log_softmax(-1)
    losses = -log_p.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    real = (labels != pad_id).float()
    return ((losses * real).sum(1) / real.sum(1)).mean()


# %% 09.cross-entropy | wrong | softmax, then a logarithm guarded by 1e-9: no loss is above 20.7 | names=small-number-added
def cross_entropy(logits, labels, pad_id):
    p = logits.softmax(dim=-1)
    right = torch.gather(p, 2, labels[..., None])[..., 0]
    return -(right + 1e-9).log()[labels != pad_id].mean()


# %% 09.cross-entropy | right | one sentence after the other, in float64: logsumexp minus the right logit, sum and count kept in Python
def cross_entropy(logits, labels, pad_id):
    total, count = 0, 0
    for z, y in zip(logits.double(), labels):
        keep = torch.nonzero(y != pad_id).flatten()
        total = total + (z[keep].logsumexp(-1) - z[keep, y[keep]]).sum()
        count += len(keep)
    return (total / count).to(logits.dtype)


# %% 09.dropout | wrong | u equal to p is dropped as well (u = p = 0.5) | variant=8, names=bound-dropped
def dropout(p, training, x, u):
    if not training:
        return x
    keep = u.mT > p
    return torch.where(keep, x / (1 - p), torch.zeros_like(x))


# %% 09.dropout | wrong | no division by 1 - p | variant=8, names=not-scaled
def dropout(p, training, x, u):
    if not training:
        return x
    return x.masked_fill(u.transpose(-1, -2) < p, 0.0)


# %% 09.dropout | right | index arithmetic on the flat tensor: an empty tensor gets only the kept numbers by index_put | variant=8
def dropout(p, training, x, u):
    if not training:
        return x
    kept = torch.nonzero(torch.ge(u.mT, p), as_tuple=True)
    return torch.zeros_like(x).index_put(kept, x[kept] / (1 - p))


# %% 09.find-dropout | wrong | never switches to evaluation mode: a sound model that comes in training mode is accused | variant=2, names=left-as-it-is
def drops_in_use(x, model):
    return not torch.equal(model(x), model(x))


# %% 09.find-dropout | wrong | sets the seed before each pass "to be fair", so the same numbers are dropped both times | variant=2, names=never-alarmed
def drops_in_use(x, model):
    model.eval()
    outputs = []
    for _ in range(2):
        torch.manual_seed(0)
        outputs.append(model(x))
    return not torch.allclose(*outputs)


# %% 09.find-dropout | right | one pass as a yardstick, then up to a hundred others, on x and on numbers that are not zero | variant=2
def drops_in_use(x, model):
    model.eval()
    with torch.no_grad():
        for data in (x, torch.ones_like(x) + torch.rand_like(x)):
            first = model(data)
            if any((model(data) - first).abs().max() > 0 for _ in range(100)):
                return True
    return False


# %% 09.find-leak | wrong | changes the last token only; a leak between earlier tokens goes unnoticed | variant=2, names=last-token-alone
def leaks(n_words, model, ids):
    other = ids.clone()
    other[:, -1] = (other[:, -1] + 1) % n_words
    before, after = model(ids)[:, :-1], model(other)[:, :-1]
    return not torch.allclose(before, after, atol=1e-5)


# %% 09.find-leak | wrong | always writes token 0, so a batch of ids that are all 0 is never changed | variant=2, names=token-zero-written
def leaks(n_words, model, ids):
    base = model(ids)
    scale = 1e-5 * (1 + base.abs().max())
    for t in range(1, ids.shape[1]):
        other = ids.clone()
        other[:, t] = 0
        if (model(other)[:, :t] - base[:, :t]).abs().max() > scale:
            return True
    return False


# %% 09.find-leak | right | rewrites a random suffix at each cut, several draws, and asks for the largest move before the cut | variant=2
def leaks(n_words, model, ids):
    B, T = ids.shape
    draws = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for start in [ids] + [torch.randint(n_words, (B, T), generator=draws).to(ids) for _ in range(4)]:
            base = model(start)
            for cut in range(1, T):
                for last in (cut + 1, T):
                    shift = torch.randint(1, n_words, (B, last - cut), generator=draws).to(ids)
                    other = start.clone()
                    other[:, cut:last] = (other[:, cut:last] + shift) % n_words
                    moved = (model(other) - base)[:, :cut].abs().max()
                    if moved > 1e-5 * (1 + base[:, :cut].abs().max()):
                        return True
    return False


# %% 09.find-padding | wrong | only the logits at padding are changed: a mean that divides by the padding, too, goes unnoticed | variant=1, names=logits-alone
def counts_padding(n_words, loss_of):
    torch.manual_seed(1)
    for pad_id in range(n_words):
        labels = torch.tensor([[1, 2, 1, 2], [2, 1, 1, 2]]) + pad_id
        labels = labels % n_words
        labels[1, 2:] = pad_id
        logits = torch.randn(2, 4, n_words)
        other = logits.clone()
        other[1, 2:] = torch.randn(2, n_words)
        if not torch.isclose(loss_of(logits, labels, pad_id), loss_of(other, labels, pad_id), atol=1e-5):
            return True
    return False


# %% 09.find-padding | wrong | tries pad_id 0 only: a loss that always leaves out id 0, whatever pad_id is, passes | variant=1, names=pad-zero-alone
def counts_padding(n_words, loss_of):
    g = torch.Generator().manual_seed(0)
    labels = torch.randint(1, n_words, (2, 4), generator=g)
    logits = torch.randn(2, 4, n_words, generator=g)
    more_labels = torch.cat([labels, torch.zeros(2, 3, dtype=torch.long)], 1)
    more_logits = torch.cat([logits, 3 * torch.randn(2, 3, n_words, generator=g)], 1)
    return bool(abs(loss_of(logits, labels, 0) - loss_of(more_logits, more_labels, 0)) > 1e-4)


# %% 09.find-padding | wrong | all logits are zeros, so a mean that counts padding has the same loss log V | variant=1, names=equal-logits
def counts_padding(n_words, loss_of):
    pad_id = n_words - 1
    labels = torch.tensor([[0, 1, 0], [1, 0, 1]])
    short = torch.as_tensor(loss_of(torch.zeros(2, 3, n_words), labels, pad_id))
    padded = torch.cat([labels, torch.full((2, 2), pad_id)], dim=1)
    long = torch.as_tensor(loss_of(torch.zeros(2, 5, n_words), padded, pad_id))
    return not torch.allclose(short, long, atol=1e-5)


# %% 09.find-padding | right | every pad_id in turn; padding of three lengths with logits of two sizes must all give one loss | variant=1
def counts_padding(n_words, loss_of):
    draws = torch.Generator().manual_seed(3)
    for pad_id in range(n_words):
        words = torch.tensor([i for i in range(n_words) if i != pad_id])
        labels = words[torch.randint(len(words), (2, 4), generator=draws)]
        labels[1, 3] = pad_id
        logits = torch.randn(2, 4, n_words, generator=draws)
        seen = []
        for extra in (0, 1, 5):
            for size in (1.0, 10.0):
                z = torch.cat([logits, torch.zeros(2, extra, n_words)], 1)
                y = torch.cat([labels, torch.full((2, extra), pad_id)], 1)
                noise = size * torch.randn(z.shape, generator=draws)
                z = torch.where((y == pad_id)[..., None], noise, z)
                seen.append(float(loss_of(z, y, pad_id)))
        if not max(seen) - min(seen) < 1e-4 * (1 + abs(seen[0])):
            return True
    return False


# %% 09.find-shift | wrong | the rows 0 1 2 3 and 4 5 6 7 continue each other, so labels that run on into the next sentence pass | variant=1, names=rows-in-succession
def labels_are_wrong(n_words, loss_of):
    ids = torch.arange(8).reshape(2, 4)

    def oracle(inputs):
        following = (inputs + 1) % n_words
        return 100.0 * torch.nn.functional.one_hot(following, n_words).float()

    return bool(loss_of(oracle, ids) > 0.1)


# %% 09.find-shift | wrong | the model's logits are 0 and 1: even with right labels the loss is far from 0, so a sound piece is accused | variant=1, names=always-alarmed
def labels_are_wrong(n_words, loss_of):
    ids = torch.tensor([[1, 2, 3, 4], [3, 4, 5, 6]])

    def knows(inputs):
        logits = torch.zeros(*inputs.shape, n_words)
        return logits.scatter(-1, ((inputs + 1) % n_words).unsqueeze(-1), 1.0)

    return float(loss_of(knows, ids)) > 0.05


# %% 09.find-shift | right | a table of successors, learnt from rows that share no pair backwards, round the end or across rows | variant=1
def labels_are_wrong(n_words, loss_of):
    ids = torch.tensor([[0, 5, 2, 7, 3], [2, 7, 3, 1, 4]])
    table = torch.full((n_words, n_words), -200.0)
    for row in ids.tolist():
        for now, following in zip(row, row[1:]):
            table[now, following] = 200.0
    loss = torch.as_tensor(loss_of(lambda inputs: table[inputs], ids))
    return not bool(loss < 1e-3)


# %% 09.initialise | wrong | multiplies by the variance, not by its root | variant=4, names=variance-for-deviation
def first_weights(after_relu, z):
    n_in, n_out = z.shape
    variance = 2 / n_in if after_relu else 2 / (n_in + n_out)
    return z * variance


# %% 09.initialise | wrong | in and out mixed up, as in nn.Linear's (out, in) | variant=4, names=other-variant
def first_weights(after_relu, z):
    n_out, n_in = z.shape
    fan = n_in if after_relu else n_in + n_out
    return z * math.sqrt(2 / fan)


# %% 09.initialise | right | divides by the root of half the fan, which counts `out` not at all after a ReLU | variant=4
def first_weights(after_relu, z):
    fan = len(z) + (not after_relu) * z[0].numel()
    return z / (fan / 2) ** 0.5


# %% 09.perplexity | wrong | weighted mean of the batches' perplexities: the exponential comes first | variant=1, names=mean-of-perplexities
def perplexity(tokens, losses):
    return (tokens * losses.exp()).sum() / tokens.sum()


# %% 09.perplexity | wrong | product of all probabilities, which overflows for many tokens (10,000 tokens at a loss of 1 give inf) | variant=1, names=product-of-all
def perplexity(tokens, losses):
    inverse = torch.prod(torch.exp(losses) ** tokens)
    return inverse ** (1.0 / tokens.sum())


# %% 09.perplexity | right | geometric mean: the product of the batches' perplexities to the power of their shares | variant=1
def perplexity(tokens, losses):
    shares = tokens.double() / tokens.double().sum()
    return torch.pow(losses.double().exp(), shares).prod().to(losses.dtype)


# %% 09.shift | wrong | labels is a view, so writing -5 into it changes the caller's ids (and the inputs) | variant=4, names=inputs-changed
def inputs_and_labels(ids, pad_id):
    inputs, labels = ids[:, :-1], ids[:, 1:]
    labels[labels == pad_id] = -5
    return inputs, labels


# %% 09.shift | wrong | leaves out a label where the input is padding, not where the next id is: the end token is asked for padding | variant=4, names=mask-of-inputs
def inputs_and_labels(ids, pad_id):
    inputs = ids[:, :-1]
    labels = torch.where(inputs == pad_id, torch.full_like(inputs, -5), ids[:, 1:])
    return inputs, labels


# %% 09.shift | right | windows of two ids with unfold, then arithmetic with a mask of zeros and ones | variant=4
def inputs_and_labels(ids, pad_id):
    inputs, following = ids.unfold(1, 2, 1).unbind(-1)
    real = following.ne(pad_id).to(ids.dtype)
    return inputs.clone(), following * real - 5 * (1 - real)


# %% 09.smoothed-loss | wrong | spreads epsilon over the V - 1 wrong words alone | variant=3, names=others-alone
def smoothed_loss(logits, labels, pad_id):
    eps, V = 0.15, logits.shape[-1]
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, labels[..., None])[..., 0]
    wrong = (log_p.sum(-1) - right) / (V - 1)
    losses = -(1 - eps) * right - eps * wrong
    return losses[labels != pad_id].mean()


# %% 09.smoothed-loss | wrong | the even part is averaged over all positions, padding too; only the first part leaves padding out | variant=3, names=padding-in-the-smoothing
def smoothed_loss(logits, labels, pad_id):
    log_p = torch.log_softmax(logits, -1)
    plain = cross_entropy(logits, labels, pad_id)
    return 0.85 * plain - 0.15 * log_p.mean()


# %% 09.smoothed-loss | right | on logits, in float64: logsumexp minus the expected logit of the target, since the target sums to 1 | variant=3
def smoothed_loss(logits, labels, pad_id):
    real = labels != pad_id
    z, y = logits[real].double(), labels[real]
    V = z.shape[-1]
    q = torch.full_like(z, 0.15 / V)
    q.scatter_add_(1, y[:, None], torch.full_like(z[:, :1], 0.85))
    losses = torch.logsumexp(z, 1) - torch.einsum("nv,nv->n", q.detach(), z)
    return (losses.sum() / losses.numel()).to(logits.dtype)


# %% 09.train | wrong | the losses are those at the end of each step | names=loss-afterwards
def train(w, ids, pad_id, rate, steps):
    w = w.clone()
    inputs, labels = ids[:, :-1], ids[:, 1:]
    losses = []
    for _ in range(steps):
        w = w.detach().requires_grad_()
        loss = cross_entropy(w[inputs], labels, pad_id)
        (grad,) = torch.autograd.grad(loss, w)
        w = (w - rate * grad).detach()
        losses.append(cross_entropy(w[inputs], labels, pad_id))
    return w, torch.stack(losses)


# %% 09.train | wrong | gradients pile up, since they are never set to zero | names=never-cleared
def train(w, ids, pad_id, rate, steps):
    table = w.detach().clone().requires_grad_(True)
    losses = []
    for _ in range(steps):
        loss = cross_entropy(table[ids[:, :-1]], ids[:, 1:], pad_id)
        loss.backward()
        with torch.no_grad():
            table -= rate * table.grad
        losses.append(loss.item())
    return table.detach(), torch.tensor(losses, dtype=w.dtype)


# %% 09.train | right | no autograd: the counts of word pairs give loss and gradient
def train(w, ids, pad_id, rate, steps):
    V = w.shape[0]
    first, second = ids[:, :-1].reshape(-1).long(), ids[:, 1:].reshape(-1).long()
    real = second != pad_id
    pairs = torch.bincount(first[real] * V + second[real], minlength=V * V)
    share = pairs.view(V, V).to(w.dtype) / real.sum()
    table, losses = w.detach(), []
    for _ in range(steps):
        log_p = table.log_softmax(1)
        losses.append(-(share * log_p).sum())
        table = table - rate * (share.sum(1, keepdim=True) * log_p.exp() - share)
    return table, torch.stack(losses)


# %% 09.warmup | wrong | takes done for the step and only saves step 0 from the division by zero | variant=5, names=first-twice
def learning_rate(warmup, d_model, done):
    step = max(done, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
