# %% 01.depth | right | no time is computed by maximum: counts for each step how many lengths k have a chain of k needs behind it
def finish_times(needs):
    links = np.asarray(needs).astype(np.int64)
    times = np.zeros(len(links), dtype=np.int64)
    on_chain = np.ones(len(links), dtype=np.int64)
    while True:
        on_chain = (links @ on_chain > 0).astype(np.int64)
        if not on_chain.any():
            return times
        times += on_chain


# %% 01.depth | wrong | takes the step needed with the highest number, not the one that is done last | names=last-need
def finish_times(needs):
    n = len(needs)
    times = np.zeros(n, dtype=int)
    for i in range(n):
        before = np.flatnonzero(needs[i])
        if len(before):
            times[i] = times[before[-1]] + 1
    return times


# %% 01.depth | wrong | relaxes for twenty rounds at most, so chains of more than twenty needs are too short (n > 21 recurrent steps)
def finish_times(needs):
    needs = np.asarray(needs)
    times = np.zeros(len(needs), dtype=int)
    for _ in range(20):
        reached = np.where(needs, times[None, :] + 1, 0)
        times = reached.max(axis=1)
    return times


# %% 01.operations | right | lists the shapes of all products and adds up 2abc; the equal point from the coefficients of T and T squared
def operations(n_tokens, width):
    T, D = int(n_tokens), int(width)

    def total(products):
        return sum(2 * a * b * c * times for a, b, c, times in products)

    recurrent = total([(1, D, D, 2 * 4 * T)])
    attention = total([(T, D, D, 4), (T, D, T, 1), (T, T, D, 1)])
    linear = total([(1, D, D, 8)]) - total([(1, D, D, 4)])
    square = total([(1, D, 1, 2)])
    return recurrent, attention, linear // square


# %% 01.operations | wrong | three projections only (queries, keys, values), the output matrix is forgotten | names=three-projections-solved
def operations(n_tokens, width):
    T, D = n_tokens, width
    recurrent = 2 * 4 * 2 * T * D * D
    attention = 3 * 2 * T * D * D + 2 * 2 * T * T * D
    return recurrent, attention, (16 * D * D - 6 * D * D) // (4 * D)


# %% 01.operations | wrong | looks for the equal number among 1 to n_tokens only and gives n_tokens if it is not there | names=sought-up-to-n-tokens
def operations(n_tokens, width):
    def rnn(t):
        return 16 * t * width**2

    def att(t):
        return 8 * t * width**2 + 4 * t * t * width

    equal = n_tokens
    if 2 * width <= n_tokens and rnn(2 * width) == att(2 * width):
        equal = 2 * width
    return rnn(n_tokens), att(n_tokens), equal


# %% 01.operations | right | computes in floating point and cuts to int, last digits are lost above 2**53 (n_tokens 999,999, width 16,383)
def operations(n_tokens, width):
    T, D = float(n_tokens), float(width)
    recurrent = 4 * 2 * (2 * T * D * D)
    attention = 4 * (2 * T * D * D) + 2 * (2 * T * T * D)
    return int(recurrent), int(attention), int(2 * D)


# %% 01.pairs | right | pad_sequence over the list of all beginnings
from torch.nn.utils.rnn import pad_sequence


def next_token_pairs(ids):
    beginnings = [ids[: t + 1] for t in range(len(ids) - 1)]
    return pad_sequence(beginnings, batch_first=True, padding_value=0), ids[1:].clone()


# %% 01.pairs | wrong | the features are always int64, int32 ids are not kept | names=dtype-lost
def next_token_pairs(ids):
    n = len(ids)
    features = torch.zeros((n - 1, n - 1), dtype=torch.long)
    for t in range(n - 1):
        features[t, : t + 1] = ids[: t + 1]
    return features, ids[1:].long()


# %% 01.pairs | wrong | row t holds only the t tokens before position t (row 0 is all padding), the labels are those of the next position | names=one-too-few
def next_token_pairs(ids):
    n = len(ids)
    features = torch.tril(ids[:-1].repeat(n - 1, 1), diagonal=-1)
    return features, ids[1:]


# %% 01.push-up | right | probabilities in log space and float64, the label's one subtracted by index_put on a copy
def push_up(logits, labels):
    wide = logits.double()
    log_p = wide - torch.logsumexp(wide, dim=1, keepdim=True)
    gradient = torch.exp(log_p)
    rows = torch.arange(logits.shape[0])
    gradient[rows, labels.long()] -= 1.0
    return (wide - 0.5 / logits.shape[0] * gradient).to(logits.dtype)


# %% 01.push-up | wrong | subtracts the largest logit of the whole tensor, a row of minus a thousand beside a row of a thousand becomes 0 / 0 | names=one-max-for-all
def push_up(logits, labels):
    e = torch.exp(logits - logits.max())
    p = e / e.sum(dim=1, keepdim=True)
    p[torch.arange(len(labels)), labels] -= 1
    return logits - 0.5 * p / len(labels)


# %% 01.push-up | wrong | clamps the logits to -80..80 before the softmax, so a row with 1000 and 900 gives both the same probability | names=clipped
def push_up(logits, labels):
    T, V = logits.shape
    e = logits.clamp(-80, 80).double().exp()
    p = e / e.sum(1, keepdim=True)
    y = torch.eye(V, dtype=torch.float64)[labels.long()]
    return (logits.double() - 0.5 * (p - y) / T).to(logits.dtype)


# %% 01.recurrent | right | all inputs projected at once, then itertools.accumulate over the rows with the zero state as its start
from itertools import accumulate


def recurrent(x, w_x, w_h, b):
    given = torch.einsum("td,dm->tm", x, w_x) + b
    start = torch.zeros_like(b)
    states = list(accumulate(given.unbind(0), lambda h, a: (a + h @ w_h).tanh(), initial=start))
    return torch.stack(states[1:])


# %% 01.recurrent | right | one stacked matrix of w_x, w_h and b, and a row [x_t, h, 1] that is multiplied by it
def recurrent(x, w_x, w_h, b):
    weights = torch.cat([w_x, w_h, b[None]], dim=0)
    one = x.new_ones(1, 1)
    h = x.new_zeros(1, w_h.shape[0])
    rows = []
    for x_t in x.split(1):
        h = torch.tanh(torch.cat([x_t, h, one], dim=1) @ weights)
        rows.append(h)
    return torch.cat(rows)


# %% 01.recurrent | wrong | the table of states is made in the default float32, so float64 inputs come back in float32 | names=another-kind
def recurrent(x, w_x, w_h, b):
    T, M = x.shape[0], w_h.shape[0]
    h = torch.zeros(M, dtype=x.dtype)
    states = []
    for t in range(T):
        h = torch.tanh(x[t] @ w_x + h @ w_h + b)
        states.append(h)
    out = torch.zeros(T, M)
    for t in range(T):
        out[t] = states[t]
    return out


# %% 01.recurrent | wrong | the old state is detached, values are right and every input has a gradient, but nothing flows to earlier tokens (the last state has no gradient at x[0] for T > 1)
def recurrent(x, w_x, w_h, b):
    h = x.new_zeros(w_h.shape[0])
    states = []
    for x_t in x:
        h = torch.tanh(x_t @ w_x + h.detach() @ w_h + b)
        states.append(h)
    return torch.stack(states)
