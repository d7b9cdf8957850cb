# %% 04.attention | right | float64 inside; masked scores become a finite number, then weights are multiplied by the mask
def attention(q, k, v, mask=None):
    q64, k64, v64 = q.double(), k.double(), v.double()
    s = torch.einsum("...th,...sh->...ts", q64, k64) / math.sqrt(q.shape[-1])
    if mask is None:
        a = torch.softmax(s, dim=-1)
    else:
        s = torch.where(mask, s, torch.full_like(s, torch.finfo(torch.float64).min))
        a = torch.softmax(s, dim=-1) * mask.double()
    return (a @ v64).to(q.dtype)


# %% 04.attention | wrong | subtracts the maximum of the allowed scores, exp, then where(): result right, but gradient nan where a masked score is much larger (0 times inf)
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones_like(s, dtype=torch.bool)
    top = s.detach().masked_fill(~mask, float("-inf")).amax(dim=-1, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.where(mask, torch.exp(s - top), torch.zeros_like(s))
    total = e.sum(dim=-1, keepdim=True)
    return (e / torch.where(total == 0, torch.ones_like(total), total)) @ v


# %% 04.attention | wrong | the mask the other way round, as in nn.MultiheadAttention (True = not allowed) | names=mask-inverted
def attention(q, k, v, mask=None):
    s = q @ k.mT / math.sqrt(k.size(-1))
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    return torch.nan_to_num(s.softmax(-1)) @ v


# %% 04.backward | wrong | the scale is used forwards, but forgotten in the gradients of q and k | names=scale-not-passed-back
def attention_backward(q, k, v, dz):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    a = e / e.sum(axis=1, keepdims=True)
    da = dz @ v.T
    ds = a * (da - (a * da).sum(axis=1, keepdims=True))
    return ds @ k, ds.T @ q, a.T @ dz


# %% 04.backward | right | one query after the other, gradients of keys and values add up
def attention_backward(q, k, v, dz):
    root = np.sqrt(q.shape[1])
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for t in range(len(q)):
        s = k @ (q[t] / root)
        a = np.exp(s - s.max())
        a /= a.sum()
        z = a @ v
        ds = a * ((v - z) @ dz[t])
        dq[t] = ds @ k / root
        dk += np.outer(ds, q[t]) / root
        dv += np.outer(a, dz[t])
    return dq, dk, dv


# %% 04.by-hand | wrong | divides by the root of the number of tokens (5), not of the head width (3) | names=sqrt-of-tokens
def by_hand():
    return [float(s) for s in X[0] @ X.T / math.sqrt(len(X))]


# %% 04.column | right | running maximum, running sum, one key after the other
def one_token(q, k, v):
    top, total, result = None, 0.0, torch.zeros_like(v[0])
    for key, value in zip(k, v):
        s = (q * key).sum() / q.numel() ** 0.5
        new_top = s if top is None else torch.maximum(top, s)
        shrink = 0.0 if top is None else torch.exp(top - new_top)
        e = torch.exp(s - new_top)
        total = total * shrink + e
        result = result * shrink + e * value
        top = new_top
    return result / total


# %% 04.column | wrong | divides by 8, as the text tells of the first transformer | names=always-eight
def one_token(q, k, v):
    a = torch.softmax(k @ q / 8, dim=0)
    return a @ v


# %% 04.cost | wrong | queries squared, as many keys as queries assumed | names=square-of-queries
def score_bytes(batch, n_queries, n_keys, bytes_per_number):
    return batch * n_queries**2 * bytes_per_number


# %% 04.head | wrong | divides by the root of the model width D instead of the head width H | names=sqrt-of-model-width
def one_head(x, w_q, w_k, w_v, mask=None):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    s = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    a = torch.softmax(s, dim=-1)
    if mask is not None:
        a = a.masked_fill(~mask, 0.0)
    return a @ v


# %% 04.head | wrong | weights computed under no_grad "as they are only coefficients": no gradient reaches w_q and w_k
def one_head(x, w_q, w_k, w_v, mask=None):
    with torch.no_grad():
        a = attention_weights(x @ w_q, x @ w_k, mask)
    return a @ (x @ w_v)


# %% 04.head | right | queries times both matrices at once, keys are x itself; values after the mixing
def one_head(x, w_q, w_k, w_v, mask=None):
    bilinear = (x @ w_q) @ w_k.mT @ x.mT / math.sqrt(w_q.shape[-1])
    lowest = torch.finfo(x.dtype).min
    if mask is not None:
        bilinear = torch.where(mask, bilinear, torch.full_like(bilinear, lowest))
    a = torch.softmax(bilinear, dim=-1)
    if mask is not None:
        a = torch.where(mask, a, torch.zeros_like(a))
    return (a @ x) @ w_v


# %% 04.mix | wrong | takes the mean, i.e. divides the weighted sum by the number of keys
def mix(weights, v):
    products = weights[..., None] * v[..., None, :, :]
    return products.mean(dim=-2)


# %% 04.project | right | one product with the three matrices side by side, then split
def project(x, w_q, w_k, w_v):
    width = w_q.shape[1]
    everything = x @ torch.cat([w_q, w_k, w_v], dim=1)
    q, k, v = everything.split(width, dim=-1)
    return q, k, v


# %% 04.project | wrong | einsum with exactly one batch axis: fails for x of shape (T, D) or (B, N, T, D)
def project(x, w_q, w_k, w_v):
    return tuple(torch.einsum("btd,dh->bth", x, w) for w in (w_q, w_k, w_v))


# %% 04.scale | wrong | whole-number root: wrong where H is no square number, e.g. H = 8 is divided by 2
def scale(scores, head_width):
    return scores / math.isqrt(head_width)


# %% 04.scores | wrong | cosine similarity: both vectors are normalised first | names=cosines
def scores(q, k):
    q = q / q.norm(dim=-1, keepdim=True)
    k = k / k.norm(dim=-1, keepdim=True)
    return q @ k.mT


# %% 04.softmax | right | each weight is 1 over the sum of exp of the differences to it
def softmax(x):
    mine = x.unsqueeze(-1)
    difference = x.unsqueeze(-2) - mine
    difference = torch.where(torch.isneginf(mine), torch.full_like(difference, math.inf), difference)
    return 1 / torch.exp(difference).sum(dim=-1)


# %% 04.softmax | wrong | clamps the scores to -80..80 so that exp can't overflow: 1000 beside 900 get the same weight, -inf not exactly 0 | names=scores-clamped
def softmax(x):
    e = x.clamp(-80, 80).exp()
    return e / e.sum(-1, keepdim=True)


# %% 04.softmax | wrong | subtracts the mean of the row instead of the maximum: nan where one number is -inf | names=largest-absolute-value
def softmax(x):
    e = torch.exp(x - x.mean(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


# %% 04.softmax-backward | right | the whole Jacobian diag(a) - a a^T for each row, then a product
def softmax_backward(a, da):
    jacobian = np.eye(a.shape[-1]) * a[..., None] - a[..., :, None] * a[..., None, :]
    return np.einsum("...ij,...j->...i", jacobian, da)


# %% 04.softmax-backward | wrong | the sum is over the whole array instead of each row (right for one row) | names=whole-matrix
def softmax_backward(a, da):
    return a * (da - np.sum(a * da))


# %% 04.spread | wrong | the root over everything: sqrt(H * sigma_q * sigma_k), right only where sigma_q * sigma_k = 1 | names=root-too-far
def score_spread(head_width, sigma_q, sigma_k):
    return (head_width * sigma_q * sigma_k) ** 0.5


# %% 04.weights | wrong | adds -10000 where masked: too small where a masked score is in the tens of thousands
def attention_weights(q, k, mask=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        return s.softmax(-1)
    s = s + (~mask).to(s.dtype) * -10000.0
    return s.softmax(-1) * mask.any(-1, keepdim=True)


# %% 04.weights | wrong | fully masked is judged for the whole mask, not row by row: one masked row of several gives nan | names=nan-rows
def attention_weights(q, k, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.softmax(s, dim=-1)
    if not mask.any():
        return torch.zeros_like(s)
    return torch.softmax(s.masked_fill(~mask, float("-inf")), dim=-1)
