# %% 02.hard-lookup | wrong | is
def find_price(prices, name, otherwise):
    return next((price for key, price in prices.items() if key is name), otherwise)


# %% 02.hard-lookup | wrong | spaces stripped
def find_price(prices, name, other):
    return prices.get(name.strip(), other)


# %% 02.store | wrong | nearly equal
def order_weights(asked, orders):
    return np.isclose(asked[:, None], orders).astype(float)


# %% 02.store | wrong | float32
def order_weights(a, o):
    return a.astype("float32")[:, None] == o.astype("float32")


# %% 02.mix | wrong | whole numbers
def mix(amounts, values):
    weights = np.zeros_like(amounts)
    for t in range(len(amounts)):
        weights[t] = amounts[t] / amounts[t].sum()
    return weights @ values


# %% 02.similarity | wrong | a 0 in it
def no_direction(x):
    return (x == 0).any(1)


def similarity(q, k):
    lengths = np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=1)
    blank = no_direction(q)[:, None] | no_direction(k)
    return np.where(blank, 0, q @ k.T / np.where(lengths == 0, 1, lengths))


# %% 02.similarity | wrong | a sum of 0
def no_direction(x):
    return x.sum(1) == 0


def similarity(q, k):
    lengths = np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=1)
    blank = no_direction(q)[:, None] | no_direction(k)
    return np.where(blank, 0, q @ k.T / np.where(lengths == 0, 1, lengths))


# %% 02.similarity | wrong | a small length
def similarity(q, k):
    return q @ k.T / np.maximum(np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=1), 0.1)


# %% 02.weights | wrong | the code subtracts the largest undivided score from scores already divided by tau, so the exponentials still overflow at a small temperature | names=max-not-divided
def lookup_weights(scores, tau):
    e = np.exp(scores / tau - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# %% 02.weights | wrong | each row's smallest score is subtracted, so the exponents are 0 or positive, and exp overflows | names=min-subtracted
def lookup_weights(scores, tau):
    e = np.exp((scores - scores.min(-1, keepdims=True)) / tau)
    return e / e.sum(-1, keepdims=True)


# %% 02.lookup | wrong | the sums lost their axis (keepdims=True is missing), so column j is divided by the sum of row j | names=keepdim-forgotten
def soft_lookup(q, k, v):
    u = q @ k.T / 0.5
    e = np.exp(u - u.max(-1, keepdims=True))
    return e / e.sum(-1) @ v


# %% 02.lookup | wrong | one maximum is subtracted from the whole tensor, so rows far below it underflow to 0/0 | names=one-max-for-all
def soft_lookup(q, k, v):
    u = q @ k.T / 0.5
    e = np.exp(u - u.max())
    return e / e.sum(-1, keepdims=True) @ v


# %% 02.limit | wrong | rounded
def tied(s):
    return s.round(2) == s.round(2).max(1, keepdims=True)


def limits(scores, v):
    return (tied(scores) / tied(scores).sum(1, keepdims=True) @ v, np.ones_like(scores) / scores.shape[1] @ v)


# %% 02.limit | wrong | close
def tied(s):
    return np.isclose(s, s.max(1, keepdims=True), rtol=0.001)


def limits(scores, v):
    return (tied(scores) / tied(scores).sum(1, keepdims=True) @ v, np.ones_like(scores) / scores.shape[1] @ v)


# %% 02.limit | wrong | close by default
def tied(s):
    return np.isclose(s, s.max(1, keepdims=True))


def limits(scores, v):
    return (tied(scores) / tied(scores).sum(1, keepdims=True) @ v, np.ones_like(scores) / scores.shape[1] @ v)


# %% 02.lead | wrong | the logarithm of the number of other keys is subtracted | names=divided-by-the-others
def needed_lead(n, share):
    return 0.5 * (np.log(share / (1 - share)) - np.log(n - 1))


# %% 02.analogy | wrong | analogy squeezed
def analogy(table, a, b, c):
    table = table.squeeze()
    target = table[a] - table[b] + table[c]
    cosines = table @ target / (np.linalg.norm(table, axis=1) * np.linalg.norm(target))
    cosines[[a, b, c]] = -np.inf
    return (int(cosines.argmax()), cosines.max())
