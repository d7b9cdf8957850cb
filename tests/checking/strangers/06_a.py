# %% 06.add | right | looks the rows up with F.embedding and adds with torch.add's alpha | variant=2
def add_positions(x, table, start):
    width, steps = x.shape[1], x.shape[2]
    numbers = torch.arange(start, start + steps, device=x.device)
    rows = nn.functional.embedding(numbers, table.transpose(0, 1)).to(x.dtype)
    return torch.add(rows, x.transpose(1, 2), alpha=math.sqrt(width))


# %% 06.add | wrong | takes D from the last axis of x as it comes, which is T in this notebook: scales by sqrt(T) | variant=2, names=sqrt-of-tokens
def add_positions(x, table, start):
    scale = math.sqrt(x.shape[-1])
    rows = table[:, start : start + x.shape[-1]]
    y = x * scale + rows.to(x.dtype)
    return y.transpose(1, 2)


# %% 06.add | wrong | treats the table as a fixed buffer and detaches it: values are right, but no gradient reaches the table | variant=2
def add_positions(x, table, start):
    x = x.mT
    T, D = x.shape[1:]
    pe = table.mT[start : start + T].detach().to(x)
    return x * D**0.5 + pe


# %% 06.alibi | right | slopes from logspace, distances by counting steps back with relu, joined with einsum | variant=7
def alibi(n_heads, n_queries, n_keys, start):
    slopes = torch.logspace(-10 / n_heads, -10, n_heads, base=2.0, dtype=torch.float64)
    query = torch.arange(start, start + n_queries, dtype=torch.float64)
    key = torch.arange(n_keys, dtype=torch.float64)
    steps_back = torch.relu(query.unsqueeze(1) - key.unsqueeze(0))
    return -torch.einsum("n,ts->nts", slopes, steps_back)


# %% 06.alibi | wrong | the slopes of the paper, down to 2^-8, instead of 2^-10 | variant=7, names=other-variant
def alibi(n_heads, n_queries, n_keys, start):
    m = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    back = (start + torch.arange(n_queries)[:, None] - torch.arange(n_keys)).clamp(min=0)
    return -m[:, None, None] * back


# %% 06.angles | right | plain Python lists: one power per hand, one product per position, then a float64 tensor
def position_angles(positions, width, base):
    pairs = width // 2 + width % 2
    turns = [float(base) ** (-2 * i / width) for i in range(pairs)]
    rows = [[p * t for t in turns] for p in positions.tolist()]
    return torch.tensor(rows, dtype=torch.float64).reshape(len(rows), pairs)


# %% 06.angles | wrong | writes the exponent -2i/D as -i/pairs, which is another number where the width is odd (e.g. width 5: -i/3 and not -2i/5) | names=odd-width-rounded
def position_angles(positions, width, base):
    pairs = (width + 1) // 2
    freq = float(base) ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    return positions.double()[:, None] * freq


# %% 06.buckets | right | no logarithm: 16 + floor(4 log2(d / 16)) by comparing d**4 with powers of two, in whole numbers | variant=7
def bucket(back):
    d = back.long().clamp(0, 256)
    number = d.clamp(max=16)
    fourth = d**4
    for step in range(1, 16):
        number = number + (fourth >= 2 ** (16 + step)).long()
    return number


# %% 06.buckets | wrong | puts keys ahead of the query into the bucket of their distance without sign (abs) instead of bucket 0 | variant=7, names=ahead-counts
def bucket(back):
    d = back.abs()
    alone = 16
    r = torch.log(d.clamp(min=1).double() / alone) / math.log(256 / alone)
    far = alone + torch.floor((32 - alone) * r + 1e-9).long()
    return torch.where(d < alone, d.long(), far.clamp(max=31))


# %% 06.buckets | wrong | uses T5's usual farthest = 128 in place of this notebook's 256 | variant=7, names=other-variant
def bucket(back, n=32, max_distance=128):
    d = back.clamp(min=0).long()
    half = n // 2
    big = (
        half
        + ((d.clamp(min=1).double() / half).log() / math.log(max_distance / half) * (n - half) + 1e-9).floor().long()
    )
    return torch.where(d < half, d, big.clamp(max=n - 1))


# %% 06.cached | right | one query at a time over just those keys that it may see, in float64; no mask at all | variant=7
def cached_attention(k, v, q):
    n_keys, width = k.shape[2], k.shape[3]
    n_queries = q.shape[3]
    first = n_keys - n_queries
    keys = rotate(k.double(), 0)
    queries = rotate(q.double().transpose(2, 3), first)
    outputs = []
    for t in range(n_queries):
        seen = first + t + 1
        score = (keys[:, :, :seen] * queries[:, :, t : t + 1]).sum(-1) / math.sqrt(width)  # (B, N, seen)
        weight = torch.exp(score - score.amax(-1, keepdim=True))
        weight = weight / weight.sum(-1, keepdim=True)
        outputs.append((v[..., :seen].double() * weight.unsqueeze(2)).sum(-1))
    return torch.stack(outputs, dim=2).to(q.dtype)


# %% 06.cached | wrong | rotates the queries from position 0 instead of S - T (right only where T = S) | variant=7, names=queries-from-zero
def cached_attention(k, v, q):
    q, v = q.transpose(-1, -2), v.transpose(-1, -2)
    n_queries, n_keys = q.shape[2], k.shape[2]
    scores = rotate(q, 0) @ rotate(k, 0).transpose(-1, -2) / math.sqrt(q.shape[-1])
    allowed = torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
    weights = torch.softmax(scores.masked_fill(~allowed, float("-inf")), dim=-1)
    return weights @ v


# %% 06.cached | wrong | hides later keys with -1e4, which is not low enough: where all allowed scores are below -10,000 (the text: tens of thousands) the later keys win | variant=7, names=minus-ten-thousand
def cached_attention(k, v, q):
    q, v = q.mT, v.mT
    T, S, H = q.shape[2], k.shape[2], k.shape[3]
    s = rotate(q, S - T) @ rotate(k, 0).mT * H**-0.5
    later = torch.arange(S) > torch.arange(S - T, S)[:, None]
    return s.masked_fill(later, -1e4).softmax(-1) @ v


# %% 06.convert | right | head by head: even-numbered rows, then odd-numbered ones, all concatenated | variant=1
def to_halves(n_heads, w):
    parts = []
    for head in torch.chunk(w, n_heads, dim=0):
        parts += [head[0::2], head[1::2]]
    return torch.cat(parts, dim=0)


# %% 06.convert | wrong | sorts evens and odds over the whole width instead of within each head (right for one head only) | variant=1, names=across-heads
def to_halves(n_heads, w):
    return torch.cat([w[0::2], w[1::2]], dim=0)


# %% 06.equivariance | wrong | puts the outputs back with the inverse order (argsort), so rows do not match unless the order is its own inverse | variant=4, names=output-moved-back
def permutation_gap(order, causal, x):
    tokens = x.T
    permuted_first = attend(tokens[order], causal)
    back = torch.argsort(order)
    permuted_after = attend(tokens, causal)[back]
    return permuted_first - permuted_after


# %% 06.equivariance | wrong | the difference has the wrong sign (permuted outputs minus outputs for permuted tokens); without a mask both are 0, so it is wrong only with causal=True | variant=4, names=other-sign
def permutation_gap(order, causal, x):
    t = x.mT
    return attend(t, causal=causal)[order] - attend(t[order], causal=causal)


# %% 06.probe | right | the appended 1 done by centering: slopes from centred vectors and centred one-hot rows, the means added at the end | variant=8
def probe(labels, x, new):
    n_classes = int(labels.max()) + 1
    targets = (labels[:, None] == torch.arange(n_classes)).to(torch.float64)
    x_mean, y_mean = x.mean(0), targets.mean(0)
    slopes = torch.linalg.pinv(x - x_mean) @ (targets - y_mean)
    scores = (new.T.to(torch.float64) - x_mean) @ slopes + y_mean
    return scores.T


# %% 06.probe | wrong | no 1 is appended, so the probe has no constant | variant=8, names=no-one
def probe(labels, x, new):
    classes = int(labels.max()) + 1
    one_hot = nn.functional.one_hot(labels, classes).to(x.dtype)
    weights = torch.linalg.lstsq(x, one_hot).solution
    return (new.T @ weights).T


# %% 06.probe | wrong | turns the scores into probabilities with a softmax, which the text does not ask for | variant=8, names=softmaxed
def probe(labels, x, new):
    y = nn.functional.one_hot(labels).double()
    one = lambda a: torch.cat([a, torch.ones(len(a), 1, dtype=a.dtype)], 1)
    w = torch.linalg.lstsq(one(x), y).solution
    return (one(new.mT) @ w).softmax(-1).mT


# %% 06.relative | wrong | distance as query minus key, so that the two ends of the table are exchanged | variant=4, names=sign
def distance_rows(n_queries, n_keys, start):
    i = torch.arange(n_queries)[:, None] + start
    j = torch.arange(n_keys)[None, :]
    return (i - j).clamp(-6, 6) + 6


# %% 06.relative | wrong | ignores `start` and assumes that the queries are the newest tokens (start = S - T), as with a KV cache | variant=4, names=newest-queries
def distance_rows(n_queries, n_keys, start):
    q = torch.arange(n_keys - n_queries, n_keys)
    return (torch.arange(n_keys) - q[:, None]).clip(-6, 6) + 6


# %% 06.rotary | right | each pair is multiplied by its own 2 x 2 matrix, in one einsum in float64
def rotate(x, start):
    *_, length, width = x.shape
    rate = 10_000.0 ** (-2 * torch.arange(width // 2, dtype=torch.float64) / width)
    angle = torch.outer(torch.arange(start, start + length, dtype=torch.float64), rate)
    c, s = angle.cos(), angle.sin()
    # matrices (T, pairs, from, to) for row vectors
    matrices = torch.stack([torch.stack([c, s], -1), torch.stack([-s, c], -1)], -2)
    pairs = x.double().unflatten(-1, (width // 2, 2))
    return torch.einsum("bntpf,tpfg->bntpg", pairs, matrices).flatten(-2).to(x.dtype)


# %% 06.rotary | wrong | angles in float32: at start = 1,000,000 a float32 angle is off by up to 0.03 radians and more; the text wants float64 | names=angles-in-float32
def rotate(x, start):
    H = x.shape[-1]
    pos = torch.arange(start, start + x.shape[-2]).float()
    ang = pos[:, None] * 10000 ** (-torch.arange(0, H, 2).float() / H)
    cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


# %% 06.shaw | right | multiplies the queries by the whole table once, then picks each pair's product with gather | variant=7
def relative_scores(table, k, q, rows):
    with_table = torch.einsum("bnth,rh->bntr", q, table)
    pick = rows.T.long().expand(*q.shape[:2], -1, -1)
    scores = (torch.einsum("bnth,bnhs->bnts", q, k) + with_table.gather(-1, pick)) / q.shape[-1] ** 0.5
    return scores.transpose(-1, -2)


# %% 06.shaw | wrong | divides only q.k by sqrt(H) and adds q.r unscaled | variant=7, names=distance-not-scaled
def relative_scores(table, k, q, rows):
    content = q @ k / math.sqrt(q.shape[-1])
    vectors = table[rows.T]
    position = torch.einsum("bnth,tsh->bnts", q, vectors)
    return (content + position).transpose(-1, -2)


# %% 06.shaw | wrong | does not use the given rows but the usual clipped distances with start 0; wrong for any other rows, e.g. those of 06.relative with start 3, or rows in random order | variant=7, names=ignored:rows
def relative_scores(table, k, q, rows):
    T, S = q.shape[2], k.shape[3]
    far = (table.shape[0] - 1) // 2
    r = (torch.arange(S) - torch.arange(T)[:, None]).clamp(-far, far) + far
    s = q @ k + torch.einsum("bnth,tsh->bnts", q, table[r])
    return (s / q.shape[-1] ** 0.5).mT


# %% 06.shift | right | as the matrix exponential of steps times a skew matrix that holds each hand's turn | variant=2
def shift_matrix(d_model, steps):
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(d_model // 2):
        rate = 10_000.0 ** (-2 * i / d_model)
        generator[2 * i, 2 * i + 1] = -rate
        generator[2 * i + 1, 2 * i] = rate
    return torch.linalg.matrix_exp(generator * steps)


# %% 06.shift | wrong | the matrix for column vectors (matrix @ row) instead of row @ matrix: it shifts by -steps | variant=2, names=other-variant
def shift_matrix(d_model, steps):
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(d_model // 2):
        a = steps * 10_000.0 ** (-2 * i / d_model)
        matrix[2 * i, 2 * i], matrix[2 * i, 2 * i + 1] = math.cos(a), math.sin(a)
        matrix[2 * i + 1, 2 * i], matrix[2 * i + 1, 2 * i + 1] = -math.sin(a), math.cos(a)
    return matrix


# %% 06.shift | wrong | multiplies the one-step matrix `steps` times in a loop, so that negative steps give the identity | variant=2, names=negative-steps-ignored
def shift_matrix(d_model, steps):
    f = 10000.0 ** (-2 * torch.arange(d_model // 2).double() / d_model)
    one = torch.block_diag(
        *[torch.stack([torch.stack([a.cos(), -a.sin()]), torch.stack([a.sin(), a.cos()])]) for a in f]
    )
    m = torch.eye(d_model, dtype=torch.float64)
    for _ in range(steps):
        m = m @ one
    return m


# %% 06.sinusoids | right | complex numbers of length 1 (imaginary part = sine), seen as pairs of numbers, with the last column cut where D is odd | variant=2
def sinusoids(d_model, length):
    pairs = -(-d_model // 2)
    hand = torch.arange(pairs, dtype=torch.float64)
    turn_per_step = torch.exp(-2 * hand / d_model * math.log(10_000.0))
    angle = torch.arange(length, dtype=torch.float64).outer(turn_per_step)
    clock = torch.polar(torch.ones_like(angle), angle)
    both = torch.view_as_real(clock)  # (..., cos, sin)
    return both.flip(-1).reshape(length, 2 * pairs)[:, :d_model].float()


# %% 06.sinusoids | wrong | all sines in the first half, all cosines in the second, as other programs have it; the notebook wants them side by side | variant=2, names=halves
def sinusoids(d_model, length):
    pos = torch.arange(length)[:, None].double()
    freqs = 10000 ** (-2 * torch.arange((d_model + 1) // 2).double() / d_model)
    a = pos * freqs
    return torch.cat([a.sin(), a.cos()], dim=-1)[:, :d_model]


# %% 06.sinusoids | wrong | for an odd D the last hand keeps its cosine and loses its sine (the text leaves out the last cosine) | variant=2, names=last-cosine-kept
def sinusoids(d_model, length):
    pairs = (d_model + 1) // 2
    angles = torch.arange(length, dtype=torch.float64)[:, None] * 10_000.0 ** (
        -2 * torch.arange(pairs, dtype=torch.float64) / d_model
    )
    table = torch.zeros(length, d_model, dtype=torch.float64)
    for i in range(pairs):
        table[:, 2 * i] = torch.sin(angles[:, i])
        column = min(2 * i + 1, d_model - 1)
        table[:, column] = torch.cos(angles[:, i])
    return table


# %% 06.turn | right | points as complex numbers in double precision, times e^(i angle), then back | variant=1
def turn(angle, x):
    points = torch.complex(x[..., 0].double(), x[..., 1].double())
    turned = points * complex(math.cos(angle), math.sin(angle))
    return torch.stack((turned.real, turned.imag), dim=-1).to(x.dtype)


# %% 06.turn | wrong | overwrites the first number of its copy and then uses the new one for the second | variant=1, names=overwritten
def turn(angle, x):
    y = x.clone()
    c, s = math.cos(angle), math.sin(angle)
    y[..., 0] = c * y[..., 0] - s * y[..., 1]
    y[..., 1] = s * y[..., 0] + c * y[..., 1]
    return y
