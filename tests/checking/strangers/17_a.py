# %% 17.attribute-heads | right | the direction that the token reads is carried back through w_o, then one dot product for each head
def head_contributions(z, w_o, x, gain, w_out, token, eps):
    z, w_o, x, gain, w_out = (torch.as_tensor(t) for t in (z, w_o, x, gain, w_out))
    n, _, h = z.shape
    last = x[-1].double()
    divisor = math.sqrt(float(last @ last) / len(last) + eps)
    read = w_o.double() @ (gain.double() * w_out[:, token].double()) / divisor
    parts = [z[i, -1].double() @ read[i * h : (i + 1) * h] for i in range(n)]
    return torch.stack(parts).to(z.dtype)


# %% 17.attribute-heads | wrong | w_o's rows are split as if the heads were interleaved: row j belongs to head j mod N | names=rows-interleaved
def head_contributions(z, w_o, x, gain, w_out, token, eps):
    z, w_o, x, gain, w_out = (torch.as_tensor(t) for t in (z, w_o, x, gain, w_out))
    N, T, H = z.shape
    rms = (x[-1].pow(2).mean() + eps).sqrt()
    w = w_o.reshape(H, N, -1)
    added = torch.einsum("nh,hnd->nd", z[:, -1], w)
    return added / rms * gain @ w_out[:, token]


# %% 17.attribute-heads | wrong | eps is left out (shows only where x is small or eps is large) | names=eps-unread
def head_contributions(z, w_o, x, gain, w_out, token, eps):
    z, w_o, x, gain, w_out = (torch.as_tensor(t) for t in (z, w_o, x, gain, w_out))
    N, T, H = z.shape
    added = torch.stack([z[i, -1] @ w_o[i * H : (i + 1) * H] for i in range(N)])
    return (added / x[-1].square().mean().sqrt() * gain) @ w_out[:, token]


# %% 17.autoencoder | right | lengths moved from the directions to the latents, float64, losses state by state
def autoencoder(h, w_encoder, b_encoder, directions, b_decoder, price):
    given = torch.as_tensor(h)
    h, w_e, b_e, d, b_d = (torch.as_tensor(t).double() for t in (h, w_encoder, b_encoder, directions, b_decoder))
    before = h @ w_e - b_d @ w_e + b_e
    latents = torch.where(before > 0, before, torch.zeros_like(before))
    rebuilt = (latents / torch.linalg.vector_norm(d, dim=1)) @ d + b_d
    loss = 0.0
    for m in range(len(h)):
        off = rebuilt[m] - h[m]
        loss += float(off @ off) + price * float(latents[m].sum())
    return latents.to(given.dtype), rebuilt.to(given.dtype), loss / len(h)


# %% 17.autoencoder | wrong | the squared errors are averaged over the D numbers of a state, as mse_loss does | names=mean-of-errors
def autoencoder(h, w_encoder, b_encoder, directions, b_decoder, price):
    h, w_encoder, b_encoder, directions, b_decoder = (
        torch.as_tensor(t) for t in (h, w_encoder, b_encoder, directions, b_decoder)
    )
    directions = torch.nn.functional.normalize(directions, dim=-1)
    latents = torch.relu((h - b_decoder) @ w_encoder + b_encoder)
    out = latents @ directions + b_decoder
    loss = torch.nn.functional.mse_loss(out, h) + price * latents.sum(-1).mean()
    return latents, out, loss


# %% 17.autoencoder | wrong | brings the rows of directions to length 1 in place (changes an input) | names=inputs-changed
def autoencoder(h, w_encoder, b_encoder, directions, b_decoder, price):
    h, w_encoder, b_encoder, directions, b_decoder = (
        torch.as_tensor(t) for t in (h, w_encoder, b_encoder, directions, b_decoder)
    )
    directions /= directions.norm(dim=1, keepdim=True)
    latents = torch.relu((h - b_decoder) @ w_encoder + b_encoder)
    rebuilt = latents @ directions + b_decoder
    loss = ((h - rebuilt).square().sum(1) + price * latents.sum(1)).mean()
    return latents, rebuilt, loss


# %% 17.difference | right | all parts in one matrix, times one column: the difference of the two columns of w_out
def difference_by_part(embedding, attention, feed_forward, gain, w_out, token, other, eps):
    rows = torch.cat(
        [torch.as_tensor(embedding)[None], torch.as_tensor(attention), torch.as_tensor(feed_forward)]
    ).double()
    L = len(attention)
    gain, w_out = torch.as_tensor(gain).double(), torch.as_tensor(w_out).double()
    last = torch.ones(len(rows), dtype=torch.float64) @ rows
    scale = (last.square().mean() + eps).rsqrt()
    split = rows @ (gain * (w_out[:, token] - w_out[:, other])) * scale
    return float(split[0]), split[1 : L + 1], split[L + 1 :]


# %% 17.difference | wrong | the last state is taken as what the layers have added, without the embedding | names=embedding-not-in-the-sum
def difference_by_part(embedding, attention, feed_forward, gain, w_out, token, other, eps):
    embedding, attention, feed_forward = (torch.as_tensor(t) for t in (embedding, attention, feed_forward))
    gain, w_out = torch.as_tensor(gain), torch.as_tensor(w_out)
    last = (attention + feed_forward).sum(0)
    rms = (last.pow(2).mean() + eps).sqrt()
    d = gain * (w_out[:, token] - w_out[:, other]) / rms
    return embedding @ d, attention @ d, feed_forward @ d


# %% 17.difference | wrong | the gain is forgotten: only the divisor of the norm is applied (right where all gains are 1) | names=gain-left-out
def difference_by_part(embedding, attention, feed_forward, gain, w_out, token, other, eps):
    e, a, f, w = (torch.as_tensor(t) for t in (embedding, attention, feed_forward, w_out))
    x = e + a.sum(dim=0) + f.sum(dim=0)
    rms = torch.sqrt(torch.mean(x * x) + eps)
    logits = [part @ w / rms for part in (e, a, f)]
    return tuple(part[..., token] - part[..., other] for part in logits)


# %% 17.induction | right | a diagonal of the matrix, without its first entry
def induction_scores(weights):
    weights = torch.as_tensor(weights)
    block = weights.shape[-1] // 2
    return torch.diagonal(weights, offset=1 - block, dim1=1, dim2=2)[:, 1:].sum(-1) / block


# %% 17.induction | wrong | the mean over the whole diagonal, the last position of the first copy included | names=whole-diagonal
def induction_scores(weights):
    weights = torch.as_tensor(weights)
    half = weights.shape[-1] // 2
    return torch.diagonal(weights, offset=-(half - 1), dim1=-2, dim2=-1).mean(-1)


# %% 17.induction | wrong | behind the last token comes the first: (t + 1) mod P (only the last position is wrong)
def induction_scores(weights):
    weights = torch.as_tensor(weights)
    p = weights.shape[1] // 2
    score = 0
    for t in range(p):
        score = score + weights[:, p + t, (t + 1) % p]
    return score / p


# %% 17.lens | right | the gain is folded into the matrix, the norm's divisor is applied after the product, float64 inside
def lens(states, gain, w_out, eps):
    states, gain, w_out = (torch.as_tensor(t) for t in (states, gain, w_out))
    s = states.double()
    folded = torch.einsum("d,dv->dv", gain.double(), w_out.double())
    factor = (torch.einsum("ltd,ltd->lt", s, s) / s.shape[-1] + eps) ** -0.5
    return (torch.einsum("ltd,dv->ltv", s, folded) * factor[:, :, None]).to(states.dtype)


# %% 17.lens | wrong | eps is added to the root, not to the mean of squares | names=eps-behind-the-root
def lens(states, gain, w_out, eps):
    states, gain, w_out = torch.as_tensor(states), torch.as_tensor(gain), torch.as_tensor(w_out)
    rms = states.square().mean(dim=-1, keepdim=True).sqrt()
    return states / (rms + eps) * gain @ w_out


# %% 17.lens | wrong | the last state is taken as normed already, only the earlier ones pass the norm
def lens(states, gain, w_out, eps):
    states, gain, w_out = torch.as_tensor(states), torch.as_tensor(gain), torch.as_tensor(w_out)
    normed = states * torch.rsqrt(states.pow(2).mean(-1, keepdim=True) + eps) * gain
    normed = torch.cat([normed[:-1], states[-1:]])
    return normed @ w_out


# %% 17.patch | right | all T patched inputs of a layer run together as a batch
def recovered(clean, corrupted, mixes, weights, read):
    clean, corrupted, mixes, weights, read = (
        torch.as_tensor(t).double() for t in (clean, corrupted, mixes, weights, read)
    )
    T = len(clean)

    def run(x, first):
        seen = []
        for mix, w in zip(mixes[first:], weights[first:]):
            seen.append(x)
            x = x + torch.tanh(torch.einsum("st,...td,de->...se", mix, x, w))
        return seen, x[..., -1, :] @ read

    states, good = run(clean, 0)
    bad_states, bad = run(corrupted, 0)
    here = torch.eye(T, dtype=torch.bool)[:, :, None]
    rows = []
    for i, (right, wrong) in enumerate(zip(states, bad_states)):
        rows.append((run(torch.where(here, right, wrong), i)[1] - bad) / (good - bad))
    return torch.stack(rows)


# %% 17.patch | wrong | replaces the vector that leaves layer i, not the one that enters it | names=leaving-state
def recovered(clean, corrupted, mixes, weights, read):
    clean, corrupted, mixes, weights, read = (torch.as_tensor(t) for t in (clean, corrupted, mixes, weights, read))

    def step(x, i):
        return x + torch.tanh(mixes[i] @ x @ weights[i])

    L, T = len(mixes), len(clean)
    kept, x = [], clean
    for i in range(L):
        x = step(x, i)
        kept.append(x)
    c = x[-1] @ read
    x = corrupted
    for i in range(L):
        x = step(x, i)
    k = x[-1] @ read
    shares = torch.zeros(L, T, dtype=clean.dtype)
    for i in range(L):
        for t in range(T):
            x = corrupted
            for j in range(L):
                x = step(x, j)
                if j == i:
                    x = x.clone()
                    x[t] = kept[i][t]
            shares[i, t] = (x[-1] @ read - k) / (c - k)
    return shares


# %% 17.patch | wrong | the patched tensor is not made anew for each position, so earlier positions stay patched | names=patches-stay
def recovered(clean, corrupted, mixes, weights, read):
    clean, corrupted, mixes, weights, read = (torch.as_tensor(t) for t in (clean, corrupted, mixes, weights, read))

    def run(x, start=0):
        states = [x]
        for i in range(start, len(mixes)):
            x = x + torch.tanh(mixes[i] @ x @ weights[i])
            states.append(x)
        return states, x[-1] @ read

    clean_states, best = run(clean)
    bad_states, worst = run(corrupted)
    out = []
    for i in range(len(mixes)):
        patched = bad_states[i].clone()
        row = []
        for t in range(len(clean)):
            patched[t] = clean_states[i][t]
            row.append(float((run(patched, i)[1] - worst) / (best - worst)))
        out.append(row)
    return torch.tensor(out)


# %% 17.patch | wrong | divides by the distance of the answers, abs(clean - corrupted) (wrong where the clean answer is the lower one) | names=sign-changed
def recovered(clean, corrupted, mixes, weights, read):
    clean, corrupted, mixes, weights, read = (torch.as_tensor(t) for t in (clean, corrupted, mixes, weights, read))

    def run(x, patch=None):
        states = []
        for i in range(len(mixes)):
            if patch is not None and patch[0] == i:
                x = x.clone()
                x[patch[1]] = patch[2]
            states.append(x)
            x = x + torch.tanh(mixes[i] @ x @ weights[i])
        return states, float(x[-1] @ read)

    states, top = run(clean)
    _, bottom = run(corrupted)
    span = abs(top - bottom)
    return torch.tensor(
        [
            [(run(corrupted, (i, t, states[i][t]))[1] - bottom) / span for t in range(len(clean))]
            for i in range(len(mixes))
        ]
    )


# %% 17.probe | right | least squares of a longer matrix: sqrt(ridge) times the identity below the states, targets 0 there
def linear_probe(states, labels, shown, ridge):
    x = np.asarray(states, dtype=np.float64)
    y = np.asarray(labels)
    shown = np.asarray(shown).astype(bool)
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    size = x.shape[1]
    tall = np.concatenate([x[shown], math.sqrt(ridge) * np.eye(size)])
    target = np.concatenate([np.where(y[shown] == 1, 1.0, -1.0), np.zeros(size)])
    w = np.linalg.lstsq(tall, target, rcond=None)[0]
    hidden = ~shown
    return w, float(((x[hidden] @ w > 0) == (y[hidden] == 1)).mean())


# %% 17.probe | wrong | the bias is left out of the ridge penalty, as is usual | names=bias-not-penalised
def linear_probe(states, labels, shown, ridge):
    states, labels, shown = torch.as_tensor(states).double(), torch.as_tensor(labels), torch.as_tensor(shown).bool()
    x = torch.cat([states, torch.ones(len(states), 1).double()], dim=1)
    y = 2.0 * labels.double() - 1
    penalty = ridge * torch.eye(x.shape[1]).double()
    penalty[-1, -1] = 0
    w = torch.linalg.solve(x[shown].T @ x[shown] + penalty, x[shown].T @ y[shown])
    right = (x[~shown] @ w > 0).long() == labels[~shown].long()
    return w, right.double().mean().item()


# %% 17.probe | wrong | the share of right answers over all states, shown ones included | names=tried-on-all
def linear_probe(states, labels, shown, ridge):
    x = np.asarray(states, dtype=float)
    labels, shown = np.asarray(labels), np.asarray(shown, dtype=bool)
    x = np.hstack([x, np.ones((len(x), 1))])
    y = np.where(labels == 1, 1, -1)
    a = x[shown].T @ x[shown] + ridge * np.identity(x.shape[1])
    w = np.linalg.solve(a, x[shown].T @ y[shown])
    return w, np.mean((x @ w > 0) == labels)


# %% 17.selectivity | right | plain loops and counts
def selectivity(words, labels, drawn, predicted, control_predicted, held_out):
    control = torch.as_tensor(drawn)[torch.as_tensor(words).long()]
    n = hits = control_hits = 0
    for i in range(len(words)):
        if held_out[i]:
            n += 1
            hits += int(predicted[i] == labels[i])
            control_hits += int(control_predicted[i] == drawn[int(words[i])])
    return control, hits / n, control_hits / n, hits / n - control_hits / n


# %% 17.selectivity | wrong | the control's predictions are measured against the real labels | names=control-against-real-labels
def selectivity(words, labels, drawn, predicted, control_predicted, held_out):
    words, labels, drawn = np.asarray(words), np.asarray(labels), np.asarray(drawn)
    held = np.asarray(held_out, dtype=bool)
    control = drawn[words]
    acc = (np.asarray(predicted) == labels)[held].mean()
    control_acc = (np.asarray(control_predicted) == labels)[held].mean()
    return control, acc, control_acc, acc - control_acc


# %% 17.selectivity | wrong | a selectivity below 0 is cut to 0 (wrong only where the control is the better one) | names=not-negative
def selectivity(words, labels, drawn, predicted, control_predicted, held_out):
    words, labels, drawn = np.asarray(words), np.asarray(labels), np.asarray(drawn)
    held = np.asarray(held_out, dtype=bool)
    control = drawn[words]
    acc = np.mean(np.asarray(predicted)[held] == labels[held])
    cacc = np.mean(np.asarray(control_predicted)[held] == control[held])
    return control, acc, cacc, max(0.0, acc - cacc)


# %% 17.silence | right | the whole output, minus what the head adds, plus what its mean would add
def without_head(z, w_o, b_o, head):
    z, w_o, b_o = torch.as_tensor(z), torch.as_tensor(w_o), torch.as_tensor(b_o)
    N, T, H = z.shape
    w = w_o.double().reshape(N, H, -1)
    others = [i for i in range(N) if i != head % N]
    zero = torch.einsum("nth,nhd->td", z[others].double(), w[others]) + b_o.double()
    mean = torch.full((T,), 1 / T, dtype=torch.float64) @ z[head].double() @ w[head]
    return zero.to(z.dtype), (zero + mean).to(z.dtype)


# %% 17.silence | wrong | one mean of all the head's numbers, over positions and width | names=no-axis
def without_head(z, w_o, b_o, head):
    z, w_o, b_o = torch.as_tensor(z), torch.as_tensor(w_o), torch.as_tensor(b_o)
    N, T, H = z.shape

    def output(value):
        new = z.clone()
        new[head] = value
        return new.transpose(0, 1).reshape(T, N * H) @ w_o + b_o

    return output(0.0), output(z[head].mean())


# %% 17.silence | wrong | reshapes (N, T, H) to (T, N H) without exchanging the axes first | names=heads-not-beside
def without_head(z, w_o, b_o, head):
    z, w_o, b_o = torch.as_tensor(z), torch.as_tensor(w_o), torch.as_tensor(b_o)
    N, T, H = z.shape
    zeros, means = z.clone(), z.clone()
    zeros[head] = 0
    means[head] = z[head].mean(dim=0)
    return zeros.reshape(T, N * H) @ w_o + b_o, means.reshape(T, N * H) @ w_o + b_o


# %% 17.superposition | right | one pass over pairs of columns in float64, features of length 0 left at 0
def shared_dimensions(w):
    given = torch.as_tensor(w)
    w = given.double()
    M = w.shape[1]
    lengths, interference, dimensions = (torch.zeros(M, dtype=torch.float64) for _ in range(3))
    for i in range(M):
        lengths[i] = torch.linalg.vector_norm(w[:, i])
        if not w[:, i].any():
            continue
        unit = w[:, i] / lengths[i]
        rest = torch.cat([w[:, :i], w[:, i + 1 :]], dim=1)
        interference[i] = (unit @ rest).square().sum()
        own = lengths[i] ** 2
        dimensions[i] = own / (own + interference[i])
    return tuple(t.to(given.dtype) for t in (lengths, interference, dimensions))


# %% 17.superposition | wrong | both directions are brought to length 1: sums of squared cosines | names=both-of-length-one
def shared_dimensions(w):
    w = torch.as_tensor(w)
    lengths = w.norm(dim=0)
    unit = torch.where(
        lengths > 0, w / torch.where(lengths > 0, lengths, torch.ones_like(lengths)), torch.zeros_like(w)
    )
    cos2 = (unit.T @ unit) ** 2
    interference = cos2.sum(1) - cos2.diagonal()
    dims = torch.where(lengths > 0, lengths**2 / cos2.sum(1).clamp(min=1e-30), torch.zeros_like(lengths))
    return lengths, interference, dims


# %% 17.superposition | wrong | 1e-6 is added to the lengths against division by 0 (features that are short, but not 0, come out wrong)
def shared_dimensions(w):
    w = torch.as_tensor(w)
    lengths = w.norm(dim=0)
    unit = w / (lengths + 1e-6)
    products = (unit.T @ w).pow(2)
    total = products.sum(dim=1)
    interference = (products * (1 - torch.eye(w.shape[1], dtype=w.dtype))).sum(dim=1)
    dims = torch.where(total > 0, lengths.pow(2) / total, torch.zeros_like(total))
    return lengths, interference, dims


# %% 17.top-k-codes | right | the rank of each latent is counted: how many are larger, or equal and before it
def top_k_codes(h, w_encoder, b_encoder, directions, b_decoder, k):
    h, w_e, b_e, d, b_d = (torch.as_tensor(t) for t in (h, w_encoder, b_encoder, directions, b_decoder))
    a = torch.relu((h - b_d) @ w_e + b_e)
    A = a.shape[1]
    index = torch.arange(A)
    earlier = index[None, :] < index[:, None]
    mine, theirs = a[:, :, None], a[:, None, :]
    rank = ((theirs > mine) | ((theirs == mine) & earlier)).sum(-1)
    latents = a * (rank < k)
    rebuilt = latents @ d + b_d
    spread = (h.double() - h.double().mean(0)).square().sum()
    missed = (h.double() - rebuilt.double()).square().sum() / spread
    return latents, rebuilt, float(missed)


# %% 17.top-k-codes | wrong | keeps all latents that are not below the k-th largest: more than k where several are equal | names=threshold-with-ties
def top_k_codes(h, w_encoder, b_encoder, directions, b_decoder, k):
    h, w_encoder, b_encoder, directions, b_decoder = (
        torch.as_tensor(t) for t in (h, w_encoder, b_encoder, directions, b_decoder)
    )
    latents = torch.relu((h - b_decoder) @ w_encoder + b_encoder)
    kth = latents.sort(dim=-1, descending=True).values[:, k - 1 : k]
    latents = latents * (latents >= kth)
    out = latents @ directions + b_decoder
    return latents, out, (h - out).square().sum() / (h - h.mean(0)).square().sum()


# %% 17.top-k-codes | wrong | the distances are taken from one mean of all numbers, not from the mean state | names=no-axis
def top_k_codes(h, w_encoder, b_encoder, directions, b_decoder, k):
    h, w_encoder, b_encoder, directions, b_decoder = (
        torch.as_tensor(t) for t in (h, w_encoder, b_encoder, directions, b_decoder)
    )
    latents = torch.relu((h - b_decoder) @ w_encoder + b_encoder)
    order = torch.sort(latents, dim=-1, descending=True, stable=True).indices[:, :k]
    mask = torch.zeros_like(latents).scatter(1, order, 1.0)
    latents = latents * mask
    out = latents @ directions + b_decoder
    missed = ((h - out) ** 2).sum() / ((h - h.mean()) ** 2).sum()
    return latents, out, missed


# %% 17.top-k-codes | wrong | sorts upwards and takes the last k (of equal latents the one with the higher index stays) | names=last-of-equals
def top_k_codes(h, w_encoder, b_encoder, directions, b_decoder, k):
    h, w_encoder, b_encoder, directions, b_decoder = (
        torch.as_tensor(t) for t in (h, w_encoder, b_encoder, directions, b_decoder)
    )
    a = torch.relu((h - b_decoder) @ w_encoder + b_encoder)
    drop = torch.sort(a, dim=1, stable=True).indices[:, : a.shape[1] - k]
    a = a.scatter(1, drop, 0.0)
    rebuilt = a @ directions + b_decoder
    return a, rebuilt, (h - rebuilt).pow(2).sum() / (h - h.mean(dim=0)).pow(2).sum()
