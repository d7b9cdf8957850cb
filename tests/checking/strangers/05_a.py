# %% 05.cache | wrong | keeps a copy for every query head, N instead of K | names=query-heads
def cache_bytes(batch, n_keys, n_layers, n_heads, n_kv_heads, head_width, bytes_per_number):
    return 2 * batch * n_layers * n_heads * n_keys * head_width * bytes_per_number


# %% 05.cost | wrong | scores and mixing with the number of key-value heads instead of that of the query heads | names=grouped-scores
def attention_flops(batch, n_tokens, d_model, n_heads, n_kv_heads, head_width):
    proj = 2 * batch * n_tokens * d_model * head_width * (2 * n_heads + 2 * n_kv_heads)
    mix = 4 * batch * n_tokens**2 * n_kv_heads * head_width
    return proj, mix


# %% 05.dropout | wrong | drops where u equals p as well (u <= p), also u = 0 at p = 0 | names=boundary-dropped
def mix_with_dropout(a, v, u, p, training):
    if not training:
        return a @ v
    return (a * (u > p) / (1 - p)) @ v


# %% 05.dropout | wrong | divides by 1 - p outside training, too | names=divided-outside-training
def mix_with_dropout(a, v, u, p, training):
    if training:
        a = a * (u >= p).to(a.dtype)
    return a / (1 - p) @ v


# %% 05.grouped | wrong | repeats the whole block: query head i reads head i % K | names=tiled
def share_heads(k, n_heads):
    times = n_heads // k.shape[-3]
    return torch.cat([k] * times, dim=-3)


# %% 05.heads | wrong | adds the head axis only where B is not N, so B = N with a mask for each sequence goes wrong | names=head-axis-by-size
def attend_heads(q, k, v, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.softmax(s, dim=-1) @ v
    if mask.dim() == 3 and mask.shape[0] != q.shape[1]:
        mask = mask[:, None]
    s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    return (torch.softmax(s, dim=-1) * mask) @ v


# %% 05.heads | wrong | no axis for the heads: (B, T, S) is broadcast against N, an error or the wrong mask where B = N | names=mask-on-heads
def attend_heads(q, k, v, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    a = torch.softmax(s, dim=-1)
    if mask is not None:
        a = a * mask
    return a @ v


# %% 05.heads | right | -inf and nan_to_num: masked_fill sends zeros back wherever it wrote, so the nan inside never reaches q, k or v
def attend_heads(q, k, v, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        m = mask if mask.dim() == 2 else mask.unsqueeze(1)
        s = s.masked_fill(~m, -torch.inf)
    return torch.nan_to_num(torch.softmax(s, dim=-1)) @ v


# %% 05.init | wrong | counts the columns of one head only | names=one-heads-columns
def init_scale(d_model, n_heads, head_width):
    return (6 / (d_model + head_width)) ** 0.5


# %% 05.merge | wrong | exchanges H and N too: the heads' numbers interleave | names=interleaved
def merge_heads(z):
    return z.movedim(-3, -1).flatten(-2)


# %% 05.merge | right | torch.cat of the heads
def merge_heads(z):
    return torch.cat([z.select(-3, i) for i in range(z.shape[-3])], dim=-1)


# %% 05.multi-head | wrong | shares keys and values in the wrong order: repeat, so head i reads i % K | names=tiled
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, head_width):
        super().__init__()
        self.n, self.kv = n_heads, n_kv_heads
        self.w_q = nn.Parameter(torch.empty(d_model, n_heads * head_width))
        self.w_k = nn.Parameter(torch.empty(d_model, n_kv_heads * head_width))
        self.w_v = nn.Parameter(torch.empty(d_model, n_kv_heads * head_width))
        self.w_o = nn.Parameter(torch.empty(n_heads * head_width, d_model))

    def forward(self, x, mask=None):
        q = project_heads(x, self.w_q, self.n)
        k = project_heads(x, self.w_k, self.kv).repeat(1, self.n // self.kv, 1, 1)
        v = project_heads(x, self.w_v, self.kv).repeat(1, self.n // self.kv, 1, 1)
        return blend_heads(attend_heads(q, k, v, mask), self.w_o)


# %% 05.multi-head | wrong | a padding mask (B, 1, T) is also used on the query's side, so padded queries get zeros instead of attending to real keys
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, head_width):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.w_q = nn.Parameter(torch.empty(d_model, n_heads * head_width))
        self.w_k = nn.Parameter(torch.empty(d_model, n_kv_heads * head_width))
        self.w_v = nn.Parameter(torch.empty(d_model, n_kv_heads * head_width))
        self.w_o = nn.Parameter(torch.empty(n_heads * head_width, d_model))

    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 3 and mask.shape[1] == 1:
            mask = mask & mask.mT
        q = project_heads(x, self.w_q, self.n_heads)
        k = share_heads(project_heads(x, self.w_k, self.n_kv_heads), self.n_heads)
        v = share_heads(project_heads(x, self.w_v, self.n_kv_heads), self.n_heads)
        return blend_heads(attend_heads(q, k, v, mask), self.w_o)


# %% 05.multi-head | right | head by head with slices of the matrices, the heads' shares summed; no split, no merge
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, head_width):
        super().__init__()
        self.sizes = n_heads, n_kv_heads, head_width
        columns = {"w_q": n_heads, "w_k": n_kv_heads, "w_v": n_kv_heads}
        for name, heads in columns.items():
            setattr(self, name, nn.Parameter(torch.empty(d_model, heads * head_width)))
        self.w_o = nn.Parameter(torch.empty(n_heads * head_width, d_model))

    def forward(self, x, mask=None):
        N, K, H = self.sizes
        allowed = torch.ones((), dtype=torch.bool) if mask is None else mask
        result = torch.zeros_like(x)
        for i in range(N):
            j = i // (N // K)
            mine, shared = slice(i * H, (i + 1) * H), slice(j * H, (j + 1) * H)
            q, k, v = x @ self.w_q[:, mine], x @ self.w_k[:, shared], x @ self.w_v[:, shared]
            s = torch.einsum("bth,bsh->bts", q, k) / math.sqrt(H)
            s = torch.where(allowed, s, torch.full_like(s, torch.finfo(s.dtype).min))
            result = result + (torch.softmax(s, dim=-1) * allowed) @ v @ self.w_o[mine]
        return result


# %% 05.output | wrong | the mean over the heads instead of their sum | names=mean-of-heads
def blend_heads(z, w_o):
    N, H = z.shape[-3], z.shape[-1]
    return (z @ w_o.reshape(N, H, -1)).mean(dim=-3)


# %% 05.packed | wrong | takes the columns as packed head by head: q, k, v of head 0, then of head 1 (as some models do) | names=head-by-head
def unpack_heads(x, w_qkv, n_heads):
    y = (x @ w_qkv).unflatten(-1, (n_heads, 3, -1))
    q, k, v = (y[..., i, :].transpose(-3, -2) for i in range(3))
    return q, k, v


# %% 05.packed | right | einsum with the matrix seen as (D, 3, N, H)
def unpack_heads(x, w_qkv, n_heads):
    w = w_qkv.reshape(w_qkv.shape[0], 3, n_heads, -1)
    return torch.einsum("...td,dcnh->c...nth", x, w).unbind(0)


# %% 05.parameters | wrong | the output matrix's bias has N*H numbers instead of D | names=output-bias-wide
def count_parameters(d_model, n_heads, n_kv_heads, head_width, bias):
    nh, kh = n_heads * head_width, n_kv_heads * head_width
    total = 2 * d_model * (nh + kh)
    if bias:
        total += nh + kh + kh + nh
    return total


# %% 05.parameters | right | sums rows * columns + bias over a list of the four shapes
def count_parameters(d_model, n_heads, n_kv_heads, head_width, bias):
    kv = (d_model, n_kv_heads * head_width)
    shapes = [(d_model, n_heads * head_width), kv, kv, (n_heads * head_width, d_model)]
    return sum((rows + int(bool(bias))) * columns for rows, columns in shapes)


# %% 05.project-heads | wrong | splits the input among the heads: head i reads only its slice of the D numbers (runs where N divides D) | names=input-sliced
def project_heads(x, w, n_heads):
    d, h = x.shape[-1] // n_heads, w.shape[1] // n_heads
    parts = [x[..., i * d : (i + 1) * d] @ w[i * d : (i + 1) * d, i * h : (i + 1) * h] for i in range(n_heads)]
    return torch.stack(parts, dim=-3)


# %% 05.shapes | wrong | assumes N*H = D: the concatenation and the output matrix have D in place of N*H | names=ignored:n_heads
def shape_table(n_tokens, d_model, n_heads, head_width):
    T, D, H = n_tokens, d_model, head_width
    return [(D, H), (D, D), (T, D), (T, H), (T, T), (T, H), (T, D), (T, D)]


# %% 05.shares | wrong | splits the columns of the output: head i fills only its slice of the D numbers (sum is the output; runs where N divides D) | names=columns-shared
def head_shares(z, w_o):
    N, D = z.shape[-3], w_o.shape[1]
    y = blend_heads(z, w_o)
    owner = torch.arange(D) * N // D
    return torch.stack([y * (owner == i) for i in range(N)], dim=-3)


# %% 05.shares | right | merges the heads with all others set to zero
def head_shares(z, w_o):
    N = z.shape[-3]
    tables = []
    for i in range(N):
        only = torch.zeros(N, 1, 1, dtype=z.dtype)
        only[i] = 1
        tables.append(blend_heads(z * only, w_o))
    return torch.stack(tables, dim=-3)


# %% 05.split | wrong | exchanges axes 1 and 2 counted from the front, right with one batch axis only | names=fixed-axes
def split_heads(x, n_heads):
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(1, 2)
