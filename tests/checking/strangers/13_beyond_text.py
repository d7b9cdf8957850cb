# %% 13.tokens | wrong | `return (x + positions).squeeze()` in place of `return x + positions`
def picture_tokens(patches, w, b, class_token, positions):
    x = patches @ w + b
    first = class_token.expand(len(x), 1, -1)
    x = torch.cat([first, x], dim=1)
    return (x + positions).squeeze()


# %% 13.tokens | wrong | the code adds the bias to the class token | names=bias-on-class
def picture_tokens(p, w, b, c, positions):
    return torch.cat([c.repeat(len(p), 1, 1), p @ w], 1) + b + positions


# %% 13.frames | right | has `size = (len(samples), (samples.shape[1] - width) // hop + 1, width) return torch.as_strided(samples.contigu ...`
def cut_frames(samples, width, hop):
    size = len(samples), (samples.shape[1] - width) // hop + 1, width
    return torch.as_strided(samples.contiguous(), size, (samples.shape[1], hop, 1))


# %% 13.frames | wrong | there is always one frame too few | names=one-short
def cut_frames(samples, width, hop):
    count = (samples.shape[1] - width) // hop
    return samples[:, torch.arange(count)[:, None] * hop + torch.arange(width)]


# %% 13.look | wrong | `return (x + torch.tanh(gate) * y).squeeze()` in place of `return x + torch.tanh(gate) * y`
def look_at_picture(x, picture, w_q, w_k, w_v, w_o, gate, n_heads):
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(picture @ w_k, n_heads)
    v = split_heads(picture @ w_v, n_heads)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    y = merge_heads(torch.softmax(s, dim=-1) @ v) @ w_o
    return (x + torch.tanh(gate) * y).squeeze()


# %% 13.look | wrong | `w_k` and `w_v` are swapped | names=keys-and-values-exchanged
def look_at_picture(x, picture, w_q, w_k, w_v, w_o, gate, n_heads):
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(picture @ w_v, n_heads)
    v = split_heads(picture @ w_k, n_heads)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    y = merge_heads(torch.softmax(s, dim=-1) @ v) @ w_o
    return x + torch.tanh(gate) * y


# %% 13.contrastive | right | has `i, t = (F.normalize(images, dim=-1), F.normalize(texts, dim=-1)) s = i @ t.T * math.e ** log_scale own = to ...`
def contrastive_loss(images, texts, log_scale):
    i, t = F.normalize(images, dim=-1), F.normalize(texts, dim=-1)
    s = i @ t.T * math.e**log_scale
    own = torch.eye(len(s), dtype=s.dtype)
    return (F.cross_entropy(s, own) + F.cross_entropy(s.T, own)) / 2


# %% 13.contrastive | wrong | the code normalises the columns of the batch | names=down-the-batch
def contrastive_loss(images, texts, log_scale):
    i, t = F.normalize(images, dim=0), F.normalize(texts, dim=0)
    s, own = i @ t.T * log_scale.exp(), torch.arange(len(images))
    return (F.cross_entropy(s, own) + F.cross_entropy(s.T, own)) / 2


# %% 13.zero-shot | right | has `i, t = (F.normalize(images, dim=-1), F.normalize(labels, dim=-1)) return torch.softmax(F.cosine_similarity( ...`
def choose_label(images, labels, scale):
    i, t = F.normalize(images, dim=-1), F.normalize(labels, dim=-1)
    return torch.softmax(F.cosine_similarity(i[:, None], t.mean(1)[None], dim=-1) * scale, -1)


# %% 13.zero-shot | wrong | `t = F.normalize(labels.squeeze(), dim=-1)` in place of `t = F.normalize(labels, dim=-1)`
def choose_label(images, labels, scale):
    i = F.normalize(images, dim=-1)
    t = F.normalize(labels.squeeze(), dim=-1)
    t = F.normalize(t.mean(dim=1), dim=-1)
    return torch.softmax(i @ t.T * scale, dim=-1)


# %% 13.zero-shot | wrong | the code returns log-probabilities instead of probabilities | names=logarithms
def choose_label(images, labels, scale):
    i, t = F.normalize(images, dim=-1), F.normalize(labels, dim=-1)
    return torch.log_softmax(i @ F.normalize(t.mean(1), dim=-1).T * scale, -1)


# %% 13.rollout | right | has `step = layer + itself; return total / total.sum(-1, keepdim=True)`
def rollout(maps):
    a = maps.mean(dim=1)
    itself = torch.eye(a.shape[-1], dtype=a.dtype)
    total = itself
    for layer in a:
        step = layer + itself
        total = step @ total
    return total / total.sum(-1, keepdim=True)


# %% 13.rollout | wrong | `a = maps.mean(dim=1).squeeze()` in place of `a = maps.mean(dim=1)`
def rollout(maps):
    a = maps.mean(dim=1).squeeze()
    itself = torch.eye(a.shape[-1], dtype=a.dtype)
    total = itself
    for layer in a:
        step = 0.5 * layer + 0.5 * itself
        total = step @ total
    return total


# %% 13.linear | wrong | has `a = (F.elu(q) + 1) @ (F.elu(k) + 1).mT return a / a.sum(-1, keepdim=True) @ v`
def linear_attention(q, k, v):
    a = (F.elu(q) + 1) @ (F.elu(k) + 1).mT
    return a / a.sum(-1, keepdim=True) @ v


# %% 13.linear | wrong | the code divides the queries by sqrt(H) | names=scaled
def linear_attention(q, k, v):
    f, g = F.elu(q / q.shape[-1] ** 0.5) + 1, F.elu(k) + 1
    return f @ (g.mT @ v) / (f * g.sum(-2, keepdim=True)).sum(-1, keepdim=True)


# %% 13.step | wrong | `key_values += g[..., :, None] * v[..., None, :] keys += g` in place of `key_values = key_values + g[..., :, None] * v[..., None, :] keys = keys + g`
def linear_step(key_values, keys, q, k, v):
    f = F.elu(q) + 1
    g = F.elu(k) + 1
    key_values += g[..., :, None] * v[..., None, :]
    keys += g
    y = (f[..., None, :] @ key_values)[..., 0, :] / (f * keys).sum(dim=-1, keepdim=True)
    return y, key_values, keys


# %% 13.merge | right | has `a, b = (torch.exp(m_a - m).nan_to_num(), torch.exp(m_b - m).nan_to_num()); return (m, total, z_a * a[..., N ...`
def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):
    m = torch.maximum(m_a, m_b)
    a, b = torch.exp(m_a - m).nan_to_num(), torch.exp(m_b - m).nan_to_num()
    total = l_a * a + l_b * b
    return m, total, z_a * a[..., None] + z_b * b[..., None]


# %% 13.merge | wrong | `level = m.clamp(min=0)` in place of `level = m.masked_fill(m == float('-inf'), 0.0)`
def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):
    m = torch.maximum(m_a, m_b)
    level = m.clamp(min=0)
    a, b = torch.exp(m_a - level), torch.exp(m_b - level)
    total = l_a * a + l_b * b
    z = z_a * a[..., None] + z_b * b[..., None]
    return m, total, z


# %% 13.merge | wrong | `return (m, total.clamp(min=1e-06), z)` in place of `return (m, total, z)`
def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):
    m = torch.maximum(m_a, m_b)
    level = m.masked_fill(m == float("-inf"), 0.0)
    a, b = torch.exp(m_a - level), torch.exp(m_b - level)
    total = l_a * a + l_b * b
    z = z_a * a[..., None] + z_b * b[..., None]
    return m, total.clamp(min=1e-6), z


# %% 13.published | wrong | the code uses the sigmoid GELU, x times sigmoid(1.702 x), as CLIP does | names=quick-gelu
def published_feed_forward(x, w_in, b_in, w_out, b_out, gain, bias):
    h = F.linear(x, w_in, b_in)
    y = F.linear(h * torch.sigmoid(1.702 * h), w_out, b_out)
    return F.layer_norm(x + y, y.shape[-1:], gain, bias, 1e-12)
