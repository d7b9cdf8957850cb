# %% 90.causal | right | compares distances from the end: a key may be seen if it is at least as far from the end as the query
def causal_mask(n_queries, n_keys):
    query_from_end = torch.arange(n_queries - 1, -1, -1)
    key_from_end = torch.arange(n_keys - 1, -1, -1)
    return torch.ge(key_from_end.unsqueeze(0), query_from_end.unsqueeze(1))


# %% 90.causal | wrong | diagonal at 0: query t stands at position t, as if S were T; the newest tokens do not see the cache's end | names=top-left
def causal_mask(n_queries, n_keys):
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril()


# %% 90.causal | wrong | the right triangle, but of zeros and ones in float, not boolean | names=another-kind
def causal_mask(n_queries, n_keys):
    return torch.tril(torch.ones(n_queries, n_keys), diagonal=n_keys - n_queries)


# %% 90.cross-attention | right | a loop over heads; each head's part times its rows of w_o, summed up in place of merging
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, mask=None):
    B, T, S = x.shape[0], x.shape[1], memory.shape[1]
    H = w_q.shape[1] // n_heads
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=x.device)
    allowed = mask.expand(B, n_heads, T, S)
    out = 0
    for i in range(n_heads):
        cols = slice(i * H, (i + 1) * H)
        q, k, v = x @ w_q[:, cols], memory @ w_k[:, cols], memory @ w_v[:, cols]
        scores = torch.bmm(q, k.mT) / math.sqrt(H)
        out = out + masked_softmax(scores, allowed[:, i]) @ v @ w_o[cols]
    return out


# %% 90.cross-attention | wrong | takes D // N for the width of a head in the root: scale is wrong where N*H is not D | names=sqrt-of-model-by-heads
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, mask=None):
    H = x.shape[-1] // n_heads
    q = split_heads(x @ w_q, n_heads)
    k, v = split_heads(memory @ w_k, n_heads), split_heads(memory @ w_v, n_heads)
    s = q @ k.mT / math.sqrt(H)
    if mask is None:
        mask = torch.ones_like(s, dtype=torch.bool)
    return merge_heads(masked_softmax(s, mask) @ v) @ w_o


# %% 90.cross-attention | wrong | adds -1e4 to masked scores: not enough where scores are in the tens of thousands, and fully masked queries mix all values
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, mask=None):
    q, k, v = (split_heads(a @ w, n_heads) for a, w in ((x, w_q), (memory, w_k), (memory, w_v)))
    scores = torch.einsum("bnth,bnsh->bnts", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + (~mask).to(scores.dtype) * -1e4
    return merge_heads(scores.softmax(-1) @ v) @ w_o


# %% 90.decoder-layer | right | a loop over (norm, part), with norms by F.layer_norm from the modules' own weights
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        for name in ("attention", "cross"):
            setattr(self, name, MultiHeadAttention(d_model, n_heads))
        self.feed_forward = feed_forward(d_model, d_hidden)
        for i in (1, 2, 3):
            setattr(self, f"norm_{i}", nn.LayerNorm(d_model))

    def forward(self, x, memory, mask, memory_mask):
        parts = (
            (self.norm_1, lambda h: self.attention(h, h, mask)),
            (self.norm_2, lambda h: self.cross(h, memory, memory_mask)),
            (self.norm_3, self.feed_forward),
        )
        for norm, part in parts:
            x = x + part(F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps))
        return x


# %% 90.decoder-layer | wrong | in the self-attention only the queries are normed, keys and values come from x as it is | names=keys-not-normed
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.cross = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = feed_forward(d_model, d_hidden)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, mask, memory_mask):
        x = x + self.attention(self.norm_1(x), x, mask)
        x = x + self.cross(self.norm_2(x), memory, memory_mask)
        return x + self.feed_forward(self.norm_3(x))


# %% 90.decoder-layer | wrong | overwrites x with its norm, so that the residual path carries norm(x) + part(norm(x)) | names=residual-from-normed
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        self.attention, self.cross = MultiHeadAttention(d_model, n_heads), MultiHeadAttention(d_model, n_heads)
        self.feed_forward = feed_forward(d_model, d_hidden)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, mask, memory_mask):
        x = self.norm_1(x)
        x = x + self.attention(x, x, mask)
        x = self.norm_2(x)
        x = x + self.cross(x, memory, memory_mask)
        x = self.norm_3(x)
        return x + self.feed_forward(x)


# %% 90.greedy | right | each sentence by itself, as a list of ids, padded at the end
@torch.no_grad()
def write_greedily(
    vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, start_id, end_id, longest, source, *weights
):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    result = torch.full((source.shape[0], longest), pad_id, dtype=torch.long)
    for row, sentence in zip(result, source):
        written = [start_id]
        while len(written) <= longest:
            logits = model(sentence[None], torch.tensor([written]))
            written.append(logits[0, -1].argmax().item())
            if written[-1] == end_id:
                break
        row[: len(written) - 1] = torch.tensor(written[1:], dtype=torch.long)
    return result


# %% 90.greedy | wrong | forbids the pad and the start token (scores minus infinity), though any word may be written | names=ignored:n_heads
@torch.no_grad()
def write_greedily(
    vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, start_id, end_id, longest, source, *weights
):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    B = source.shape[0]
    ids = torch.full((B, 1), start_id, dtype=torch.long)
    done = torch.zeros(B, dtype=torch.bool)
    for _ in range(longest):
        scores = model(source, ids)[:, -1].clone()
        scores[:, [pad_id, start_id]] = -math.inf
        best = scores.argmax(dim=-1)
        best = torch.where(done, torch.full_like(best, pad_id), best)
        ids = torch.cat([ids, best[:, None]], dim=1)
        done = done | (best == end_id)
    return ids[:, 1:]


# %% 90.greedy | wrong | stops as soon as all sentences have ended and returns what there is: fewer than `longest` positions if all end early | names=not-filled-up
@torch.no_grad()
def write_greedily(
    vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, start_id, end_id, longest, source, *weights
):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    ids = torch.full((len(source), 1), start_id, dtype=torch.long)
    done = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(longest):
        nxt = model(source, ids)[:, -1].argmax(-1)
        nxt[done] = pad_id
        ids = torch.cat([ids, nxt[:, None]], 1)
        done |= nxt == end_id
        if done.all():
            break
    return ids[:, 1:]


# %% 90.loss | right | by logsumexp and plain sums over real words: logsumexp - (1 - eps) * right - eps * mean of the logits
def translation_loss(logits, labels, pad_id, eps):
    real = labels != pad_id
    scores, words = logits[real], labels[real]
    scores = scores - scores.max(dim=1, keepdim=True).values  # changes no difference, keeps digits
    right = torch.take_along_dim(scores, words[:, None], dim=1)[:, 0]
    each = scores.logsumexp(dim=1) - (1 - eps) * right - eps * scores.mean(dim=1)
    return each.sum() / len(words)


# %% 90.loss | wrong | spreads eps over the V - 1 wrong words: the right one has 1 - eps, without its own eps / V | names=others-alone
def translation_loss(logits, labels, pad_id, eps):
    V = logits.shape[-1]
    log_p = logits.log_softmax(dim=-1)
    wanted = torch.full_like(log_p, eps / (V - 1))
    wanted.scatter_(-1, labels.unsqueeze(-1), 1 - eps)
    per_word = -(wanted * log_p).sum(dim=-1)
    real = labels != pad_id
    return per_word[real].mean()


# %% 90.loss | wrong | log of a clamped softmax: logits of hundreds give -log(1e-9) for improbable words in place of the true number
def translation_loss(logits, labels, pad_id, eps):
    p = logits.softmax(-1).clamp(min=1e-9)
    log_p = p.log()
    nll = -log_p.gather(-1, labels[..., None]).squeeze(-1)
    smooth = -log_p.mean(-1)
    loss = (1 - eps) * nll + eps * smooth
    keep = labels != pad_id
    return (loss * keep).sum() / keep.sum()


# %% 90.masked-softmax | right | exponentials times the mask, maximum over what may be seen, and 1 in place of an empty sum
def masked_softmax(s, mask):
    mask = mask.expand_as(s)
    low = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    top = low.amax(dim=-1, keepdim=True).detach()
    # difference set to 0 where masked, so that nothing there can become infinite
    e = torch.where(mask, s - top, torch.zeros_like(s)).exp() * mask
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total > 0, total, torch.ones_like(total))


# %% 90.masked-softmax | wrong | fills with -1e9 and applies the softmax: a fully masked row is uniform, not zeros | names=uniform-where-blind
def masked_softmax(s, mask):
    return s.masked_fill(~mask, -1e9).softmax(dim=-1)


# %% 90.masked-softmax | wrong | adds minus infinity and replaces NaN after the softmax: values are right, but the gradient of a fully masked row is NaN
def masked_softmax(s, mask):
    bias = torch.zeros(mask.shape, dtype=s.dtype).masked_fill(mask.logical_not(), -math.inf)
    return torch.softmax(s + bias, dim=-1).nan_to_num(0.0)


# %% 90.merge | right | takes the heads apart with unbind and concatenates them on the last axis
def merge_heads(z):
    return torch.cat(z.unbind(dim=-3), dim=-1)


# %% 90.merge | wrong | transposes axes 1 and 2 counted from the front: right for (B, N, T, H) alone, wrong for (N, T, H) and for five axes | names=axes-one-and-two
def merge_heads(z):
    return z.transpose(1, 2).flatten(-2)


# %% 90.merge | wrong | moves the heads behind H, so that the numbers of the heads are interleaved: all first numbers, then all second ones | names=interleaved
def merge_heads(z):
    return z.movedim(-3, -1).flatten(-2)


# %% 90.padding | right | difference from pad_id as a boolean, reshaped
def padding_mask(ids, pad_id):
    B, S = ids.shape
    return (ids - pad_id).to(torch.bool).reshape(B, 1, 1, S)


# %% 90.padding | wrong | takes all ids above pad_id for real ones: right for pad_id = 0 only | names=greater
def padding_mask(ids, pad_id):
    return (ids > pad_id)[:, None, None, :]


# %% 90.padding | wrong | puts the tokens on the axis of the queries: (B, 1, S, 1), not (B, 1, 1, S) | names=on-queries
def padding_mask(ids, pad_id):
    return ids.ne(pad_id)[:, None, :, None]


# %% 90.split | right | chunks of the last axis, stacked as a new axis before the tokens
def split_heads(x, n_heads):
    return torch.stack(torch.chunk(x, n_heads, dim=-1), dim=-3)


# %% 90.split | wrong | gives head i every n_heads-th column (i, i + N, ...) in place of the slice i*H : (i+1)*H | names=interleaved
def split_heads(x, n_heads):
    width = x.shape[-1] // n_heads
    return x.unflatten(-1, (width, n_heads)).movedim(-1, -3)


# %% 90.split | wrong | a plain reshape to (..., N, T, H): the right shape, but tokens and heads mixed up unless T or N is 1 | names=reshape-alone
def split_heads(x, n_heads):
    *front, T, D = x.shape
    return x.reshape(*front, n_heads, T, D // n_heads)


# %% 90.train | right | all weights as a single vector, the model called with pieces of it by functional_call, Adam written out on the vector
from torch.func import functional_call


def train_steps(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, source, target, rates, *weights):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    names, own = zip(*sorted(model.named_parameters()))
    sizes = [w.numel() for w in own]
    w = weights_of(model)
    m, v = torch.zeros_like(w), torch.zeros_like(w)
    losses = []
    for k in range(1, len(rates) + 1):
        batch, rows, rate = source[k - 1], target[k - 1], float(rates[k - 1])
        w = w.detach().requires_grad_()
        pieces = {name: piece.view(old.shape) for name, old, piece in zip(names, own, w.split(sizes))}
        logits = functional_call(model, pieces, (batch, rows[:, :-1]))
        loss = translation_loss(logits, rows[:, 1:], pad_id, 0.1)
        (g,) = torch.autograd.grad(loss, w)
        losses.append(loss.detach())
        with torch.no_grad():
            m = torch.lerp(g, m, 0.9)
            v = torch.lerp(g * g, v, 0.98)
            w = w - rate * (m / (1 - 0.9**k)) / ((v / (1 - 0.98**k)).sqrt() + 1e-9)
    return torch.stack(losses), w.detach()


# %% 90.train | wrong | makes the optimiser with rates[0] and never changes it: the rates of later steps are ignored | names=first-rate-alone
def train_steps(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, source, target, rates, *weights):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    opt = torch.optim.Adam(model.parameters(), lr=float(rates[0]), betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for src, tgt in zip(source, target):
        loss = translation_loss(model(src, tgt[:, :-1]), tgt[:, 1:], pad_id, 0.1)
        losses.append(loss.detach())
        opt.zero_grad()
        loss.backward()
        opt.step()
    return torch.stack(losses), weights_of(model)


# %% 90.train | wrong | gradients are never cleared, so that from the second step on they add up over the steps | names=gradients-kept
def train_steps(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, source, target, rates, *weights):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    params = [p for _, p in sorted(model.named_parameters())]
    m = [torch.zeros_like(p) for p in params]
    v = [torch.zeros_like(p) for p in params]
    losses = []
    for step in range(len(rates)):
        rows = target[step]
        logits = model(source[step], rows[:, :-1])
        loss = translation_loss(logits, rows[:, 1:], pad_id, 0.1)
        losses.append(loss.item())
        loss.backward()
        k = step + 1
        with torch.no_grad():
            for i, p in enumerate(params):
                m[i] = 0.9 * m[i] + 0.1 * p.grad
                v[i] = 0.98 * v[i] + 0.02 * p.grad**2
                p -= rates[step] * (m[i] / (1 - 0.9**k)) / ((v[i] / (1 - 0.98**k)).sqrt() + 1e-9)
    return torch.tensor(losses, dtype=weights[0].dtype), weights_of(model)


# %% 90.transformer | right | one-hot rows times the matrix for embedding, einsum for logits, functools.reduce over layers
from functools import reduce


class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Parameter(torch.randn(vocab_size, d_model) / math.sqrt(d_model))
        sizes = (d_model, n_heads, d_hidden)
        self.encoder = nn.ModuleList([EncoderLayer(*sizes) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(*sizes) for _ in range(n_layers)])
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)

    def embed(self, ids):
        table = self.embedding
        V, D = table.shape
        rows = F.one_hot(ids, V).to(table.dtype) @ table
        return rows * math.sqrt(D) + sinusoidal(ids.shape[-1], D).to(table)

    def forward(self, source_ids, target_ids):
        seen = padding_mask(source_ids, self.pad_id)
        n = target_ids.shape[1]
        memory = self.encoder_norm(reduce(lambda x, layer: layer(x, seen), self.encoder, self.embed(source_ids)))
        earlier = causal_mask(n, n)
        x = reduce(lambda y, layer: layer(y, memory, earlier, seen), self.decoder, self.embed(target_ids))
        return torch.einsum("btd,vd->btv", self.decoder_norm(x), self.embedding)


# %% 90.transformer | wrong | masks padding in the target, too: the text wants a causal mask and no other (differs where the pad's id stands in the target) | names=target-padding-hidden
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id):
        super().__init__()
        self.pad_id, self.d_model = pad_id, d_model
        self.embedding = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, n_heads, d_hidden) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder = nn.ModuleList(DecoderLayer(d_model, n_heads, d_hidden) for _ in range(n_layers))
        self.decoder_norm = nn.LayerNorm(d_model)

    def embed(self, ids):
        return self.embedding[ids] * math.sqrt(self.d_model) + sinusoidal(ids.shape[1], self.d_model).to(self.embedding)

    def forward(self, source_ids, target_ids):
        memory_mask = padding_mask(source_ids, self.pad_id)
        T = target_ids.shape[1]
        mask = causal_mask(T, T) & padding_mask(target_ids, self.pad_id)
        memory = self.embed(source_ids)
        for layer in self.encoder:
            memory = layer(memory, memory_mask)
        memory = self.encoder_norm(memory)
        x = self.embed(target_ids)
        for layer in self.decoder:
            x = layer(x, memory, mask, memory_mask)
        return self.decoder_norm(x) @ self.embedding.T


# %% 90.transformer | wrong | a table of positions for 64 tokens, made once: longer sentences fail
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id):
        super().__init__()
        self.pad_id = pad_id
        self.scale = d_model**0.5
        self.embedding = nn.Parameter(torch.randn(vocab_size, d_model) / self.scale)
        self.register_buffer("positions", sinusoidal(64, d_model), persistent=False)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, n_heads, d_hidden) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(d_model, n_heads, d_hidden) for _ in range(n_layers)])
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def embed(self, ids):
        return self.embedding[ids] * self.scale + self.positions[: ids.shape[1]].to(self.embedding.dtype)

    def forward(self, source_ids, target_ids):
        pad = padding_mask(source_ids, self.pad_id)
        T = target_ids.shape[1]
        m = self.embed(source_ids)
        for enc in self.encoder:
            m = enc(m, pad)
        m = self.encoder_norm(m)
        y = self.embed(target_ids)
        for dec in self.decoder:
            y = dec(y, m, causal_mask(T, T), pad)
        return self.decoder_norm(y) @ self.embedding.T
