# %% 90.loss | right | has `return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=eps)`
def translation_loss(logits, labels, pad_id, eps):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=eps)


# %% 90.loss | wrong | the code treats id 0 as padding | names=pad-is-zero
def translation_loss(logits, labels, pad_id, eps):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0, label_smoothing=eps)


# %% 90.loss | wrong | the right word gets only 1 - eps, so the target distribution does not sum to 1 | names=right-without-share
def translation_loss(logits, labels, pad_id, eps):
    v, real = logits.shape[-1], labels != pad_id
    wanted = F.one_hot(labels, v) * (1 - eps - eps / v) + eps / v
    each = -(wanted * logits.log_softmax(-1)).sum(-1)
    return each[real].mean()


# %% 90.train | right | has `adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-09); for i in range(len(rates ...`
def train_steps(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, source, target, rates, *weights):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for i in range(len(rates)):
        pass
        adam.param_groups[0]["lr"] = float(rates[i])
        rows = target[i]
        loss = translation_loss(model(source[i], rows[:, :-1]), rows[:, 1:], pad_id, 0.1)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return torch.tensor(losses), weights_of(model)


# %% 90.train | wrong | has `adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-09); for i in range(len(rates ...`
def train_steps(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, source, target, rates, *weights):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for i in range(len(rates)):
        pass
        adam.param_groups[0]["lr"] = float(rates[i])
        rows = target[i]
        loss = translation_loss(model(source[i], rows[:, :-1]), rows[:, 1:], 0, 0.1)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return torch.tensor(losses), weights_of(model)


# %% 90.train | wrong | each loss is computed after its step | names=loss-after-step
def train_steps(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, source, target, rates, *weights):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    adam = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for i in range(len(rates)):
        pass
        adam.param_groups[0]["lr"] = float(rates[i])
        rows = target[i]
        loss = translation_loss(model(source[i], rows[:, :-1]), rows[:, 1:], pad_id, 0.1)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(translation_loss(model(source[i], rows[:, :-1]), rows[:, 1:], pad_id, 0.1).item())
    return torch.tensor(losses), weights_of(model)


# %% 90.greedy | right | `best[ended] = pad_id` in place of `best = torch.where(ended, pad_id, best)`
def write_greedily(
    vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, start_id, end_id, longest, source, *weights
):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    written = torch.full((len(source), 1), start_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(longest):
            best = model(source, written)[:, -1].argmax(dim=-1)
            best[ended] = pad_id
            ended = ended | (best == end_id)
            written = torch.cat([written, best[:, None]], dim=1)
    return written[:, 1:]


# %% 90.greedy | wrong | `written = torch.full((len(source), 1), 1)` in place of `written = torch.full((len(source), 1), start_id)`
def write_greedily(
    vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, start_id, end_id, longest, source, *weights
):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    written = torch.full((len(source), 1), 1)
    ended = torch.zeros(len(source), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(longest):
            best = model(source, written)[:, -1].argmax(dim=-1)
            best = torch.where(ended, pad_id, best)
            ended = ended | (best == end_id)
            written = torch.cat([written, best[:, None]], dim=1)
    return written[:, 1:]


# %% 90.greedy | wrong | `ended = ended or (best == 2)` in place of `ended = ended or (best == end_id)`
def write_greedily(
    vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, start_id, end_id, longest, source, *weights
):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    written = torch.full((len(source), 1), start_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(longest):
            best = model(source, written)[:, -1].argmax(dim=-1)
            best = torch.where(ended, pad_id, best)
            ended = ended | (best == 2)
            written = torch.cat([written, best[:, None]], dim=1)
    return written[:, 1:]


# %% 90.greedy | wrong | `best = torch.where(ended, 0, best)` in place of `best = torch.where(ended, pad_id, best)`
def write_greedily(
    vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, start_id, end_id, longest, source, *weights
):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    written = torch.full((len(source), 1), start_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(longest):
            best = model(source, written)[:, -1].argmax(dim=-1)
            best = torch.where(ended, 0, best)
            ended = ended | (best == end_id)
            written = torch.cat([written, best[:, None]], dim=1)
    return written[:, 1:]
