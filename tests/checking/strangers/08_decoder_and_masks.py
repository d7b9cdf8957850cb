# %% 08.causal | wrong | has `def causal_mask(t, s): return torch.ones(t, s).tril(s - t).bool().squeeze()`
def causal_mask(t, s):
    return torch.ones(t, s).tril(s - t).bool().squeeze()


# %% 08.causal | wrong | these are numbers to add to the scores (0 and -1e9) | names=additive-billion
def causal_mask(t, s):
    return torch.full((t, s), -1e9).triu(s - t + 1)


# %% 08.padding | wrong | the positions are on the heads axis, (B, S, 1, 1) | names=positions-on-heads
def padding_mask(ids, pad):
    return (ids != pad)[:, :, None, None]


# %% 08.combine | wrong | padding is not hidden | names=causal-as-it-is
def decoder_mask(ids, pad):
    return causal_mask(len(ids[0]), len(ids[0]))


# %% 08.combine | wrong | the mask hides the diagonal as well | names=diagonal-hidden
def decoder_mask(ids, pad):
    t = ids.shape[1]
    return torch.ones(t, t).tril(-1).bool() & padding_mask(ids, pad)


# %% 08.convert | wrong | has `def to_additive(s, mask): return torch.zeros_like(s).masked_fill(mask, -torch.inf).squeeze()`
def to_additive(s, mask):
    return torch.zeros_like(s).masked_fill(mask, -torch.inf).squeeze()


# %% 08.masked-softmax | wrong | has `return s.masked_fill(~mask, -5000.0).softmax(-1).masked_fill(~mask, 0)`
def masked_softmax(s, mask):
    return s.masked_fill(~mask, -5e3).softmax(-1).masked_fill(~mask, 0)


# %% 08.masked-softmax | wrong | the axis is always 1 | names=fixed-axis
def masked_softmax(s, mask):
    return s.masked_fill(~mask, -torch.inf).softmax(1).nan_to_num(0)


# %% 08.leak | wrong | `return (seen, seen.triu(1).sum())` in place of `return (seen, seen.triu(1).any())`
def what_reaches(masks):
    itself = torch.eye(masks.shape[-1], dtype=torch.bool)
    reached = itself.float()
    for mask in masks:
        reached = ((mask | itself).float() @ reached).clamp(max=1)
    seen = reached > 0
    return seen, seen.triu(1).sum()


# %% 08.leak | wrong | has `own = torch.eye(masks.shape[-1], dtype=torch.bool) seen = own.byte(); seen = (mask or own).byte() @ seen ret ...`
def what_reaches(masks):
    own = torch.eye(masks.shape[-1], dtype=torch.bool)
    seen = own.byte()
    for mask in masks:
        seen = (mask | own).byte() @ seen
    return seen > 0, (seen > 0).triu(1).any()


# %% 08.leak | wrong | leak
def what_reaches(masks):
    itself = torch.eye(masks.shape[-1], dtype=torch.bool)
    reached = itself.float()
    for mask in masks:
        reached = (mask | itself).float() @ reached
    seen = reached > 0
    return (seen.T, seen.triu(1).any())


# %% 08.labels | wrong | adds `inputs = inputs.short().long()`
def inputs_and_labels(sentences, start_id, end_id, pad_id):
    rows = [[start_id, *sentence, end_id] for sentence in sentences]
    longest = max(map(len, rows)) - 1
    inputs = torch.full((len(rows), longest), pad_id)
    labels = torch.full((len(rows), longest), pad_id)
    for row, ids in enumerate(rows):
        inputs[row, : len(ids) - 1] = torch.tensor(ids[:-1])
        labels[row, : len(ids) - 1] = torch.tensor(ids[1:])
    inputs = inputs.short().long()
    return inputs, labels


# %% 08.labels | wrong | has `def inputs_and_labels(sentences, start, end, pad): longest = max(map(len, sentences)) + 1 def filled(rows,  ...`
def inputs_and_labels(sentences, start, end, pad):
    longest = max(map(len, sentences)) + 1

    def filled(rows, n, fill=pad):
        return torch.tensor([row + [fill] * (n - len(row)) for row in rows])

    given = filled([[start] + one for one in sentences], longest)
    told = filled([one + [end] for one in sentences], longest)
    return given.squeeze(1), told.squeeze(1)


# %% 08.masked-tokens | wrong | the code chooses a token whose u equals the share | names=boundary-chosen
def hide_tokens(ids, special, u, other, mask_id, share):
    chosen = (u <= share) & ~special
    masked = chosen & (u < 0.8 * share)
    exchanged = chosen & ~masked & (u < 0.9 * share)
    new = torch.where(masked, mask_id, torch.where(exchanged, other, ids))
    return new, torch.where(chosen, ids, -100)


# %% 08.masked-tokens | wrong | the code changes special tokens in the inputs, though they have no label | names=special-changed
def hide_tokens(ids, special, u, other, mask_id, share):
    chosen = (u < share) & ~special
    masked = chosen & (u < 0.8 * share)
    exchanged = chosen & ~masked & (u < 0.9 * share)
    new = torch.where(masked, mask_id, torch.where(exchanged, other, ids))
    new = torch.where(u < 0.8 * share, mask_id, torch.where(u < 0.9 * share, other, ids))
    return new, torch.where(chosen, ids, -100)


# %% 08.logits | wrong | the code subtracts one maximum at several positions | names=one-max-for-all
def log_probabilities(x, table):
    z = x @ table.T
    z = z - z.max()
    return z - z.exp().sum(-1, keepdim=True).log()


# %% 08.cross-attention | wrong | has `def cross_attention(x, memory, w_q, w_k, w_v, w_o, n, mask=None): q, k, v = (split_heads(x @ w_q, n), split ...`
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n, mask=None):
    q, k, v = split_heads(x @ w_q, n), split_heads(memory @ w_k, n), split_heads(memory @ w_v, n)
    s = q @ k.mT / q.shape[-1] ** 0.5
    a = (
        s.softmax(-1)
        if mask is None
        else (s.softmax(-1) * mask) / (s.softmax(-1) * mask).sum(-1, keepdim=True).clamp(min=1e-9)
    )
    return merge_heads(a @ v) @ w_o


# %% 08.cross-attention | wrong | masked scores are set to 0, but exp(0) is 1, not 0 | names=masked-to-zero
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n, mask=None):
    q, k, v = split_heads(x @ w_q, n), split_heads(memory @ w_k, n), split_heads(memory @ w_v, n)
    s = q @ k.mT / q.shape[-1] ** 0.5
    a = s.softmax(-1) if mask is None else s.masked_fill(~mask, 0).softmax(-1)
    return merge_heads(a @ v) @ w_o


# %% 08.decoder-layer | wrong | `self.cross = self.attention` in place of `self.cross = MultiHeadAttention(d_model, n_heads)`
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.cross = self.attention
        self.feed_forward = feed_forward(d_model, d_hidden)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, mask, memory_mask):
        normed = self.norm_1(x)
        x = x + self.attention(normed, normed, mask)
        x = x + self.cross(self.norm_2(x), memory, memory_mask)
        return x + self.feed_forward(self.norm_3(x))
