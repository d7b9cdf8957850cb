# %% 14.balance | wrong | goes through all peaks of the first bandwidth first | names=bandwidths-first
def which_quotient(peaks, bandwidths, printed):
    for b, bandwidth in enumerate(bandwidths):
        for p, peak in enumerate(peaks):
            if round(peak * 1e12 / (bandwidth * 1e9)) == printed:
                return p, b
    return -1, -1


# %% 14.checksum | wrong | one limit for both kinds of sum, from the width H: column sums have T numbers | names=rows-limit-for-both
def suspects(x, w, printed, places):
    limit = 0.5 * 10**-places * printed.shape[1] + 1e-9
    rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) > limit
    columns = np.abs(printed.sum(axis=0) - x.sum(axis=0) @ w) > limit
    return rows[:, None] & columns[None, :]


# %% 14.checksum | right | python loops over rows and columns with math.fsum, then one boolean outer product
def suspects(x, w, printed, places):
    x, w, printed = (np.asarray(a, dtype=float) for a in (x, w, printed))
    T, H = printed.shape
    D = x.shape[1]
    half = 0.5 * 10.0**-places
    row_sums = [math.fsum(w[d]) for d in range(D)]
    col_sums = [math.fsum(x[:, d]) for d in range(D)]
    bad_rows = [
        abs(math.fsum(printed[t]) - math.fsum(x[t, d] * row_sums[d] for d in range(D))) > H * half + 1e-9
        for t in range(T)
    ]
    bad_cols = [
        abs(math.fsum(printed[:, h]) - math.fsum(col_sums[d] * w[d, h] for d in range(D))) > T * half + 1e-9
        for h in range(H)
    ]
    return np.outer(bad_rows, bad_cols).astype(bool)


# %% 14.conventions | wrong | mixed only if there are ones and twos: entries that are neither are left out of the comparison | names=neither-unseen
def conventions(products, printed):
    kinds = []
    for (number, rows, inner, columns), count in zip(products, printed):
        adds = number * rows * inner * columns
        kinds.append(2 if count == 2 * adds else 1 if count == adds else 0)
    return kinds, 1 in kinds and 2 in kinds


# %% 14.conventions | right | integer division with remainder: the quotient of count and multiply-adds is the kind
def conventions(products, printed):
    kinds = []
    for entry, count in zip(products, printed):
        adds = math.prod(int(n) for n in entry)
        quotient, rest = divmod(int(count), adds)
        kinds.append(quotient if rest == 0 and count == int(count) and quotient in (1, 2) else 0)
    mixed = any(kind != kinds[0] for kind in kinds)
    return kinds, mixed


# %% 14.hypothesis | wrong | of equal candidates takes the last one (>=) | names=last-of-equals
def best_hypothesis(printed, candidates, places):
    best, most = 0, -1
    for i, candidate in enumerate(candidates):
        count = int(agrees(printed, candidate, places).sum())
        if count >= most:
            best, most = i, count
    return best, most


# %% 14.hypothesis | wrong | chooses the candidate with the smallest total distance, not the most explained cells | names=nearest
def best_hypothesis(printed, candidates, places):
    i = int(np.abs(candidates - printed).sum(axis=(1, 2)).argmin())
    return i, int((candidates[i].round(places) == printed).sum())


# %% 14.intensity | wrong | a store is counted as two moves (the line is read first), against the text | names=other-variant
def counted_how(flops, loads, stores, bytes_per_number, printed, places):
    numbers = loads + 2 * stores
    per_number = flops / numbers
    per_byte = per_number / bytes_per_number
    if agrees(printed, per_byte, places):
        return 0, per_byte
    return (1 if agrees(printed, per_number, places) else 2), per_byte


# %% 14.intensity | wrong | tests operations per number first, so where both fit (numbers of one byte) it says 1 | names=numbers-first
def counted_how(flops, loads, stores, bytes_per_number, printed, places):
    n = flops / (loads + stores)
    b = n / bytes_per_number
    kind = 1 if agrees(printed, n, places) else 0 if agrees(printed, b, places) else 2
    return kind, b


# %% 14.leaks | wrong | flags every difference from the AND, also pairs that both masks allow and the joined one hides | names=all-differences
def leaks(first, second, joined, one_means_look):
    a, b, j = [np.array(m).astype(bool) for m in (first, second, joined)]
    if not one_means_look:
        a, b, j = ~a, ~b, ~j
    return j != (a & b)


# %% 14.leaks | right | as arithmetic: a leak is where the joined permission is larger than the minimum of the two
def leaks(first, second, joined, one_means_look):
    sign = 1 if one_means_look else -1
    a, b, j = (sign * np.asarray(m).astype(int) for m in (first, second, joined))
    return j > np.minimum(a, np.broadcast_to(b, a.shape))


# %% 14.moved | wrong | undoes the order on the wrong side: compares after[order] with before | names=moved-back
def invariant_or_equivariant(before, after, order):
    same = before.shape == after.shape and bool(np.allclose(before, after))
    if len(before) != len(order) or len(after) != len(order):
        return same, False
    return same, bool(np.allclose(after[order], before))


# %% 14.moved | wrong | one row is always called not equivariant, also for a single token | names=one-token-never
def invariant_or_equivariant(before, after, order):
    inv = np.allclose(before, after)
    equi = len(before) > 1 and np.allclose(before[order], after)
    return bool(inv), bool(equi)


# %% 14.moved | right | a permutation matrix moves the rows: product with it instead of indexing
def invariant_or_equivariant(before, after, order):
    before, after = np.asarray(before, float), np.asarray(after, float)
    order = np.asarray(order, dtype=int)
    T = order.size
    invariant = before.shape == after.shape and np.allclose(after, before)
    equivariant = False
    if before.shape[0] == T and after.shape == before.shape:
        moves = np.zeros((T, T))
        moves[np.arange(T), order] = 1
        equivariant = np.allclose(after, moves @ before)
    return bool(invariant), bool(equivariant)


# %% 14.place | wrong | goes through the softmax, whose weights are all exactly 0 but one when scores are in the thousands, so places collapse to 2 | names=by-scaled-weights
def place_of(q, k, claimed):
    weights = softmax(q @ k.T / math.sqrt(q.shape[1]))
    mine = weights[np.arange(len(q)), claimed]
    return (weights > mine[:, None]).sum(axis=1) + 1


# %% 14.place | right | the rank is the inverse permutation: argsort of argsort, counted from the other end
def place_of(q, k, claimed):
    scores = np.einsum("th,sh->ts", q, k)
    from_below = scores.argsort(axis=1).argsort(axis=1)
    chosen = np.take_along_axis(from_below, np.asarray(claimed, dtype=int)[:, None], axis=1)[:, 0]
    return k.shape[0] - chosen


# %% 14.polarity | wrong | demands that every allowed weight is larger than 0, so a weight printed as 0 rules the meaning out | names=positive-wanted
def what_a_one_means(mask, weights):
    ones = np.broadcast_to(np.asarray(mask) == 1, weights.shape)
    used = weights != 0
    if (used == ones).all():
        return 1
    if (used == ~ones).all():
        return 0
    return -1


# %% 14.polarity | wrong | tests "hidden" first, so where both meanings fit (no weight tells) it gives 0 | names=hidden-first
def what_a_one_means(mask, weights):
    if not (mask * weights).any():
        return 0
    if not ((1 - mask) * weights).any():
        return 1
    return -1


# %% 14.printed | wrong | cuts the true number off after `places` digits instead of rounding to nearest | names=cut-off
def agrees(printed, true, places):
    factor = 10.0**places
    cut = np.trunc(np.asarray(true) * factor) / factor
    return np.abs(cut - np.asarray(printed)) < 1e-9


# %% 14.printed | wrong | np.isclose adds its default rtol of 1e-5, so large numbers pass (true 1000.0, printed 1000.01, places 2) | names=relative-added
def agrees(printed, true, places):
    return np.isclose(np.asarray(printed, float), np.asarray(true, float), atol=0.5 * 10**-places)


# %% 14.printed | right | compares whole numbers of units of the last place, rint on both sides
def agrees(printed, true, places):
    unit = 10 ** int(places)
    a = np.rint(np.asarray(printed, dtype=float) * unit)
    b = np.rint(np.asarray(true, dtype=float) * unit)
    return a == b


# %% 14.rank | wrong | takes the width itself for the largest rank, even where the table has fewer rows or columns | names=width-alone
def too_much_rank(scores, width, places):
    s = np.linalg.svd(scores, compute_uv=False)
    if len(s) <= width:
        return width, False
    return width, bool(s[width] > 0.5 * 10**-places * math.sqrt(scores.size))


# %% 14.rank | right | singular values not indexed: the spectral norm of the table minus its best approximation of rank r
def too_much_rank(scores, width, places):
    scores = np.asarray(scores, dtype=float)
    T, S = scores.shape
    r = min(int(width), T, S)
    if r == min(T, S):
        return r, False
    u, s, vt = np.linalg.svd(scores, full_matrices=False)
    rest = scores - (u[:, :r] * s[:r]) @ vt[:r]
    return r, bool(np.linalg.norm(rest, 2) > math.sqrt(T * S) * 0.5 * 10.0**-places)


# %% 14.rows | wrong | allows the sum half a unit only, as if one number were rounded and not S of them | names=no-rounding
def impossible_rows(weights, places):
    weights = np.asarray(weights)
    limit = 0.5 * 10**-places
    off = np.abs(weights.sum(axis=-1) - 1)
    return (off > limit + 1e-9) | (weights < 0).any(axis=-1)


# %% 14.rows | wrong | forgets the second part: a row with a negative number whose sum is 1 passes | names=negative-passes
def impossible_rows(weights, places):
    return abs(weights.sum(-1) - 1) > weights.shape[-1] * 0.5 / 10**places


# %% 14.rows | right | a matrix product with ones gives the sums, counted in units of the last place; the smallest entry tells the negatives
def impossible_rows(weights, places):
    w = np.asarray(weights, dtype=float)
    S = w.shape[-1]
    unit = 10.0**places
    total = (w * unit) @ np.ones(S)
    too_far = 2 * np.abs(total - unit) > S + 1e-6
    negative = np.min(w, axis=-1) < 0
    return np.logical_or(too_far, negative)


# %% 14.scores | wrong | counts who is ahead in the printed rows, not in the published validation scores | names=printed-compared
def measured_on(printed, published, places):
    sets = []
    for model in range(2):
        found = 2
        for which in (1, 0):
            if agrees(printed[model], published[model, which], places).all():
                found = which
        sets.append(found)
    return sets, int((printed[0] > printed[1]).sum())


# %% 14.split | wrong | heads taken as every N-th column instead of H columns side by side | names=interleaved
def cut_or_projected(x, w, printed, places):
    N, T, H = printed.shape
    answer = []
    for i in range(N):
        columns = np.arange(i, N * H, N)
        if agrees(printed[i], x @ w[:, columns], places).all():
            answer.append(0)
        elif agrees(printed[i], x[:, columns] @ w[np.ix_(columns, columns)], places).all():
            answer.append(1)
        else:
            answer.append(2)
    return answer


# %% 14.split | wrong | where both ways give the table (e.g. a block-diagonal w, or N = 1) says 1 instead of 0 | names=cut-first
def cut_or_projected(x, w, printed, places):
    N, T, H = printed.shape
    out = np.full(N, 2)
    for i in range(N):
        s = slice(i * H, (i + 1) * H)
        if agrees(printed[i], x @ w[:, s], places).all():
            out[i] = 0
        if agrees(printed[i], x[:, s] @ w[s, s], places).all():
            out[i] = 1
    return out


# %% 14.uniform | wrong | the plain mean is tested before the softmaxes: where all scores are equal it gives 3, not 0 | names=equal-weights-first
def how_mixed(q, k, v, printed, places):
    scores = q @ k.T
    scaled = scores / math.sqrt(q.shape[1])
    T, S = scores.shape
    if agrees(printed, np.full((T, S), 1 / S) @ v, places).all():
        return 3
    ways = [softmax(scaled), softmax(scores), softmax(scaled, axis=0)]
    for number, weights in enumerate(ways):
        if agrees(printed, weights @ v, places).all():
            return number
    return 4


# %% 14.uniform | wrong | scales by the width of the values, wrong where H' differs from H | names=sqrt-of-value-width
def how_mixed(q, k, v, printed, places):
    z = q @ k.T
    a = z / np.sqrt(v.shape[1])
    for n, w in enumerate([softmax(a), softmax(z), softmax(a, 0), np.ones_like(z) / len(k)]):
        if np.all(agrees(printed, w @ v, places)):
            return n
    return 4


# %% 14.uniform | right | mixes by einsum without forming weights first: sums of exponentials divided at the end, float64, own softmax
def how_mixed(q, k, v, printed, places):
    q, k, v = (np.asarray(a, dtype=np.float64) for a in (q, k, v))
    H = q.shape[1]
    raw = np.einsum("th,sh->ts", q, k)

    def mix(z, axis):
        e = np.exp(z - np.max(z, axis=axis, keepdims=True))
        if axis == 1:
            return np.einsum("ts,sv->tv", e, v) / e.sum(axis=1)[:, None]
        return np.einsum("ts,sv->tv", e, v / e.sum(axis=0)[:, None])

    def ways():
        yield lambda: mix(raw / H**0.5, 1)
        yield lambda: mix(raw, 1)
        yield lambda: mix(raw / H**0.5, 0)
        yield lambda: np.broadcast_to(v.mean(axis=0), (len(q), v.shape[1]))

    return next((i for i, way in enumerate(ways()) if np.all(agrees(printed, way(), places))), 4)
