# %% 04.by-hand | right | written in another way
from decimal import Decimal
from fractions import Fraction


def by_hand():
    return [Decimal("0.74"), Decimal("0.84"), Fraction(73, 100), Fraction(83, 100), 0.81]


# %% 04.project | right | written in another way
def project(x, q, k, v):
    return torch.stack([x @ q, x @ k, x @ v])


# %% 04.scores | wrong | the code always swaps axes 0 and 1, which is right for two axes only | names=first-axes
def scores(q, k):
    return q @ k.transpose(0, 1)


# %% 04.softmax | wrong | has `e = torch.exp(x - x.median(-1, keepdim=True).values) return e / e.sum(-1, keepdim=True)`
def softmax(x):
    e = torch.exp(x - x.median(-1, keepdim=True).values)
    return e / e.sum(-1, keepdim=True)


# %% 04.softmax | wrong | a millionth in the sum
def softmax(x):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / (e.sum(-1, keepdim=True) + 1e-06)


# %% 04.softmax | wrong | nan made zero
def softmax(x):
    e = x.exp()
    return torch.nan_to_num(e / e.sum(dim=-1, keepdim=True))


# %% 04.column | wrong | one row
def one_token(q, k, v):
    return torch.softmax(q[None] @ k.T / q.shape[-1] ** 0.5, -1) @ v


# %% 04.column | wrong | the scores are divided by their sum without exp, so a negative score can get a negative weight | names=no-exp
def one_token(q, k, v):
    return k @ q / 8 / (k @ q / 8).sum() @ v


# %% 04.weights | wrong | has `raise NotImplementedError return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)`
def attention_weights(q, k, mask=None):
    if mask is not None:
        raise NotImplementedError
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)


# %% 04.weights | wrong | -1e4
def attention_weights(q, k, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return s.softmax(-1)
    return s.masked_fill(~mask, -10000.0).softmax(-1).masked_fill(~mask, 0.0)


# %% 04.weights | wrong | masked after exp
def attention_weights(q, k, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    e = (s - s.amax(-1, keepdim=True)).exp()
    if mask is not None:
        e = e * mask
    return torch.nan_to_num(e / e.sum(-1, keepdim=True))


# %% 04.attention | right | has `class Wrapper: def __init__(self): self.model = self.run def run(self, q, k, v, mask): s = q @ k.mT / math. ...`
class Wrapper:
    def __init__(self):
        self.model = self.run

    def run(self, q, k, v, mask):
        s = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            s = s.masked_fill(~mask, -1e30)
        a = torch.softmax(s, -1)
        return (a if mask is None else a * mask) @ v


def attention(q, k, v, mask=None):
    return Wrapper().model(q, k, v, mask)


# %% 04.attention | wrong | -1e4
def weights_filled(q, k, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return s.softmax(-1)
    return s.masked_fill(~mask, -10000.0).softmax(-1).masked_fill(~mask, 0.0)


def attention(q, k, v, mask=None):
    return weights_filled(q, k, mask) @ v


# %% 04.attention | wrong | right numbers
def attention(q, k, v, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    seen = s if mask is None else s.masked_fill(~mask, -torch.inf)
    top = seen.amax(-1, keepdim=True).detach()
    e = (s - top.masked_fill(top == -torch.inf, 0.0)).exp()
    if mask is not None:
        e = torch.where(mask, e, 0.0)
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0) @ v


# %% 04.attention | wrong | `s = s.masked_fill(~mask, -100.0) a = torch.softmax(s, -1)` in place of `s = s.masked_fill(~mask, float('-inf')) a = torch.softmax(s, dim=-1)`
def attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -100.0)
    a = torch.softmax(s, -1)
    if mask is not None:
        a = a.masked_fill(~mask, 0.0)
    return a @ v


# %% 04.spread | right | written in another way
def score_spread(h, a, b):
    return torch.tensor(a * b * math.sqrt(h)).item()


# %% 04.cost | wrong | each number is assumed to take 4 bytes | names=always-four
def score_bytes(b, t, s, n):
    return 4 * b * t * s


# %% 04.softmax-backward | right | has `class Head: def backward(self, a, da): self.grad = a * (da - (a * da).sum(axis=-1, keepdims=True)) return s ...`
class Head:
    def backward(self, a, da):
        self.grad = a * (da - (a * da).sum(axis=-1, keepdims=True))
        return self.grad


def softmax_backward(a, da):
    return Head().backward(a, da)


# %% 04.softmax-backward | wrong | only da is multiplied by a, not the mean | names=outer-weight-missing
def softmax_backward(a, da):
    return a * da - np.sum(a * da, axis=-1, keepdims=True)


# %% 04.backward | wrong | has `from torch.func import jacrev; return jacrev(q)`
from torch.func import jacrev


def attention_backward(q, k, v, dz):
    return jacrev(q)


# %% 04.head | wrong | has `def attention(q, k, v, mask=None): return q @ k.mT @ v; return attention(x @ w_q, x @ w_k, x @ w_v, mask)`
def attention(q, k, v, mask=None):
    return (q @ k.mT) @ v


def one_head(x, w_q, w_k, w_v, mask=None):
    return attention(x @ w_q, x @ w_k, x @ w_v, mask)


# %% 04.head | wrong | -1e4
def weights_filled(q, k, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return s.softmax(-1)
    return s.masked_fill(~mask, -10000.0).softmax(-1).masked_fill(~mask, 0.0)


def one_head(x, q, k, v, mask=None):
    return weights_filled(x @ q, x @ k, mask) @ (x @ v)


# %% 04.head | wrong | infinity cut off
def attention_whose_hidden_scores_overflow(q, k, v, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    seen = s if mask is None else s.masked_fill(~mask, -torch.inf)
    top = seen.amax(-1, keepdim=True).detach()
    e = (s - top.masked_fill(top == -torch.inf, 0.0)).exp()
    if mask is not None:
        e = torch.where(mask, e, 0.0)
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0) @ v


def one_head(x, w_q, w_k, w_v, mask=None):
    return attention_whose_hidden_scores_overflow(x @ w_q, x @ w_k, x @ w_v, mask)
