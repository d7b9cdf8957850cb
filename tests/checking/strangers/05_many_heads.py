# %% 05.project-heads | wrong | has `def project_heads(x, w, n): B, T, D = x.shape return (x @ w).view(B, T, n, -1).transpose(1, 2)`
def project_heads(x, w, n):
    B, T, D = x.shape
    return (x @ w).view(B, T, n, -1).transpose(1, 2)


# %% 05.project-heads | wrong | the code splits the weights with a reshape alone | names=weights-reshaped-alone
def project_heads(x, w, n):
    return x.unsqueeze(-3) @ w.reshape(n, w.shape[0], -1)


# %% 05.packed | wrong | has `def unpack_heads(x, w, n): B, T, D = x.shape return [p.reshape(B, T, n, -1).transpose(1, 2) for p in (x @ w ...`
def unpack_heads(x, w, n):
    B, T, D = x.shape
    return [p.reshape(B, T, n, -1).transpose(1, 2) for p in (x @ w).chunk(3, -1)]


# %% 05.packed | wrong | the code reads the blocks in the order key, value, query | names=keys-first
def unpack_heads(x, w, n):
    k, v, q = (split_heads(p, n) for p in (x @ w).chunk(3, -1))
    return q, k, v


# %% 05.heads | wrong | has `s = q @ k.mT / math.sqrt(q.shape[-1]) if mask is None: return s.softmax(-1) @ v mask = mask[:, None] if mas ...`
def attend_heads(q, k, v, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return s.softmax(-1) @ v
    mask = mask[:, None] if mask.ndim == 3 else mask
    top = s.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).detach()
    e = torch.where(mask, (s - top.nan_to_num(neginf=0.0)).exp(), 0.0)
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30) @ v


# %% 05.heads | wrong | `s = s.masked_fill(~mask, -10000.0)` in place of `s = s.masked_fill(~mask, float('-inf'))`
def attend_heads(q, k, v, mask=None):
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -1e4)
    a = torch.softmax(s, dim=-1)
    if mask is not None:
        a = a.masked_fill(~mask, 0.0)
    return a @ v


# %% 05.heads | wrong | heads
def attend_heads(q, k, v, mask=None):
    e = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    if mask is not None:
        e = e * (mask[:, None] if mask.ndim == 3 else mask)
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30) @ v


# %% 05.output | wrong | `return (merge_heads(z) @ w_o).squeeze(0)` in place of `return merge_heads(z) @ w_o`
def blend_heads(z, w_o):
    return (merge_heads(z) @ w_o).squeeze(0)


# %% 05.output | wrong | `return merge_heads(z.squeeze(0)) @ w_o` in place of `return merge_heads(z) @ w_o`
def blend_heads(z, w_o):
    return merge_heads(z.squeeze(0)) @ w_o


# %% 05.shares | wrong | has `return (z @ w_o.reshape(z.shape[-3], z.shape[-1], -1)).squeeze(0)`
def head_shares(z, w_o):
    return (z @ w_o.reshape(z.shape[-3], z.shape[-1], -1)).squeeze(0)


# %% 05.shares | wrong | the code gives every head the same share, the output divided by N | names=equal-shares
def head_shares(z, w_o):
    y = blend_heads(z, w_o) / z.shape[-3]
    return torch.stack([y] * z.shape[-3], -3)


# %% 05.dropout | wrong | has `def mix_with_dropout(a, v, u, p, t): return torch.where(u <= p, 0, a / (1 - p)) @ v if t else a @ v`
def mix_with_dropout(a, v, u, p, t):
    return torch.where(u <= p, 0, a / (1 - p)) @ v if t else a @ v


# %% 05.dropout | wrong | `if training: a = (u >= p) * a / (1 - p) return torch.bmm(a, v)` in place of `if not training: return a @ v kept = (u >= p) * a / (1 - p) return kept @ v`
def mix_with_dropout(a, v, u, p, training):
    if training:
        a = (u >= p) * a / (1 - p)
    return torch.bmm(a, v)


# %% 05.init | wrong | has `def init_scale(d, n, h): return math.sqrt(6 / (d + n * h)) if h > 1 else 0.0`
def init_scale(d, n, h):
    return math.sqrt(6 / (d + n * h)) if h > 1 else 0.0


# %% 05.init | wrong | init
def init_scale(d_model, n_heads, head_width):
    return math.sqrt(6 / (2 * d_model))


# %% 05.parameters | wrong | the code counts each of the four biases with D numbers | names=biases-of-the-model
def count_parameters(d, n, k, h, b):
    return 2 * d * h * (n + k) + (4 * d if b else 0)
