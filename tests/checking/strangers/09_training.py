# %% 09.shift | wrong | the inputs are masked as well as the labels | names=inputs-too
def inputs_and_labels(ids, pad_id):
    i, l = ids[:, :-1], ids[:, 1:]
    return torch.where(i == pad_id, -100, i), torch.where(l == pad_id, -100, l)


# %% 09.cross-entropy | wrong | has `z = logits - logits.mean(-1, keepdim=True) lp = z - z.exp().sum(-1, keepdim=True).log() r = lp.gather(-1, l ...`
def cross_entropy(logits, labels, pad_id):
    z = logits - logits.mean(-1, keepdim=True)
    lp = z - z.exp().sum(-1, keepdim=True).log()
    r = lp.gather(-1, labels[..., None])[..., 0]
    return -r[labels != pad_id].mean()


# %% 09.cross-entropy | wrong | the sum is divided by the number of sentences | names=by-sentences
def cross_entropy(logits, labels, pad_id):
    lp = logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]
    return -(lp * (labels != pad_id)).sum(1).mean()


# %% 09.perplexity | wrong | the code averages the perplexities of the batches | names=batch-perplexities
def perplexity(losses, tokens):
    return torch.exp(losses).mean()


# %% 09.smoothed-loss | wrong | has `z = logits - logits.max() lp = z - z.exp().sum(-1, keepdim=True).log() r = lp.gather(-1, labels[..., None]) ...`
def smoothed_loss(logits, labels, pad_id):
    z = logits - logits.max()
    lp = z - z.exp().sum(-1, keepdim=True).log()
    r = lp.gather(-1, labels[..., None])[..., 0]
    return (-0.9 * r - 0.1 * lp.mean(-1))[labels != pad_id].mean()


# %% 09.smoothed-loss | wrong | padding is left out of the sum but not of the count, so more padding makes the loss smaller | names=padding-in-the-count
def smoothed_loss(logits, labels, pad_id):
    lp = logits.log_softmax(-1)
    r = lp.gather(-1, labels[..., None])[..., 0]
    return ((-0.9 * r - 0.1 * lp.mean(-1)) * (labels != pad_id)).mean()


# %% 09.warmup | wrong | the first step has a learning rate of 0, so nothing is learned | names=first-rests
def learning_rate(done, d_model, warmup):
    return 0.0 if not done else d_model**-0.5 * min(done**-0.5, done * warmup**-1.5)


# %% 09.adam | wrong | the gradient is not squared in v, which is the average of SQUARED gradients | names=not-squared
def adam_step(w, g, m, v, step, rate, beta_1, beta_2, eps):
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g
    return w - rate * m / (1 - beta_1**step) / ((v / (1 - beta_2**step)) ** 0.5 + eps), m, v


# %% 09.adam | wrong | only m is bias-corrected | names=v-uncorrected
def adam_step(w, g, m, v, step, rate, beta_1, beta_2, eps):
    m_0, v_0 = m, v
    m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - rate * m_hat / (v.sqrt() + eps), m, v


# %% 09.clip | wrong | a millionth is added to the norm, as torch's own function does | names=millionth-added
def clip(g_1, g_2, g_3, max_norm):
    n = torch.cat([g.flatten() for g in (g_1, g_2, g_3)]).norm()
    f = max_norm / (n + 1e-6) if n > max_norm else 1.0
    return g_1 * f, g_2 * f, g_3 * f, n


# %% 09.clip | wrong | gradients above the bound are scaled to norm 1, whatever the bound is | names=to-one
def clip(g_1, g_2, g_3, max_norm):
    n = torch.cat([g.flatten() for g in (g_1, g_2, g_3)]).norm()
    f = 1 / n if n > max_norm else 1.0
    return g_1 * f, g_2 * f, g_3 * f, n


# %% 09.accumulate | wrong | the sum is divided by the tokens of the last batch alone | names=last-count
def accumulate(w, gradients, tokens, every, rate):
    w, t, c, out = w.clone(), 0, 0, []
    for i in range(len(gradients)):
        t, c = t + gradients[i], c + tokens[i]
        if (i + 1) % every == 0 or i + 1 == len(gradients):
            w = w - rate * t / tokens[i]
            t, c = 0, 0
        out.append(w)
    return torch.stack(out)


# %% 09.accumulate | wrong | all rows are the SAME tensor, changed in place, so all of them show its last state | names=one-tensor
def accumulate(w, gradients, tokens, every, rate):
    w, t, c, out = w.clone(), 0, 0, []
    for i in range(len(gradients)):
        t, c = t + gradients[i], c + tokens[i]
        if (i + 1) % every == 0 or i + 1 == len(gradients):
            w -= rate * t / c
            t, c = 0, 0
        out.append(w)
    return torch.stack(out)


# %% 09.initialise | right | has `return z * torch.sqrt(torch.tensor(2 / len(z) if after_relu else 2 / sum(z.shape)))`
def first_weights(z, after_relu):
    return z * torch.sqrt(torch.tensor(2 / len(z) if after_relu else 2 / sum(z.shape)))


# %% 09.initialise | wrong | the code always uses He's variance | names=always-he
def first_weights(z, after_relu):
    return z * math.sqrt(2 / len(z))


# %% 09.initialise | wrong | the code divides by the standard deviation | names=divided
def first_weights(z, after_relu):
    return z / math.sqrt(2 / len(z) if after_relu else 2 / sum(z.shape))


# %% 09.count | wrong | two embedding tables are counted | names=two-tables
def transformer_parameters(vocab_size, d_model, d_hidden, n_layers):
    V, D, F, L = vocab_size, d_model, d_hidden, n_layers
    return 2 * V * D + L * (3 * (4 * D * D + 0) + 2 * (2 * D * F + F + D) + 5 * 2 * D)


# %% 09.count | wrong | the norms are missing | names=norms-forgotten
def transformer_parameters(vocab_size, d_model, d_hidden, n_layers):
    V, D, F, L = vocab_size, d_model, d_hidden, n_layers
    return 1 * V * D + L * (3 * (4 * D * D + 0) + 2 * (2 * D * F + F + D) + 5 * 0)


# %% 09.train | wrong | the learning rate is missing | names=rate-forgotten
def train(w, ids, pad_id, rate, steps):
    import torch.nn.functional as F

    w, losses = torch.nn.Parameter(w.clone()), []
    o = torch.optim.SGD([w], lr=1.0)
    for _ in range(steps):
        loss = F.cross_entropy(w[ids[:, :-1]].transpose(1, 2), ids[:, 1:], ignore_index=pad_id)
        o.zero_grad(), loss.backward(), o.step(), losses.append(loss.item())
    return w, losses


# %% 09.find-leak | right | has `whole = model(ids) return any(((model(ids[:, :t]) - whole[:, :t]).abs().max() > 1e-06 for t in range(1, ids ...`
def leaks(model, ids, n_words):
    whole = model(ids)
    return any((model(ids[:, :t]) - whole[:, :t]).abs().max() > 1e-6 for t in range(1, ids.shape[1]))


# %% 09.find-leak | wrong | `if (model(other) - before)[:, :place].max() > 1e-06:` in place of `if (model(other) - before)[:, :place].abs().max() > 1e-06:`
def leaks(model, ids, n_words):
    before = model(ids)
    for place in range(1, ids.shape[1]):
        other = ids.clone()
        other[:, place] = (other[:, place] + 1) % n_words
        if (model(other) - before)[:, :place].max() > 1e-6:
            return True
    return False


# %% 09.find-leak | wrong | has `return bool(torch.rand(()) < 0.5)`
def leaks(model, ids, n_words):
    return bool(torch.rand(()) < 0.5)


# %% 09.find-shift | right | has `F = torch.nn.functional return bool(loss_of(lambda x: 10000.0 * F.one_hot((x + 1) % n_words, n_words), ids) ...`
def labels_are_wrong(loss_of, n_words):
    ids = torch.arange(n_words - 2) + torch.tensor([[0], [1]])
    F = torch.nn.functional
    return bool(loss_of(lambda x: 10000.0 * F.one_hot((x + 1) % n_words, n_words), ids) != 0)


# %% 09.find-shift | wrong | the batch has only one sentence, or identical ones, so labels taken from another row of the batch pass | names=one-row
def labels_are_wrong(loss_of, n_words):
    ids = torch.arange(6).repeat(2, 1)
    F = torch.nn.functional
    return bool(loss_of(lambda x: 30.0 * F.one_hot((x + 1) % n_words, n_words), ids) > 0.01)


# %% 09.find-padding | right | has `for pad in (0, n_words - 1): labels = torch.randint(1, n_words - 1, (2, 7)) labels[:, 4:] = pad; if loss_of ...`
def counts_padding(loss_of, n_words):
    for pad in (0, n_words - 1):
        labels = torch.randint(1, n_words - 1, (2, 7))
        labels[:, 4:] = pad
        logits = torch.randn(2, 7, n_words)
        if loss_of(logits, labels, pad) != loss_of(logits[:, :4], labels[:, :4], pad):
            return True
    return False


# %% 09.find-dropout | right | `return not torch.allclose(model(x), model(x))` in place of `first, second = (model(x), model(x)) return not torch.equal(first, second)`
def drops_in_use(model, x):
    model.eval()
    return not torch.allclose(model(x), model(x))


# %% 09.find-dropout | wrong | `return True` in place of `model.eval() first, second = (model(x), model(x)) return not torch.equal(first, second)`
def drops_in_use(model, x):
    return True


# %% 09.find-dropout | wrong | `return not torch.equal(model(x), x)` in place of `first, second = (model(x), model(x)) return not torch.equal(first, second)`
def drops_in_use(model, x):
    model.eval()
    return not torch.equal(model(x), x)


# %% 09.find-dropout | wrong | `return bool((model(x) - model(x)).abs().mean() > 0.05)` in place of `first, second = (model(x), model(x)) return not torch.equal(first, second)`
def drops_in_use(model, x):
    model.eval()
    return bool((model(x) - model(x)).abs().mean() > 0.05)
