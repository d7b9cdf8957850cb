# %% 13.contrastive | right | in float64, by log-sum-exp of rows and columns minus the diagonal; vectors divided by their largest number before their length is taken
def contrastive_loss(images, texts, log_scale):
    def unit(x):
        x = x.double()
        x = x / x.abs().amax(dim=-1, keepdim=True)
        return x / x.square().sum(dim=-1, keepdim=True).sqrt()

    scores = torch.exp(log_scale.double()) * torch.einsum("id,jd->ij", unit(images), unit(texts))
    both = torch.logsumexp(scores, dim=1) + torch.logsumexp(scores, dim=0)
    return ((both / 2) - scores.diagonal()).mean().to(images.dtype)


# %% 13.contrastive | right | F.normalize divides by at least 1e-12, so vectors shorter than that do not get length 1 (short vectors are allowed)
def contrastive_loss(images, texts, log_scale):
    s = F.normalize(images, dim=-1) @ F.normalize(texts, dim=-1).T * log_scale.exp()
    y = torch.arange(len(s))
    return (F.cross_entropy(s, y) + F.cross_entropy(s.T, y)) / 2


# %% 13.contrastive | wrong | takes log_scale as a temperature: divides by e^sigma | names=scale-inverted
def contrastive_loss(images, texts, log_scale):
    images = images / images.norm(dim=-1, keepdim=True)
    texts = texts / texts.norm(dim=-1, keepdim=True)
    scores = images @ texts.T / torch.exp(log_scale)
    own = torch.arange(len(images))
    return (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2


# %% 13.frames | wrong | the range ends at length - width exclusively, so the last frame is lost where it ends exactly at the last sample | names=last-one-lost
def cut_frames(samples, width, hop):
    length = samples.shape[1]
    starts = list(range(0, length - width, hop)) or [0]
    return torch.stack([samples[:, s : s + width] for s in starts], dim=1)


# %% 13.kernel | wrong | reshapes w to (D, C, P, P) directly, without exchanging rows and columns first | names=untransposed
def as_kernel(w, channels, patch):
    return w.reshape(-1, channels, patch, patch)


# %% 13.kernel | wrong | turns every filter by 180 degrees, as the mathematical convolution does; F.conv2d does not flip | names=flipped
def as_kernel(w, channels, patch):
    filters = w.T.reshape(w.shape[1], channels, patch, patch)
    return torch.flip(filters, dims=(-2, -1))


# %% 13.linear | right | elu(x) + 1 written as exp or x + 1; a column of ones beside v makes numerator and denominator in one product
def linear_attention(q, k, v):
    def f(x):
        return torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))

    ones = torch.ones_like(v[..., :1])
    sums = f(k).transpose(-1, -2) @ torch.cat([v, ones], dim=-1)  # (..., H, H' + 1)
    y = f(q) @ sums
    return y[..., :-1] / y[..., -1:]


# %% 13.linear | wrong | divides the queries by sqrt(H) before f, as a usual head does; the text says there is none | names=scaled
def linear_attention(q, k, v):
    fq, fk = F.elu(q / math.sqrt(q.shape[-1])) + 1, F.elu(k) + 1
    total = fq @ fk.sum(dim=-2).unsqueeze(-1)
    return fq @ (fk.transpose(-1, -2) @ v) / total


# %% 13.linear | wrong | makes the T x S matrix of weights first and multiplies it by v: right numbers, but the text forbids it (T vectors are multiplied by v) | names=square-made
def linear_attention(q, k, v):
    a = (F.elu(q) + 1) @ (F.elu(k) + 1).mT
    return a / a.sum(-1, keepdim=True) @ v


# %% 13.look | right | a loop over heads; each head's part of w_o is applied at once and summed, no merging
def look_at_picture(x, picture, w_q, w_k, w_v, w_o, gate, n_heads):
    head = w_q.shape[1] // n_heads
    seen = torch.zeros_like(x)
    for n in range(n_heads):
        own = slice(n * head, (n + 1) * head)
        scores = torch.einsum("btd,bsd->bts", x @ w_q[:, own], picture @ w_k[:, own]) / head**0.5
        scores = scores - scores.amax(dim=-1, keepdim=True)
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        seen = seen + weights @ (picture @ w_v[:, own]) @ w_o[own]
    return x + torch.tanh(gate) * seen


# %% 13.look | wrong | takes H as D / N, which is wrong wherever N*H is not D (then the scores get another scale) | names=width-of-the-words
def look_at_picture(x, picture, w_q, w_k, w_v, w_o, gate, n_heads):
    q, k, v = split_heads(x @ w_q, n_heads), split_heads(picture @ w_k, n_heads), split_heads(picture @ w_v, n_heads)
    s = q @ k.mT / math.sqrt(x.shape[-1] / n_heads)
    return x + gate.tanh() * (merge_heads(s.softmax(-1) @ v) @ w_o)


# %% 13.merge | right | stacks the two tiles on a new axis and weighs them; where both are -inf, 0 stands in for the largest score
def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):
    ms, ls, zs = torch.stack([m_a, m_b]), torch.stack([l_a, l_b]), torch.stack([z_a, z_b])
    m = ms.amax(dim=0)
    reference = torch.where(torch.isneginf(m), torch.zeros_like(m), m)
    weights = torch.exp(ms - reference)
    return m, (weights * ls).sum(dim=0), (weights.unsqueeze(-1) * zs).sum(dim=0)


# %% 13.merge | wrong | takes z as already divided by l, weighs by l and divides by the new l | names=weighted-by-sums divided-already
def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):
    m = torch.maximum(m_a, m_b)
    safe = m.masked_fill(m == float("-inf"), 0.0)
    part_a, part_b = l_a * torch.exp(m_a - safe), l_b * torch.exp(m_b - safe)
    l = part_a + part_b
    z = (part_a[..., None] * z_a + part_b[..., None] * z_b) / l.clamp(min=1e-30)[..., None]
    return m, l, z


# %% 13.merge | wrong | replaces -inf by -1e9 to avoid nan and returns that: for a query that may attend to no key of either tile m must be -inf
def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):
    a, b = m_a.clamp(min=-1e9), m_b.clamp(min=-1e9)
    m = torch.maximum(a, b)
    ca, cb = (a - m).exp(), (b - m).exp()
    return m, l_a * ca + l_b * cb, z_a * ca[..., None] + z_b * cb[..., None]


# %% 13.patches | right | two loops over the places of patches, each flattened as it lies
def patchify(images, patch):
    height, width = images.shape[2:]
    rows = []
    for top in range(0, height, patch):
        for left in range(0, width, patch):
            rows.append(images[:, :, top : top + patch, left : left + patch].flatten(1))
    return torch.stack(rows, dim=1)


# %% 13.patches | wrong | inside a patch pixel by pixel (all channels of a pixel together) instead of channel by channel | names=channels-last
def patchify(images, patch):
    b, c, height, width = images.shape
    x = images.reshape(b, c, height // patch, patch, width // patch, patch)
    return x.permute(0, 2, 4, 3, 5, 1).reshape(b, -1, c * patch * patch)


# %% 13.published | right | everything by hand in float64: einsum with the stored weights, erf for Phi, the mean of squares minus the squared mean avoided by centring
def published_feed_forward(x, w_in, b_in, w_out, b_out, gain, bias):
    y = x.double()
    hidden = torch.einsum("btd,fd->btf", y, w_in.double()) + b_in.double()
    hidden = hidden * 0.5 * torch.erfc(-hidden / math.sqrt(2))
    y = y + torch.einsum("btf,df->btd", hidden, w_out.double()) + b_out.double()
    y = y - y.mean(dim=-1, keepdim=True)
    y = y / torch.sqrt(y.square().mean(dim=-1, keepdim=True) + 1e-12)
    return (y * gain.double() + bias.double()).to(x.dtype)


# %% 13.published | wrong | leaves F.layer_norm's eps at its default of 1e-5: shows where the sum has a small variance | names=usual-eps
def published_feed_forward(x, w_in, b_in, w_out, b_out, gain, bias):
    h = F.gelu(F.linear(x, w_in, b_in))
    return F.layer_norm(x + F.linear(h, w_out, b_out), x.shape[-1:], gain, bias)


# %% 13.rollout | wrong | multiplies the layers the wrong way round: the first layer's matrix stands on the left | names=layers-backwards
def rollout(maps):
    eye = torch.eye(maps.shape[-1], dtype=maps.dtype)
    result = eye
    for layer in maps:
        result = result @ (0.5 * layer.mean(dim=0) + 0.5 * eye)
    return result


# %% 13.rollout | wrong | torch.linalg.multi_dot needs two matrices or more, so a model of one layer raises an error
def rollout(maps):
    a = (maps.mean(1) + torch.eye(maps.shape[-1]).to(maps)) / 2
    return torch.linalg.multi_dot(list(a.flip(0)))


# %% 13.step | right | new sums with einsum and plain addition; output by products and sums over H, f written as exp(min(x, 0)) + max(x, 0)
def linear_step(key_values, keys, q, k, v):
    def f(x):
        return torch.exp(torch.minimum(x, torch.zeros_like(x))) + torch.relu(x)

    new_keys = torch.add(keys, f(k))
    new_key_values = torch.add(key_values, torch.einsum("...h,...w->...hw", f(k), v))
    weight = f(q)
    top = (weight.unsqueeze(-1) * new_key_values).sum(dim=-2)
    bottom = (weight * new_keys).sum(dim=-1, keepdim=True)
    return top / bottom, new_key_values, new_keys


# %% 13.step | wrong | adds to the given sums in place (+=): the numbers are right, but the caller's tensors change | names=inputs-changed
def linear_step(key_values, keys, q, k, v):
    f = lambda x: F.elu(x) + 1
    key_values += f(k)[..., :, None] * v[..., None, :]
    keys += f(k)
    y = (f(q)[..., None, :] @ key_values)[..., 0, :] / (f(q) * keys).sum(-1, keepdim=True)
    return y, key_values, keys


# %% 13.tokens | wrong | adds the bias to the class token too | names=bias-on-class
def picture_tokens(patches, w, b, class_token, positions):
    projected = patches @ w
    first = class_token.expand(len(patches), 1, -1)
    return torch.cat([first, projected], dim=1) + b + positions


# %% 13.tokens | wrong | class token gets no position: only the patches get the table's rows, and its row 0 is not used | names=class-without-position
def picture_tokens(patches, w, b, class_token, positions):
    x = patches @ w + b + positions[1:]
    return torch.cat([class_token.expand(x.shape[0], 1, -1), x], 1)


# %% 13.zero-shot | wrong | does not scale the mean of a label's sentences to length 1 again | names=mean-not-normalised
def choose_label(images, labels, scale):
    sentences = labels / labels.norm(dim=-1, keepdim=True)
    means = sentences.mean(dim=1)
    images = images / images.norm(dim=-1, keepdim=True)
    return torch.softmax(scale * images @ means.T, dim=-1)


# %% 13.zero-shot | wrong | squeezes the result, so a batch of one image gives shape (J,) instead of (1, J), and one label gives (B,) | names=axes-of-one
def choose_label(images, labels, scale):
    scaled = lambda x: x / x.abs().amax(-1, keepdim=True)
    unit = lambda x: scaled(x) / scaled(x).norm(dim=-1, keepdim=True)
    w = unit(unit(labels).mean(1))
    logits = (scale * w @ unit(images)[..., None]).squeeze()
    return logits.softmax(-1)
