# %% 06.equivariance | wrong | has `def permutation_gap(x, o, causal): return (attend(x[o], causal) - attend(x, causal)[o]).squeeze()`
def permutation_gap(x, o, causal):
    return (attend(x[o], causal) - attend(x, causal)[o]).squeeze()


# %% 06.equivariance | wrong | only the call with the tokens in their original order gets the mask | names=mask-after-alone
def permutation_gap(x, order, causal):
    return attend(x[order]) - attend(x, causal)[order]


# %% 06.angles | right | has `return positions.double()[:, None] * base ** (-torch.arange(0, width, 2) / width)`
def position_angles(positions, width, base):
    return positions.double()[:, None] * base ** (-torch.arange(0, width, 2) / width)


# %% 06.angles | wrong | the code always uses the base 10,000 | names=base-ignored
def position_angles(positions, width, base):
    i = torch.arange((width + 1) // 2, dtype=torch.float64)
    return positions[:, None] * 10000.0 ** (-2 * i / width)


# %% 06.angles | wrong | each column has its own speed | names=column-by-column
def position_angles(positions, width, base):
    i = torch.arange(width, dtype=torch.float64)
    return positions[:, None] * base ** (-i / width)


# %% 06.sinusoids | wrong | has `c = torch.arange(d_model, dtype=torch.float64) a = torch.arange(length)[:, None] / 10000 ** (c // 2 * 2 / d ...`
def sinusoids(length, d_model):
    c = torch.arange(d_model, dtype=torch.float64)
    a = torch.arange(length)[:, None] / 10000 ** ((c // 2 * 2) / d_model)
    return torch.where(c % 2 == 0, a.sin(), a.cos()).squeeze()


# %% 06.sinusoids | wrong | column c has the exponent 2c/D | names=columns-doubled
def sinusoids(length, d_model):
    c = torch.arange(d_model, dtype=torch.float64)
    a = torch.arange(length)[:, None] / 10000 ** ((2 * c) / d_model)
    return torch.where(c % 2 == 0, a.sin(), a.cos())


# %% 06.add | right | has `return x * torch.sqrt(torch.tensor(x.shape[2])) + table[start:start + x.shape[1]].to(x.dtype)`
def add_positions(x, table, start):
    return x * torch.sqrt(torch.tensor(x.shape[2])) + table[start : start + x.shape[1]].to(x.dtype)


# %% 06.add | wrong | has `return x * math.sqrt(x.shape[2]) + table[start:start + x.shape[1]]`
def add_positions(x, table, start):
    return x * math.sqrt(x.shape[2]) + table[start : start + x.shape[1]]


# %% 06.shift | wrong | this is the matrix of one step | names=one-step
def shift_matrix(steps, d_model):
    m = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        a = 1 * 10000 ** (-2 * i / d_model)
        c, s = math.cos(a), math.sin(a)
        m[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, -s], [s, c]])
    return m


# %% 06.relative | wrong | has `j = torch.arange(n_keys) return ((j - i).clamp(-4, 4) + 4).squeeze()`
def distance_rows(n_queries, n_keys, start):
    i = torch.arange(n_queries)[:, None] + start
    j = torch.arange(n_keys)
    return ((j - i).clamp(-4, 4) + 4).squeeze()


# %% 06.relative | wrong | queries and keys are swapped | names=transposed
def distance_rows(n_queries, n_keys, start):
    i = torch.arange(n_queries)[:, None] + start
    j = torch.arange(n_keys)
    return ((j - i).clamp(-4, 4) + 4).T


# %% 06.shaw | right | has `return (q @ k.mT + torch.einsum('bnth,tsh->bnts', q, table[rows])) / torch.sqrt(torch.tensor(q.shape[-1]))`
def relative_scores(q, k, table, rows):
    return (q @ k.mT + torch.einsum("bnth,tsh->bnts", q, table[rows])) / torch.sqrt(torch.tensor(q.shape[-1]))


# %% 06.shaw | wrong | has `T, S, c = (q.shape[2], k.shape[2], len(table) // 2) apart = torch.arange(S) - torch.arange(S - T, S)[:, Non ...`
def relative_scores(q, k, table, rows):
    T, S, c = q.shape[2], k.shape[2], len(table) // 2
    apart = torch.arange(S) - torch.arange(S - T, S)[:, None]
    r = table[apart.clamp(-c, c) + c]
    return (q @ k.mT + torch.einsum("bnth,tsh->bnts", q, r)) / math.sqrt(q.shape[-1])


# %% 06.shaw | wrong | the scores are divided by H | names=divided-by-width
def relative_scores(q, k, table, rows):
    return (q @ k.mT + torch.einsum("bnth,tsh->bnts", q, table[rows])) / q.shape[-1]


# %% 06.alibi | right | has `def alibi(n, t, s, start): def slopes(n): if math.log2(n).is_integer(): first = 2 ** (-2 ** (-(math.log2(n) ...`
def alibi(n, t, s, start):
    def slopes(n):
        if math.log2(n).is_integer():
            first = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [first * first**i for i in range(n)]
        near = 2 ** math.floor(math.log2(n))
        return slopes(near) + slopes(2 * near)[0::2][: n - near]

    back = (torch.arange(t)[:, None] + start - torch.arange(s)).clamp(min=0)
    return -torch.tensor(slopes(n))[:, None, None] * back


# %% 06.alibi | wrong | has `def alibi(n, t, s, start): h = torch.arange(1, n + 1, dtype=torch.float64) m = 2 ** (-8 * h / n) i, j = (to ...`
def alibi(n, t, s, start):
    h = torch.arange(1, n + 1, dtype=torch.float64)
    m = 2 ** (-8 * h / n)
    i, j = torch.arange(t)[:, None] + start, torch.arange(s)
    return (-m[:, None, None] * (i - j).clamp(min=0)).squeeze()


# %% 06.alibi | wrong | each slope is half of the previous one, whatever the number of heads | names=halved-each
def alibi(n, t, s, start):
    h = torch.arange(1, n + 1, dtype=torch.float64)
    m = 2.0**-h
    i, j = torch.arange(t)[:, None] + start, torch.arange(s)
    return -m[:, None, None] * (i - j).clamp(min=0)


# %% 06.turn | right | has `c, s = (torch.tensor(angle).cos(), torch.tensor(angle).sin()) return torch.stack([x[..., 0] * c - x[..., 1] ...`
def turn(x, angle):
    c, s = torch.tensor(angle).cos(), torch.tensor(angle).sin()
    return torch.stack([x[..., 0] * c - x[..., 1] * s, x[..., 0] * s + x[..., 1] * c], -1)


# %% 06.turn | wrong | the code computes the first number from the second after rotating the second | names=second-overwritten
def turn(x, angle):
    y = x.clone()
    y[..., 1] = y[..., 0] * math.sin(angle) + y[..., 1] * math.cos(angle)
    y[..., 0] = y[..., 0] * math.cos(angle) - y[..., 1] * math.sin(angle)
    return y


# %% 06.rotary | wrong | the positions run along the batch | names=along-the-batch
def rotate(x, start):
    B, N, T, H = x.shape
    speeds = 10000.0 ** (-torch.arange(0, H, 2, dtype=torch.float64) / H)
    a = torch.arange(start, start + B)[:, None, None, None] * speeds
    c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
    p, q = x[..., ::2], x[..., 1::2]
    return torch.stack([p * c - q * s, p * s + q * c], -1).flatten(-2)


# %% 06.cached | wrong | has `T, S = (q.shape[2], k.shape[2]) q, k = (rotate(q, S - T), rotate(k, S - T)) s = q @ k.mT / math.sqrt(q.shap ...`
def cached_attention(q, k, v):
    T, S = q.shape[2], k.shape[2]
    q, k = rotate(q, S - T), rotate(k, S - T)
    s = q @ k.mT / math.sqrt(q.shape[-1])
    i, j = torch.arange(T)[:, None] + S - T, torch.arange(S)
    s = s.masked_fill(j > i, -torch.inf)
    return torch.softmax(s, -1) @ v


# %% 06.cached | wrong | the keys are one position too late | names=keys-one-late
def cached_attention(q, k, v):
    T, S = q.shape[2], k.shape[2]
    q, k = rotate(q, S - T), rotate(k, 1)
    s = q @ k.mT / math.sqrt(q.shape[-1])
    i, j = torch.arange(T)[:, None] + S - T, torch.arange(S)
    s = s.masked_fill(j > i, -torch.inf)
    return torch.softmax(s, -1) @ v
