# %% 02.analogy | wrong | the excluded rows get cosine 0, so if all others are negative one of the three wins | names=left-out-by-zero
def analogy(table, a, b, c):
    target = table[a] - table[b] + table[c]
    cosines = table @ target / (np.linalg.norm(table, axis=1) * np.linalg.norm(target))
    cosines[[a, b, c]] = 0
    return int(np.argmax(cosines)), float(np.max(cosines))


# %% 02.analogy | wrong | deletes the three rows and returns the number in the shorter table | names=places-shifted
def analogy(table, a, b, c):
    target = table[a] - table[b] + table[c]
    rest = np.delete(table, [a, b, c], axis=0)
    cosines = rest @ target / np.linalg.norm(rest, axis=1) / np.linalg.norm(target)
    return int(cosines.argmax()), float(cosines.max())


# %% 02.by-hand | wrong | mixed the keys and not the values | names=keys-as-values
def by_hand():
    return [2.3, -0.13]


# %% 02.hard-lookup | wrong | `or`: a price of 0 counts as missing | names=zero-taken-for-missing
def find_price(prices, name, otherwise):
    return prices.get(name) or otherwise


# %% 02.lead | wrong | bisection between 0 and 100, so a negative lead (small share) comes out as 0 | names=never-negative
def needed_lead(n_keys, share):
    low, high = 0.0, 100.0
    for _ in range(200):
        lead = (low + high) / 2
        weight = 1 / (1 + (n_keys - 1) * math.exp(-lead / 0.5))
        if weight < share:
            low = lead
        else:
            high = lead
    return (low + high) / 2


# %% 02.lead | wrong | counts the right key among the others: n_keys and not n_keys - 1 | names=counted-itself
def needed_lead(n_keys, share):
    return 0.5 * math.log(n_keys * share / (1 - share))


# %% 02.lead | right | logarithms added instead of one fraction, with log1p for shares near 1
def needed_lead(n_keys, share):
    return (math.log(share) - math.log1p(-share) + math.log(n_keys - 1)) / 2


# %% 02.limit | wrong | ties found with np.isclose: a lead of 0.0001 on a score of a hundred thousand is taken for a tie | names=tied-within-tolerance
def limits(scores, v):
    best = np.isclose(scores, scores.max(axis=1, keepdims=True))
    w = best / best.sum(axis=1, keepdims=True)
    return w @ v, np.tile(v.mean(axis=0), (scores.shape[0], 1))


# %% 02.limit | wrong | the hot limit by a temperature of a million: with scores of a hundred thousand and more the weights are not equal yet
def limits(scores, v):
    best = scores == scores.max(axis=1, keepdims=True)
    cold = best / best.sum(axis=1, keepdims=True) @ v
    return cold, lookup_weights(scores, 1e6) @ v


# %% 02.lookup | wrong | divides by the square root of the width, too (attention's habit) | names=scaled
def soft_lookup(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    return lookup_weights(scores, 0.5) @ v


# %% 02.lookup | right | one query at a time with the squared exponentials of differences, exp(d)**2 = exp(d / 0.5)
def soft_lookup(q, k, v):
    answers = []
    for query in q:
        scores = np.array([np.dot(query, key) for key in k], dtype=float)
        w = np.exp(scores - scores.max()) ** 2
        answers.append(np.average(v, axis=0, weights=w))
    return np.array(answers)


# %% 02.mix | wrong | writes the weights into an array like `amounts`, so with whole-number amounts they are cut to 0 | names=cut-to-whole-numbers
def mix(amounts, values):
    weights = np.zeros_like(amounts)
    for t, row in enumerate(amounts):
        weights[t] = row / row.sum()
    return weights @ values


# %% 02.mix | right | mixes first and divides afterwards; the sums come from a product with ones
def mix(amounts, values):
    amounts = np.asarray(amounts, dtype=float)
    ones = np.ones((amounts.shape[1], 1))
    return amounts.dot(values) / amounts.dot(ones)


# %% 02.similarity | right | adds 1e-8 to the lengths: vectors of length about 1e-8 or less get too small a cosine
def similarity(q, k):
    lq = np.sqrt((q**2).sum(axis=1, keepdims=True)) + 1e-8
    lk = np.sqrt((k**2).sum(axis=1, keepdims=True)) + 1e-8
    return (q / lq) @ (k / lk).T


# %% 02.similarity | right | each row is divided by its largest number before the length is taken; zeros stay zeros
def similarity(q, k):
    def units(rows):
        units = []
        for row in np.asarray(rows, dtype=float):
            top = np.abs(row).max()
            row = row / top if top > 0 else row
            length = math.hypot(*row)
            units.append(row / length if length > 0 else row)
        return np.array(units)

    return np.inner(units(q), units(k))


# %% 02.store | wrong | nearest order: a number that is not there gets a 1 at the closest one | names=nearest-for-missing
def order_weights(asked, orders):
    nearest = np.abs(asked[:, None] - orders[None, :]).argmin(axis=1)
    return np.eye(len(orders))[nearest]


# %% 02.store | wrong | numbers compared as float32: orders above 2**24 = 16777216 that differ by one are taken for equal | names=compared-in-float32
def order_weights(asked, orders):
    asked, orders = asked.astype(np.float32), orders.astype(np.float32)
    return (asked[:, None] == orders).astype(float)


# %% 02.weights | wrong | subtracts the largest score of the whole table: a row far below it underflows to 0/0 | names=one-max-for-all
def lookup_weights(scores, tau):
    e = np.exp((scores - scores.max()) / tau)
    return e / e.sum(axis=-1, keepdims=True)
