# %% 12.product | right | has `def product_cost(r, i, o, s): import torch f, b = (2 * r * i * o, s * (r * i + i * o + r * o)) return torch ...`
def product_cost(r, i, o, s):
    import torch

    f, b = 2 * r * i * o, s * (r * i + i * o + r * o)
    return torch.tensor([f, b, f / b])


# %% 12.product | wrong | the rows of `x` are missing from the bytes | names=input-unread result-unwritten
def product_cost(r, i, o, s):
    f, b = 2 * r * i * o, s * i * o
    return f, b, f / b


# %% 12.product | wrong | the code counts d_in - 1 additions for a sum of d_in products | names=sums-less-one
def product_cost(r, i, o, s):
    f, b = 2 * r * i * o - r * o, s * (r * i + i * o + r * o)
    return f, b, f / b


# %% 12.layer | right | has `def layer_flops(t, s, d, n, k, h, f, gated, causal): weights = d * h * (2 * n + 2 * k) + d * f * (2 + gated ...`
def layer_flops(t, s, d, n, k, h, f, gated, causal):
    weights = d * h * (2 * n + 2 * k) + d * f * (2 + gated)
    pairs = t * s - (t * (t - 1) // 2 if causal else 0)
    return 2 * t * weights + 4 * pairs * n * h


# %% 12.layer | wrong | the code counts scores and mixing for one head | names=one-head
def layer_flops(t, s, d, n, k, h, f, gated, causal):
    weights = d * h * (2 * n + 2 * k) + d * f * (2 + gated)
    pairs = t * s - (t * (t - 1) // 2 if causal else 0)
    return 2 * t * weights + 4 * pairs * h


# %% 12.layer | wrong | the code counts half of the T * T pairs among the new tokens | names=half-the-square
def layer_flops(t, s, d, n, k, h, f, gated, causal):
    weights = d * h * (2 * n + 2 * k) + d * f * (2 + gated)
    pairs = t * (s - t) + t * t // 2 if causal else t * s
    return 2 * t * weights + 4 * pairs * n * h


# %% 12.parameters | right | has `def count_model(v, d, n, k, h, f, layers, tied): matrices = layers * d * (2 * n * h + 2 * k * h + 3 * f) ta ...`
def count_model(v, d, n, k, h, f, layers, tied):
    matrices = layers * d * (2 * n * h + 2 * k * h + 3 * f)
    table, gains = v * d, d * (2 * layers + 1)
    return matrices + gains + table * (1 if tied else 2), matrices + table


# %% 12.parameters | wrong | the logits are missing from the products where the table is tied | names=tied-logits-forgotten
def count_model(v, d, n, k, h, f, layers, tied):
    matrices = layers * d * (2 * n * h + 2 * k * h + 3 * f)
    table, gains = v * d, d * (2 * layers + 1)
    return matrices + gains + table * (1 if tied else 2), matrices + (0 if tied else table)


# %% 12.token | right | has `def token_flops(w, layers, n, h, s): there = 2 * w + 4 * layers * n * h * s return (there, 3 * there)`
def token_flops(w, layers, n, h, s):
    there = 2 * w + 4 * layers * n * h * s
    return there, 3 * there


# %% 12.token | wrong | the code counts scores and mixing for one head | names=one-head
def token_flops(w, layers, n, h, s):
    there = 2 * w + 4 * layers * h * s
    return there, 3 * there


# %% 12.encoder-decoder | right | has `def translator_flops(b, s, t, d, f, layers, v): def look(asking, seen): return 4 * asking * d * d + 4 * see ...`
def translator_flops(b, s, t, d, f, layers, v):
    def look(asking, seen):
        return 4 * asking * d * d + 4 * seen * d * d + 4 * asking * seen * d

    encoder = look(s, s) + 4 * s * d * f
    decoder = look(t, t) + look(t, s) + 4 * t * d * f
    return b * layers * encoder, b * (layers * decoder + 2 * t * d * v)


# %% 12.encoder-decoder | wrong | one of the four products of self-attention is missing | names=output-forgotten memory-half
def translator_flops(b, s, t, d, f, layers, v):
    def look(asking, seen):
        return 4 * asking * d * d + 2 * seen * d * d + 4 * asking * seen * d

    encoder = look(s, s) + 4 * s * d * f
    decoder = look(t, t) + look(t, s) + 4 * t * d * f
    return b * layers * encoder, b * (layers * decoder + 2 * t * d * v)


# %% 12.encoder-decoder | wrong | the code counts one layer of each stack | names=one-layer
def translator_flops(b, s, t, d, f, layers, v):
    def look(asking, seen):
        return 4 * asking * d * d + 4 * seen * d * d + 4 * asking * seen * d

    encoder = look(s, s) + 4 * s * d * f
    decoder = look(t, t) + look(t, s) + 4 * t * d * f
    return b * 1 * encoder, b * (1 * decoder + 2 * t * d * v)


# %% 12.days | right | has `def training_time(p, tokens, n, sheet, share): return 6 * p * tokens / (n * sheet.get('dense') * 1000000000 ...`
def training_time(p, tokens, n, sheet, share):
    return 6 * p * tokens / (n * sheet.get("dense") * 1e12 * share) / 86400


# %% 12.days | wrong | the code makes training faster when a smaller share of the peak is reached | names=share-turned
def training_time(p, tokens, n, sheet, share):
    return 6 * p * tokens / (n * sheet["dense"] * 1e12 / share) / 86400


# %% 12.states | right | has `def state_bytes(n, recipe): w, g, m, a = {'float32': (4, 4, 0, 8), 'autocast': (4, 4, 0, 8), 'master': (2,  ...`
def state_bytes(n, recipe):
    w, g, m, a = {"float32": (4, 4, 0, 8), "autocast": (4, 4, 0, 8), "master": (2, 2, 4, 8)}[recipe]
    return w * n, g * n, m * n, a * n


# %% 12.states | wrong | the code counts the master copy with Adam's states, as some papers do | names=master-with-adam
def state_bytes(n, recipe):
    w, g, m, a = {"float32": (4, 4, 0, 8), "autocast": (4, 4, 0, 8), "master": (2, 2, 0, 12)}[recipe]
    return w * n, g * n, m * n, a * n


# %% 12.activations | right | has `def activation_bytes(b, t, d, n, f, fused): x, hidden, maps = (b * t * d, b * t * f, b * n * t * t) return  ...`
def activation_bytes(b, t, d, n, f, fused):
    x, hidden, maps = b * t * d, b * t * f, b * n * t * t
    return 2 * (8 * x + 2 * hidden + (0 if fused else maps))


# %% 12.activations | wrong | the two cases of `fused` are swapped | names=fused-turned
def activation_bytes(b, t, d, n, f, fused):
    x, hidden, maps = b * t * d, b * t * f, b * n * t * t
    return 2 * (8 * x + 2 * hidden + (maps if fused else 0))


# %% 12.cache | right | has `def largest_batch(memory, p, layers, n, k, h, s): room = memory * 1000000000.0 - 2 * p each = 4 * layers *  ...`
def largest_batch(memory, p, layers, n, k, h, s):
    room = memory * 1e9 - 2 * p
    each = 4 * layers * k * h * s
    return max(0, int(room // each))


# %% 12.cache | wrong | the result is not a whole number | names=fraction
def largest_batch(memory, p, layers, n, k, h, s):
    room = memory * 1e9 - 2 * p
    each = 4 * layers * k * h * s
    return max(0, room / each)


# %% 12.cache | wrong | the code leaves out the last sequence where it fills the memory to the byte | names=byte-to-spare
def largest_batch(memory, p, layers, n, k, h, s):
    room = memory * 1e9 - 2 * p
    each = 4 * layers * k * h * s
    return len(range(int(each), int(max(room, 0)), int(each)))


# %% 12.decode | right | has `def decode_intensities(b, s, d, f, n, k, h, size): dense = 2 * b * d * f / (b * d + d * f + b * f) scores = ...`
def decode_intensities(b, s, d, f, n, k, h, size):
    dense = 2 * b * d * f / (b * d + d * f + b * f)
    scores = 2 * b * n * s * h / (b * (n * h + k * s * h + n * s))
    return dense / size, scores / size


# %% 12.decode | wrong | has `def decode_intensities(B, S, D, F, N, K, H, b): n = B * D + D * F + B * F return (2 * B * D * F / (n * b),  ...`
def decode_intensities(B, S, D, F, N, K, H, b):
    n = B * D + D * F + B * F
    return 2 * B * D * F / (n * b), 2 * N * S * H / ((N * H + N * S * H + N * S) * b)


# %% 12.decode | wrong | the result of the dense product is missing from the bytes | names=dense-result-unwritten
def decode_intensities(b, s, d, f, n, k, h, size):
    dense = 2 * b * d * f / (b * d + d * f)
    scores = 2 * b * n * s * h / (b * (n * h + k * s * h + n * s))
    return dense / size, scores / size


# %% 12.ridge | right | has `def smallest_batch(t, d, f, size, ridge): for b in range(1, 100000): rows = b * t if 2 * rows * d * f / (si ...`
def smallest_batch(t, d, f, size, ridge):
    for b in range(1, 100000):
        rows = b * t
        if 2 * rows * d * f / (size * (rows * d + d * f + rows * f)) >= ridge:
            return b
    return 0


# %% 12.ridge | wrong | has `def smallest_batch(t, d, f, size, ridge): most = 2 / size / (1 / d + 1 / f) if most < ridge:; rows = 1 / (2 ...`
def smallest_batch(t, d, f, size, ridge):
    most = 2 / size / (1 / d + 1 / f)
    if most < ridge:
        return 0
    rows = 1 / (2 / size / ridge - 1 / d - 1 / f)
    return math.ceil(rows / t)


# %% 12.ridge | wrong | the code takes the next larger batch where a batch lies exactly on the ridge | names=above-the-ridge
def smallest_batch(t, d, f, size, ridge):
    most = 2 / size / (1 / d + 1 / f)
    if most <= ridge:
        return 0
    rows = 1 / (2 / size / ridge - 1 / d - 1 / f)
    return math.floor(rows / t) + 1


# %% 12.step | right | has `def decode_step(b, weights, cache, flops, gb, tflop): move, work = ((weights + b * cache) / gb / 1000000000 ...`
def decode_step(b, weights, cache, flops, gb, tflop):
    move, work = (weights + b * cache) / gb / 1e9, b * flops / tflop / 1e12
    step = max(move, work)
    return step, b / step


# %% 12.step | wrong | the code counts only the time for computing | names=computing-alone
def decode_step(b, weights, cache, flops, gb, tflop):
    move, work = (weights + b * cache) / gb / 1e9, b * flops / tflop / 1e12
    step = work
    return step, b / step
