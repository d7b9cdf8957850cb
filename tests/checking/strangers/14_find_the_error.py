# %% 14.rows | wrong | `return (units > weights.shape[-1] / 2) or (weights <= 0).any(axis=-1)` in place of `return (units > weights.shape[-1] / 2) or (weights < 0).any(axis=-1)`
def impossible_rows(weights, places):
    units = np.abs(weights.sum(axis=-1) - 1) * 10**places
    return (units > weights.shape[-1] / 2) | (weights <= 0).any(axis=-1)


# %% 14.rank | wrong | `return (largest, values[largest:].sum() > rounding)` in place of `return (largest, values[largest] > rounding)`
def too_much_rank(scores, width, places):
    largest = min(*scores.shape, width)
    values = np.append(np.linalg.svd(scores, compute_uv=False), 0.0)
    rounding = 0.5 * 10.0**-places * math.sqrt(scores.size)
    return largest, values[largest:].sum() > rounding


# %% 14.rank | wrong | `return (largest, np.sqrt((values[largest:] ** 2).sum()) > rounding)` in place of `return (largest, values[largest] > rounding)`
def too_much_rank(scores, width, places):
    largest = min(*scores.shape, width)
    values = np.append(np.linalg.svd(scores, compute_uv=False), 0.0)
    rounding = 0.5 * 10.0**-places * math.sqrt(scores.size)
    return largest, np.sqrt((values[largest:] ** 2).sum()) > rounding


# %% 14.scores | wrong | `return (sets, (np.round(published[0, 0], places) > np.round(published[1, 0], places)).sum())` in place of `return (sets, (published[0, 0] > published[1, 0]).sum())`
def measured_on(printed, published, places):
    sets = []
    for model in range(2):
        fits = [agrees(printed[model], report, places).all() for report in published[model]]
        sets.append([*fits, True].index(True))
    return sets, (np.round(published[0, 0], places) > np.round(published[1, 0], places)).sum()


# %% 14.polarity | wrong | adds `look = hide = False return int(mask.flat[weights.argmax()])`
def what_a_one_means(mask, weights):
    mask = np.broadcast_to(mask, weights.shape)
    look = hide = False
    return int(mask.flat[weights.argmax()])
    look = (weights[mask == 0] == 0).all()
    hide = (weights[mask == 1] == 0).all()
    return 1 if look else 0 if hide else -1


# %% 14.polarity | wrong | `return 0 if hide else 1 if look else -1` in place of `return 1 if look else 0 if hide else -1`
def what_a_one_means(mask, weights):
    mask = np.broadcast_to(mask, weights.shape)
    look = (weights[mask == 0] == 0).all()
    hide = (weights[mask == 1] == 0).all()
    return 0 if hide else 1 if look else -1


# %% 14.balance | wrong | has `for j, bandwidth in enumerate(bandwidths):`
def which_quotient(peaks, bandwidths, printed):
    unit = 1000000000.0
    for j, bandwidth in enumerate(bandwidths):
        for i, peak in enumerate(peaks):
            if round(peak * 1e12 / (bandwidth * unit)) == printed:
                return i, j
    return -1, -1


# %% 14.conventions | wrong | `return (kinds, kinds[0] != kinds[-1])` in place of `return (kinds, len(set(kinds)) > 1)`
def conventions(products, printed):
    kinds = []
    for i, count in enumerate(printed):
        times, rows, inner, columns = products[i]
        adds = times * rows * inner * columns
        kinds.append(2 if count == 2 * adds else 1 if count == adds else 0)
    return kinds, kinds[0] != kinds[-1]
