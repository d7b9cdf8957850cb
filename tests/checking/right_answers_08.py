"""Chapter 8: right answers written otherwise: loops, numpy, other functions of torch, other orders."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def causal_tril(t, s):
    return torch.ones(t, s).tril(diagonal=s - t) == 1


def causal_numpy(t, s):
    return ~np.triu(np.ones((t, s), dtype=bool), k=1 + s - t)


def padding_numpy(ids, pad_id):
    return np.expand_dims(ids.numpy() != pad_id, (1, 2))


def padding_where(ids, pad_id):
    return torch.where(ids == pad_id, 0, 1).bool().unsqueeze(1).unsqueeze(1)


def combine_loops(ids, pad_id):
    rows = ids.tolist()
    return [[[[s <= t and row[s] != pad_id for s in range(len(row))] for t in range(len(row))]] for row in rows]


def combine_products(ids, pad_id):
    t = ids.shape[1]
    return torch.tril(torch.ones(t, t)).bool() * (ids != pad_id)[:, None, None, :]


def convert_logarithm(scores, mask):
    return torch.log((~mask).to(scores.dtype)).expand_as(scores)


def convert_numpy(scores, mask):
    added = np.zeros(scores.shape, dtype=scores.numpy().dtype)
    added[np.broadcast_to(mask.numpy(), added.shape)] = -np.inf
    return added


def softmax_exponentials(s, mask):
    s = torch.where(mask, s, -torch.inf)
    largest = s.amax(-1, keepdim=True).detach().clamp(min=torch.finfo(s.dtype).min)
    e = torch.exp(s - largest)
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30)


def softmax_whatever_is_blind(s, mask):
    blind = ~mask.any(-1, keepdim=True)
    a = F.softmax(s.masked_fill(~(mask | blind), -math.inf), dim=-1)
    return a.masked_fill(blind, 0)


def leak_sets(masks):
    n = masks.shape[1]
    heard = [{t} for t in range(n)]
    for mask in masks.tolist():
        heard = [heard[t].union(*(heard[s] for s in range(n) if mask[t][s])) for t in range(n)]
    return [[s in heard[t] for s in range(n)] for t in range(n)], any(s > t for t in range(n) for s in heard[t])


def leak_gradients(masks):
    """Numbers that flow through the model: what has a gradient has been reached."""
    x = torch.ones(masks.shape[1], dtype=torch.float64, requires_grad=True)
    y = x
    for mask in masks:
        y = y + mask.double() @ y
    rows = [torch.autograd.grad(output, x, retain_graph=True)[0] for output in y]
    reached = torch.stack(rows) > 0
    return reached, bool(reached.triu(diagonal=1).sum() > 0)


def labels_lists(sentences, start_id, end_id, pad_id):
    longest = max(len(sentence) for sentence in sentences) + 1

    def filled(ids):
        return ids + [pad_id] * (longest - len(ids))

    return [filled([start_id] + sentence) for sentence in sentences], [
        filled(sentence + [end_id]) for sentence in sentences
    ]


def labels_padded_first(sentences, start_id, end_id, pad_id):
    rows = nn.utils.rnn.pad_sequence([torch.tensor([*s, end_id]) for s in sentences], True, pad_id)
    begun = nn.utils.rnn.pad_sequence([torch.tensor([start_id, *s]) for s in sentences], True, pad_id)
    return begun, rows


def hide_numpy(ids, special, u, other, mask_id, share):
    ids, special, u, other = (tensor.numpy() for tensor in (ids, special, u, other))
    chosen = np.logical_and(u < share, np.logical_not(special))
    inputs = np.select([chosen & (u < 0.8 * share), chosen & (u < 0.9 * share)], [mask_id, other], ids)
    return inputs, np.where(chosen, ids, -100)


def hide_in_place(ids, special, u, other, mask_id, share):
    kind = u.masked_fill(special, 2.0) / share
    inputs, labels = ids.clone(), ids.clone()
    labels[kind >= 1] = -100
    inputs[kind < 0.9] = other[kind < 0.9]
    inputs[kind < 0.8] = mask_id
    return inputs, labels


def words_by_hand(x, table):
    logits = torch.einsum("btd,vd->btv", x, table)
    top = logits.max(dim=-1, keepdim=True).values
    return logits - top - (logits - top).exp().sum(-1, keepdim=True).log()


def words_by_losses(x, table):
    logits = (x @ table.T).flatten(0, 1)
    n, v = logits.shape
    losses = [F.cross_entropy(logits, torch.full((n,), word), reduction="none") for word in range(v)]
    return -torch.stack(losses, dim=-1).reshape(*x.shape[:2], v)


def cross_einsum(x, memory, w_q, w_k, w_v, w_o, n, mask=None):
    q, k, v = ((a @ w).unflatten(-1, (n, -1)) for a, w in ((x, w_q), (memory, w_k), (memory, w_v)))
    s = torch.einsum("btnh,bsnh->bnts", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -math.inf)
    a = s.softmax(-1).nan_to_num(nan=0.0)
    return torch.einsum("bnts,bsnh->btnh", a, v).flatten(2) @ w_o


class Attention(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.n = n
        for name in ("w_v", "w_o", "w_k", "w_q"):
            self.register_parameter(name, nn.Parameter(torch.zeros(d, d)))

    def forward(self, x, memory, mask):
        return cross_einsum(x, memory, self.w_q, self.w_k, self.w_v, self.w_o, self.n, mask)


def thinking(d, f):
    return nn.Sequential(nn.Linear(d, f), nn.ReLU(), nn.Linear(f, d))


class LayerOfDictionaries(nn.Module):
    """Parts in a list of steps, each with its norm."""

    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        self.attention, self.cross = Attention(d_model, n_heads), Attention(d_model, n_heads)
        self.feed_forward = thinking(d_model, d_hidden)
        for i in (1, 2, 3):
            self.add_module(f"norm_{i}", nn.LayerNorm(d_model, eps=1e-5))

    def forward(self, x, memory, mask, memory_mask):
        steps = (
            (self.norm_1, lambda y: self.attention(y, y, mask)),
            (self.norm_2, lambda y: self.cross(y, memory, memory_mask)),
            (self.norm_3, self.feed_forward),
        )
        for norm, step in steps:
            x = step(norm(x)) + x
        return x


class LayerOfOneLine(LayerOfDictionaries):
    def forward(self, x, memory, mask, memory_mask):
        normed = self.norm_1(x)
        back = self.attention(normed, normed, mask)
        across = self.cross(self.norm_2(x + back), memory, memory_mask)
        return x + back + across + self.feed_forward(self.norm_3(x + back + across))


class EncoderStep(nn.Module):
    def __init__(self, d, n, f):
        super().__init__()
        self.attention, self.feed_forward = Attention(d, n), thinking(d, f)
        self.norm_1, self.norm_2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x, mask):
        y = self.norm_1(x)
        x = x + self.attention(y, y, mask)
        return x + self.feed_forward(self.norm_2(x))


class ModelOfLists(nn.Module):
    layer = LayerOfDictionaries

    def __init__(self, vocab, d, n, f, layers, pad):
        super().__init__()
        self.pad = pad
        self.decoder_norm, self.encoder_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.decoder, self.encoder = nn.ModuleList(), nn.ModuleList()
        for _ in range(layers):
            self.decoder.append(self.layer(d, n, f))
            self.encoder.append(EncoderStep(d, n, f))
        self.embedding = nn.Parameter(torch.randn(vocab, d))

    def places(self, length):
        d = self.embedding.shape[1]
        table = [[(math.sin, math.cos)[j % 2](i / 10000 ** (j // 2 * 2 / d)) for j in range(d)] for i in range(length)]
        return torch.tensor(table, dtype=self.embedding.dtype)

    def embed(self, ids):
        d = self.embedding.shape[1]
        return F.embedding(ids, self.embedding) * d**0.5 + self.places(ids.shape[1])

    def forward(self, source, target):
        real = padding_where(source, self.pad)
        x, y = self.embed(source), self.embed(target)
        for layer in self.encoder:
            x = layer(x, real)
        x = self.encoder_norm(x)
        past = causal_tril(target.shape[1], target.shape[1])
        for layer in self.decoder:
            y = layer(y, x, past, real)
        return F.linear(self.decoder_norm(y), self.embedding)


class ModelSentenceBySentence(ModelOfLists):
    """Padding is cut away instead of hidden."""

    layer = LayerOfOneLine

    def forward(self, source, target):
        return torch.cat(
            [self.run_sentence(s[s != self.pad][None], t[None]) for s, t in zip(source, target, strict=True)]
        )

    def run_sentence(self, source, target):
        return ModelOfLists.forward(self, source, target)


RIGHT = {
    "08.causal": [causal_tril, causal_numpy],
    "08.padding": [padding_numpy, padding_where],
    "08.combine": [combine_loops, combine_products],
    "08.convert": [convert_logarithm, convert_numpy],
    "08.masked-softmax": [softmax_exponentials, softmax_whatever_is_blind],
    "08.leak": [leak_sets, leak_gradients],
    "08.labels": [labels_lists, labels_padded_first],
    "08.masked-tokens": [hide_numpy, hide_in_place],
    "08.logits": [words_by_hand, words_by_losses],
    "08.cross-attention": [cross_einsum],
    "08.decoder-layer": [LayerOfDictionaries, LayerOfOneLine],
    "08.transformer": [ModelOfLists, ModelSentenceBySentence],
}
