# %% 08.causal | wrong | triangle aligned at the top left: n_keys > n_queries shows only the oldest keys | names=top-left
def causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril()


# %% 08.causal | wrong | reads "earlier positions" strictly: the query's own position is hidden, too | names=diagonal-hidden
def causal_mask(n_queries, n_keys):
    position = torch.arange(n_keys - n_queries, n_keys)
    keys = torch.arange(n_keys)
    return keys[None, :] < position[:, None]


# %% 08.causal | right | builds the list of lists in Python, row by row
def causal_mask(n_queries, n_keys):
    rows = []
    for t in range(n_queries):
        visible = n_keys - n_queries + t + 1
        rows.append([True] * visible + [False] * (n_keys - visible))
    return torch.tensor(rows, dtype=torch.bool)


# %% 08.combine | wrong | OR instead of AND | variant=4, names=or-of-keeps
def decoder_mask(pad_id, ids):
    T = ids.shape[1]
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    real = (ids != pad_id)[:, None, None, :]
    return causal | real


# %% 08.combine | wrong | hides padding as queries as well as keys | variant=4, names=rows-of-padding-blind
def decoder_mask(pad_id, ids):
    real = ids != pad_id
    pairs = real[:, :, None] & real[:, None, :]
    return torch.tril(pairs).unsqueeze(1)


# %% 08.combine | wrong | rescues rows without a key by letting them attend to themselves (padding on the left: first query) | variant=4, names=blind-rows-see-themselves
def decoder_mask(pad_id, ids):
    T = ids.shape[1]
    causal = torch.tril(torch.ones(T, T)).bool()
    mask = causal & (ids != pad_id)[:, None, None, :]
    empty = ~mask.any(dim=-1, keepdim=True)
    return mask | (empty & torch.eye(T, dtype=torch.bool))


# %% 08.combine | right | De Morgan: collects the hidden pairs with masked_fill on a table of ones | variant=4
def decoder_mask(pad_id, ids):
    B, T = ids.shape
    where = torch.arange(T, device=ids.device)
    later = where.view(1, 1, 1, T) > where.view(1, 1, T, 1)
    padding = ids.eq(pad_id).view(B, 1, 1, T)
    may = torch.ones(B, 1, T, T, dtype=torch.bool, device=ids.device)
    return may.masked_fill(later | padding, False)


# %% 08.convert | wrong | multiplies the mask by -inf, so allowed cells become NaN | variant=3, names=zero-times-infinity
def to_additive(mask, scores):
    additive = mask.to(scores.dtype) * float("-inf")
    return additive.expand(scores.shape).transpose(-2, -1)


# %% 08.convert | wrong | the mask with one axis only (S,) is not exchanged with the others, so it hides queries (for T = S without an error) | variant=3
def to_additive(mask, scores):
    if mask.dim() >= 2:
        mask = mask.transpose(-1, -2)
    out = torch.zeros_like(scores).transpose(-1, -2).contiguous()
    return out.masked_fill(mask, float("-inf"))


# %% 08.convert | right | logarithm of the may-mask: log 1 = 0, log 0 = -inf | variant=3
def to_additive(mask, scores):
    may = torch.logical_not(mask).expand(scores.shape)
    return may.double().log().to(scores.dtype).transpose(-1, -2)


# %% 08.cross-attention | wrong | divides by sqrt(D) rather than sqrt(H) | names=sqrt-of-model-width
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, mask=None):
    q, k, v = split_heads(x @ w_q, n_heads), split_heads(memory @ w_k, n_heads), split_heads(memory @ w_v, n_heads)
    scores = q @ k.transpose(-1, -2) / math.sqrt(x.shape[-1])
    if mask is None:
        mask = torch.ones(1, dtype=torch.bool)
    return merge_heads(masked_softmax(scores, mask) @ v) @ w_o


# %% 08.cross-attention | wrong | a query without keys gives NaN | names=nan-rows
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, mask=None):
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(memory @ w_k, n_heads)
    v = split_heads(memory @ w_v, n_heads)
    scores = (q @ k.mT) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return merge_heads(weights @ v) @ w_o


# %% 08.cross-attention | wrong | a mask with three axes is taken as (B, T, S); by broadcasting it is (N, T, S), one for each head
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, mask=None):
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(memory @ w_k, n_heads)
    v = split_heads(memory @ w_v, n_heads)
    scores = (q @ k.mT) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    elif mask.dim() == 3:
        mask = mask.unsqueeze(1)
    return merge_heads(masked_softmax(scores, mask) @ v) @ w_o


# %% 08.cross-attention | right | a loop over the heads, each adds its part of the product with w_o
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, mask=None):
    (B, T, _), S = x.shape, memory.shape[1]
    H = w_q.shape[1] // n_heads
    if mask is None:
        may = torch.ones(B, n_heads, T, S, dtype=torch.bool, device=x.device)
    else:
        may = mask.expand(B, n_heads, T, S)
    result = 0
    for i in range(n_heads):
        own = slice(i * H, (i + 1) * H)
        q, k, v = x @ w_q[:, own], memory @ w_k[:, own], memory @ w_v[:, own]
        scores = torch.einsum("bth,bsh->bts", q, k) / math.sqrt(H)
        scores = scores.masked_fill(~may[:, i], -math.inf)
        empty = ~may[:, i].any(-1, keepdim=True)
        weights = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
        result = result + weights @ v @ w_o[own]
    return result


# %% 08.decoder-layer | wrong | the memory is normalised by norm_2 as well | names=memory-normed
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.cross = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = feed_forward(d_model, d_hidden)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, mask, memory_mask):
        normed = self.norm_1(x)
        x = x + self.attention(normed, normed, mask)
        x = x + self.cross(self.norm_2(x), self.norm_2(memory), memory_mask)
        return x + self.feed_forward(self.norm_3(x))


# %% 08.decoder-layer | wrong | memory_mask is not passed on to cross-attention | names=no-memory-mask
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.cross = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = feed_forward(d_model, d_hidden)
        self.norm_1, self.norm_2, self.norm_3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, memory, mask, memory_mask):
        h = self.norm_1(x)
        x = x + self.attention(h, h, mask)
        h = self.norm_2(x)
        x = x + self.cross(h, memory)
        h = self.norm_3(x)
        return x + self.feed_forward(h)


# %% 08.decoder-layer | right | a loop over pairs of norm and part; the parts are made by setattr
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        for name in ("attention", "cross"):
            setattr(self, name, MultiHeadAttention(d_model, n_heads))
        self.feed_forward = feed_forward(d_model, d_hidden)
        for i in (1, 2, 3):
            setattr(self, f"norm_{i}", nn.LayerNorm(d_model, eps=1e-5))

    def forward(self, x, memory, mask, memory_mask):
        steps = (
            (self.norm_1, lambda z: self.attention(z, z, mask)),
            (self.norm_2, lambda z: self.cross(z, memory, memory_mask)),
            (self.norm_3, self.feed_forward),
        )
        for norm, part in steps:
            x = torch.add(x, part(norm(x)))
        return x


# %% 08.labels | wrong | shifts after padding, so the end token is an input of shorter sentences | variant=3, names=end-still-given
def inputs_and_labels(sentences, end_id, start_id, pad_id):
    longest = max(len(s) for s in sentences) + 1
    labels = torch.tensor([[*s, end_id] + [pad_id] * (longest - len(s) - 1) for s in sentences])
    start = torch.full((len(sentences), 1), start_id)
    return labels, torch.cat([start, labels[:, :-1]], dim=1)


# %% 08.labels | wrong | appends the end token to the caller's lists | variant=3, names=inputs-changed
def inputs_and_labels(sentences, end_id, start_id, pad_id):
    labels, inputs = [], []
    for s in sentences:
        inputs.append(torch.tensor([start_id] + s))
        s.append(end_id)
        labels.append(torch.tensor(s))
    pad = lambda rows: nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
    return pad(labels), pad(inputs)


# %% 08.labels | wrong | an empty sentence is taken for a row of padding alone, in both tables | variant=3, names=empty-as-padding
def inputs_and_labels(sentences, end_id, start_id, pad_id):
    T = max(map(len, sentences)) + 1
    labels = torch.full((len(sentences), T), pad_id)
    inputs = torch.full((len(sentences), T), pad_id)
    for b, s in enumerate(sentences):
        n = len(s)
        if n:
            labels[b, :n] = torch.tensor(s)
            labels[b, n] = end_id
            inputs[b, 0] = start_id
            inputs[b, 1 : n + 1] = torch.tensor(s)
    return labels, inputs


# %% 08.labels | right | writes the tables by columns with zip_longest and transposes them | variant=3
def inputs_and_labels(sentences, end_id, start_id, pad_id):
    from itertools import chain, zip_longest

    def table(rows):
        columns = list(zip_longest(*rows, fillvalue=pad_id))
        return torch.tensor(columns, dtype=torch.long).t().contiguous()

    labels = [list(chain(s, [end_id])) for s in sentences]
    inputs = [list(chain([start_id], s)) for s in sentences]
    return table(labels), table(inputs)


# %% 08.leak | wrong | multiplies the layers in the wrong order | variant=5, names=order-reversed
def what_reaches(masks):
    L, T, _ = masks.shape
    eye = torch.eye(T)
    r = eye
    for mask in masks:
        r = ((mask.float() + eye) @ r).clamp(max=1)
    reached = r > 0
    return reached.tril(-1).any(), reached


# %% 08.leak | wrong | counts paths in uint8, which wraps at 256 (with 8 layers that attend to themselves the diagonal counts 2**8 = 0) | variant=5, names=paths-overflow
def what_reaches(masks):
    L, T, _ = masks.shape
    eye = torch.eye(T, dtype=torch.uint8)
    paths = eye
    for mask in masks.transpose(1, 2).to(torch.uint8):
        paths = ((mask + eye)[:, :, None] * paths[None, :, :]).sum(1).to(torch.uint8)
    reached = paths > 0
    return bool(reached.triu(1).any()), reached.t()


# %% 08.leak | right | follows each token through sets; the verdict comes from the single masks | variant=5
def what_reaches(masks):
    L, T, _ = masks.shape
    tables = masks.tolist()
    out = torch.zeros(T, T, dtype=torch.bool)
    for s in range(T):
        states = {s}
        for table in tables:
            states = states | {t for k in states for t in range(T) if table[k][t]}
        for t in states:
            out[s, t] = True
    verdict = any(table[s][t] for table in tables for s in range(T) for t in range(s))
    return verdict, out


# %% 08.logits | wrong | shifts by the largest logit of the whole batch: positions far below underflow | variant=2, names=one-max-for-all
def log_probabilities(x, table):
    logits = x @ table.T
    logits = logits - logits.max()
    return (logits - logits.exp().sum(-1, keepdim=True).log()) / math.log(10)


# %% 08.logits | wrong | guards the logarithm by a tiny number, so no result is below about -37 | variant=2, names=log-guarded
def log_probabilities(x, table):
    p = torch.softmax(x @ table.T, dim=-1)
    return torch.log10(p.clamp(min=1e-37))


# %% 08.logits | right | F.linear, float64 inside, logsumexp written out with each position's own maximum | variant=2
def log_probabilities(x, table):
    z = nn.functional.linear(x.double(), table.double())
    top = z.max(dim=-1, keepdim=True).values
    rest = torch.log10(torch.exp(z - top).sum(dim=-1, keepdim=True))
    return ((z - top) / math.log(10) - rest).to(x.dtype)


# %% 08.masked-softmax | wrong | shifts by the maximum of all scores, hidden ones included: where a hidden score is far above, the allowed weights are all 0 | names=mask-renormalised
def masked_softmax(s, mask):
    e = torch.exp(s - s.amax(dim=-1, keepdim=True)) * mask
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)


# %% 08.masked-softmax | wrong | computes in float32 and never goes back, so float16 and float64 scores give float32 | names=dtype-lost
def masked_softmax(s, mask):
    hidden = ~mask
    w = s.float().masked_fill(hidden, float("-inf")).softmax(dim=-1)
    return torch.nan_to_num(w, nan=0.0)


# %% 08.masked-softmax | right | log-space in float64: score minus logsumexp of the allowed ones, and back
def masked_softmax(s, mask):
    mask = mask.expand(s.shape)
    x = s.double()
    alive = mask.any(-1, keepdim=True)
    kept = x.masked_fill(~mask, -math.inf).masked_fill(~alive, 0.0)
    log_w = kept - torch.logsumexp(kept, -1, keepdim=True)
    w = torch.exp(log_w).masked_fill(~mask, 0.0)
    return w.to(s.dtype)


# %% 08.masked-tokens | wrong | labels only where the input was changed: the tokens that stay have none | variant=4, names=kept-without-label
def hide_tokens(ids, special, u, other, mask_id, share):
    chosen = (u < share) & ~special
    inputs = torch.where(chosen & (u < 0.9 * share), other, ids)
    inputs = torch.where(chosen & (u < 0.8 * share), torch.full_like(ids, mask_id), inputs)
    labels = torch.where(inputs != ids, ids, torch.full_like(ids, -5))
    return inputs, labels


# %% 08.masked-tokens | wrong | u equal to the share counts as chosen (u = share = 0.5) | variant=4, names=boundary-chosen
def hide_tokens(ids, special, u, other, mask_id, share):
    free = special.logical_not()
    chosen = (u <= share) & free
    inputs = ids.clone()
    inputs = inputs.masked_fill(free & (u < 0.8 * share), mask_id)
    inputs = torch.where(free & (u >= 0.8 * share) & (u < 0.9 * share), other, inputs)
    labels = ids.masked_fill(~chosen, -5)
    return inputs, labels


# %% 08.masked-tokens | right | a case number for each token, then a choice among three stacked tables | variant=4
def hide_tokens(ids, special, u, other, mask_id, share):
    case = 2 - (u < 0.8 * share).long() - (u < 0.9 * share).long()
    chosen = torch.logical_and(u < share, torch.logical_not(special))
    case = case.masked_fill(~chosen, 2)
    choices = torch.stack([torch.full_like(ids, mask_id), other.to(ids.dtype), ids])
    inputs = choices.gather(0, case.unsqueeze(0)).squeeze(0)
    labels = ids * chosen - 5 * (~chosen).to(ids.dtype)
    return inputs, labels


# %% 08.padding | wrong | pad_id ignored: id 0 is taken as padding | names=pad-is-zero
def padding_mask(ids, pad_id):
    return (ids > 0)[:, None, None, :]


# %% 08.padding | wrong | counts the real tokens and lets the first so many attend; wrong for padding at the left end | names=counted-from-left
def padding_mask(ids, pad_id):
    lengths = (ids != pad_id).sum(dim=1)
    position = torch.arange(ids.shape[1])
    real = position[None, :] < lengths[:, None]
    return real.unsqueeze(1).unsqueeze(1)


# %% 08.padding | right | equality turned round by xor, then a view
def padding_mask(ids, pad_id):
    is_pad = torch.eq(ids, pad_id)
    real = is_pad ^ torch.ones_like(is_pad)
    return real.reshape(ids.shape[0], 1, 1, ids.shape[1])


# %% 08.transformer | wrong | the L layers of a stack are one and the same layer | names=other-parameters
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, n_heads, d_hidden)] * n_layers)
        self.decoder = nn.ModuleList([DecoderLayer(d_model, n_heads, d_hidden)] * n_layers)
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)

    def embed(self, ids):
        x = self.embedding[ids] * math.sqrt(self.embedding.shape[1])
        return x + sinusoidal(ids.shape[1], self.embedding.shape[1]).to(x)

    def forward(self, source_ids, target_ids):
        source_mask = padding_mask(source_ids, self.pad_id)
        x = self.embed(source_ids)
        for layer in self.encoder:
            x = layer(x, source_mask)
        memory = self.encoder_norm(x)
        T = target_ids.shape[1]
        y = self.embed(target_ids)
        for layer in self.decoder:
            y = layer(y, memory, causal_mask(T, T), source_mask)
        return self.decoder_norm(y) @ self.embedding.T


# %% 08.transformer | wrong | the decoder reads the encoder's output before the encoder's last norm | names=no-encoder-norm
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id):
        super().__init__()
        self.pad_id, self.d_model = pad_id, d_model
        self.embedding = nn.Parameter(torch.empty(vocab_size, d_model))
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_hidden) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_hidden) for _ in range(n_layers))
        self.decoder_norm = nn.LayerNorm(d_model)

    def embed(self, ids):
        return self.embedding[ids] * self.d_model**0.5 + sinusoidal(ids.shape[-1], self.d_model).to(
            self.embedding.dtype
        )

    def forward(self, source_ids, target_ids):
        source_mask = padding_mask(source_ids, self.pad_id)
        memory = self.embed(source_ids)
        for layer in self.encoder:
            memory = layer(memory, source_mask)
        y = self.embed(target_ids)
        mask = causal_mask(y.shape[1], y.shape[1])
        for layer in self.decoder:
            y = layer(y, memory, mask, source_mask)
        return self.decoder_norm(y) @ self.embedding.mT


# %% 08.transformer | wrong | the decoder also hides the target's padding; wrong where pad_id is in the target, e.g. in front or as the start token | names=target-padding-hidden
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Parameter(torch.zeros(vocab_size, d_model))
        self.encoder = nn.ModuleList([EncoderLayer(d_model, n_heads, d_hidden) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(d_model, n_heads, d_hidden) for _ in range(n_layers)])
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def embed(self, ids):
        D = self.embedding.shape[1]
        return self.embedding[ids] * math.sqrt(D) + sinusoidal(ids.shape[1], D).to(self.embedding.dtype)

    def forward(self, source_ids, target_ids):
        real = padding_mask(source_ids, self.pad_id)
        x = self.embed(source_ids)
        for layer in self.encoder:
            x = layer(x, real)
        memory = self.encoder_norm(x)
        T = target_ids.shape[1]
        mask = causal_mask(T, T) & padding_mask(target_ids, self.pad_id)
        y = self.embed(target_ids)
        for layer in self.decoder:
            y = layer(y, memory, mask, real)
        return self.decoder_norm(y) @ self.embedding.T


# %% 08.transformer | right | F.embedding, reduce over the layers, einsum for the logits, None for the mask of a single target token
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Parameter(torch.randn(vocab_size, d_model) / math.sqrt(d_model))
        for name, kind in (("encoder", EncoderLayer), ("decoder", DecoderLayer)):
            setattr(self, name, nn.ModuleList())
            for _ in range(n_layers):
                getattr(self, name).append(kind(d_model, n_heads, d_hidden))
            setattr(self, f"{name}_norm", nn.LayerNorm(d_model))

    def embed(self, ids):
        width = self.embedding.size(1)
        rows = nn.functional.embedding(ids, self.embedding)
        places = sinusoidal(ids.size(1), width).to(rows)
        return torch.add(places, rows, alpha=math.sqrt(width))

    def forward(self, source_ids, target_ids):
        from functools import reduce

        real = source_ids.ne(self.pad_id).unflatten(0, (-1, 1, 1))
        memory = self.encoder_norm(reduce(lambda x, layer: layer(x, real), self.encoder, self.embed(source_ids)))
        T = target_ids.size(1)
        past = None if T == 1 else torch.ones(T, T, device=target_ids.device).triu(1) == 0
        y = reduce(lambda y, layer: layer(y, memory, past, real), self.decoder, self.embed(target_ids))
        return torch.einsum("btd,vd->btv", self.decoder_norm(y), self.embedding)
