# %% 12.activations | wrong | a fused kernel is taken to save neither the attention weights nor queries, keys and values
def activation_bytes(batch, n_tokens, d_model, n_heads, d_hidden, fused):
    rows = batch * n_tokens
    vectors = 5 if fused else 8
    numbers = vectors * rows * d_model + 2 * rows * d_hidden
    if not fused:
        numbers += batch * n_heads * n_tokens**2
    return 2 * numbers


# %% 12.activations | wrong | the input of the second matrix and that of the activation function are taken for one tensor | names=hidden-once
def activation_bytes(batch, n_tokens, d_model, n_heads, d_hidden, fused):
    total = batch * n_tokens * (8 * d_model + d_hidden)
    total += 0 if fused else batch * n_heads * n_tokens * n_tokens
    return total * 2


# %% 12.cache | right | counts numbers instead of bytes and lets range say how many fit
def largest_batch(memory, n_parameters, n_layers, n_heads, n_kv_heads, head_width, context):
    room = int(memory * 5 * 10**8 - n_parameters)
    each = n_layers * 2 * n_kv_heads * head_width * context
    return len(range(each, room + 1, each))


# %% 12.cache | wrong | the cache is counted with the query heads | names=query-heads
def largest_batch(memory, n_parameters, n_layers, n_heads, n_kv_heads, head_width, context):
    per_sequence = 2 * 2 * n_layers * n_heads * head_width * context
    free = memory * 10**9 - 2 * n_parameters
    return max(0, free // per_sequence)


# %% 12.cache | wrong | int() of a quotient without a look at its sign (negative where the weights alone are far too large) | names=below-zero-cut
def largest_batch(memory, n_parameters, n_layers, n_heads, n_kv_heads, head_width, context):
    kv = 2 * n_layers * n_kv_heads * head_width * context * 2
    return int((memory * 10**9 - 2 * n_parameters) / kv)


# %% 12.days | right | exact fractions, a float at the end
def training_time(n_parameters, n_tokens, n_devices, sheet, share):
    from fractions import Fraction

    work = 6 * Fraction(n_parameters) * Fraction(n_tokens)
    each_second = Fraction(n_devices) * Fraction(sheet["dense"]) * Fraction(share) * 10**12
    return float(work / each_second / (24 * 60 * 60))


# %% 12.days | wrong | takes the larger peak of the sheet, that of structured sparsity | names=sparse-peak
def training_time(n_parameters, n_tokens, n_devices, sheet, share):
    peak = max(sheet.values()) * 1e12
    return 6 * n_parameters * n_tokens / (n_devices * peak * share) / 86400


# %% 12.days | wrong | converts the sheet's number to operations per second in the sheet itself (changes its input in place) | names=inputs-changed
def training_time(n_parameters, n_tokens, n_devices, sheet, share):
    sheet["dense"] *= 1e12
    seconds = 6 * n_parameters * n_tokens / (n_devices * sheet["dense"] * share)
    return seconds / 60 / 60 / 24


# %% 12.decode | wrong | keys are read by every query head, shared or not | names=own-keys
def decode_intensities(batch, context, d_model, d_hidden, n_heads, n_kv_heads, head_width, bytes_per_number):
    B, S, D, F, N, H = batch, context, d_model, d_hidden, n_heads, head_width
    dense = 2 * B * D * F / ((B * D + D * F + B * F) * bytes_per_number)
    ops = 2 * B * N * S * H
    moved = B * N * H + B * N * S * H + B * N * S
    return dense, ops / (moved * bytes_per_number)


# %% 12.decode | wrong | the keys are read once for the whole batch, as weights are | names=keys-shared-by-all
def decode_intensities(batch, context, d_model, d_hidden, n_heads, n_kv_heads, head_width, bytes_per_number):
    dense = (
        2 * batch * d_model * d_hidden / (bytes_per_number * (batch * d_model + d_model * d_hidden + batch * d_hidden))
    )
    q = batch * n_heads * head_width
    k = n_kv_heads * context * head_width
    s = batch * n_heads * context
    scores = 2 * batch * n_heads * context * head_width / (bytes_per_number * (q + k + s))
    return dense, scores


# %% 12.decode | right | intensities by the sum of reciprocal sides, scores counted for one group of query heads
def decode_intensities(batch, context, d_model, d_hidden, n_heads, n_kv_heads, head_width, bytes_per_number):
    def intensity(a, b, c):
        return 2 / bytes_per_number / (1 / a + 1 / b + 1 / c)

    return intensity(batch, d_model, d_hidden), intensity(n_heads / n_kv_heads, head_width, context)


# %% 12.encoder-decoder | right | one function for an attention sublayer with queries and memory, multiplied at the end
def translator_flops(batch, source, target, d_model, d_hidden, n_layers, vocab_size):
    def attention(q, kv):
        return (q + kv + kv + q) * d_model * d_model + 2 * q * kv * d_model

    def network(rows):
        return 2 * rows * d_model * d_hidden

    multiply_adds = [
        n_layers * (attention(source, source) + network(source)),
        n_layers * (attention(target, target) + attention(target, source) + network(target))
        + target * d_model * vocab_size,
    ]
    encoder, decoder = (2 * batch * n for n in multiply_adds)
    return encoder, decoder


# %% 12.encoder-decoder | wrong | keys and values of cross-attention are computed from the encoder's output once, not in each layer | names=memory-of-one-layer
def translator_flops(batch, source, target, d_model, d_hidden, n_layers, vocab_size):
    B, S, T, D, F, L = batch, source, target, d_model, d_hidden, n_layers
    enc = L * (8 * S * D * D + 4 * S * S * D + 4 * S * D * F)
    dec = L * (8 * T * D * D + 4 * T * T * D + 4 * T * D * D + 4 * T * S * D + 4 * T * D * F)
    dec += 4 * S * D * D
    dec += 2 * T * D * vocab_size
    return B * enc, B * dec


# %% 12.encoder-decoder | wrong | keys and values of cross-attention are counted with the target's length (wrong only where source and target differ) | names=memory-from-target
def translator_flops(batch, source, target, d_model, d_hidden, n_layers, vocab_size):
    def block(t):
        return 8 * t * d_model**2 + 4 * t * t * d_model + 4 * t * d_model * d_hidden

    cross = 8 * target * d_model**2 + 4 * target * source * d_model
    e = batch * n_layers * block(source)
    d = batch * (n_layers * (block(target) + cross) + 2 * target * d_model * vocab_size)
    return e, d


# %% 12.layer | right | sums over the new tokens one by one what each of them costs
def layer_flops(n_tokens, context, d_model, n_heads, n_kv_heads, head_width, d_hidden, gated, causal):
    wide, narrow = n_heads * head_width, n_kv_heads * head_width
    weights = d_model * (2 * wide + 2 * narrow) + (2 + bool(gated)) * d_model * d_hidden
    total = 0
    for i in range(n_tokens):
        seen = context - n_tokens + i + 1 if causal else context
        total += 2 * weights + 4 * wide * seen
    return total


# %% 12.layer | wrong | a causal mask is taken to halve scores and mixing, T * S / 2
def layer_flops(n_tokens, context, d_model, n_heads, n_kv_heads, head_width, d_hidden, gated, causal):
    nh, kh = n_heads * head_width, n_kv_heads * head_width
    proj = 2 * n_tokens * d_model * (2 * nh + 2 * kh)
    attn = 4 * n_tokens * context * nh
    if causal:
        attn = attn // 2
    ffn = 2 * n_tokens * d_model * d_hidden * (3 if gated else 2)
    return proj + attn + ffn


# %% 12.layer | wrong | keys and values are computed for the whole context, cached tokens included | names=keys-made-anew
def layer_flops(n_tokens, context, d_model, n_heads, n_kv_heads, head_width, d_hidden, gated, causal):
    T, S, D = n_tokens, context, d_model
    q = 2 * T * D * n_heads * head_width
    kv = 2 * 2 * S * D * n_kv_heads * head_width
    pairs = T * (S - T) + T * (T + 1) // 2 if causal else T * S
    scores = 2 * pairs * n_heads * head_width
    mixing = scores
    out = q
    net = (3 if gated else 2) * 2 * T * D * d_hidden
    return q + kv + scores + mixing + out + net


# %% 12.layer | wrong | W_O is taken as D x D (wrong only where N * H is not D)
def layer_flops(n_tokens, context, d_model, n_heads, n_kv_heads, head_width, d_hidden, gated, causal):
    T, S, D = n_tokens, context, d_model
    if causal:
        pairs = T * (S - T) + T * (T + 1) // 2
    else:
        pairs = T * S
    total = 2 * T * D * n_heads * head_width
    total += 2 * 2 * T * D * n_kv_heads * head_width
    total += 2 * 2 * pairs * n_heads * head_width
    total += 2 * T * D * D
    total += 2 * T * D * d_hidden * (3 if gated else 2)
    return total


# %% 12.parameters | right | a list of all matrices' shapes and one of vectors, summed at the end
def count_model(vocab_size, d_model, n_heads, n_kv_heads, head_width, d_hidden, n_layers, tied):
    layer = [
        (d_model, n_heads * head_width),
        (d_model, n_kv_heads * head_width),
        (d_model, n_kv_heads * head_width),
        (n_heads * head_width, d_model),
        (d_model, d_hidden),
        (d_model, d_hidden),
        (d_hidden, d_model),
    ]
    multiplied = layer * n_layers + [(d_model, vocab_size)]
    only_read = [(1, d_model)] * (2 * n_layers + 1) + [(vocab_size, d_model)] * (not tied)
    in_products = sum(math.prod(shape) for shape in multiplied)
    return in_products + sum(math.prod(shape) for shape in only_read), in_products


# %% 12.parameters | wrong | with tied embeddings the logits' matrix is left out of the products as well | names=tied-logits-forgotten
def count_model(vocab_size, d_model, n_heads, n_kv_heads, head_width, d_hidden, n_layers, tied):
    attention = 2 * d_model * n_heads * head_width + 2 * d_model * n_kv_heads * head_width
    network = 3 * d_model * d_hidden
    table = vocab_size * d_model
    output = 0 if tied else table
    everything = table + n_layers * (attention + network + 2 * d_model) + d_model + output
    return everything, n_layers * (attention + network) + output


# %% 12.parameters | wrong | the norm at the end is forgotten | names=last-norm-forgotten
def count_model(vocab_size, d_model, n_heads, n_kv_heads, head_width, d_hidden, n_layers, tied):
    per_layer = d_model * head_width * (2 * n_heads + 2 * n_kv_heads) + 3 * d_model * d_hidden
    emb = vocab_size * d_model
    total = emb + n_layers * (per_layer + 2 * d_model)
    if not tied:
        total += emb
    return total, n_layers * per_layer + emb


# %% 12.product | wrong | the weight matrix is read again for each row (equal only for one row) | names=matrix-for-each-row
def product_cost(rows, d_in, d_out, bytes_per_number):
    flops = 2 * rows * d_in * d_out
    moved = rows * (d_in + d_in * d_out + d_out) * bytes_per_number
    return flops, moved, flops / moved


# %% 12.product | wrong | counts d_in products and d_in - 1 additions for each number, not two operations for each multiply-add | names=sums-less-one
def product_cost(rows, d_in, d_out, bytes_per_number):
    operations = rows * d_out * (d_in + (d_in - 1))
    bytes_moved = (rows * d_in + d_in * d_out + rows * d_out) * bytes_per_number
    return operations, bytes_moved, operations / bytes_moved


# %% 12.ridge | right | exact fractions: the inequality solved for the rows
def smallest_batch(n_tokens, d_model, d_hidden, bytes_per_number, ridge):
    from fractions import Fraction

    need = Fraction(ridge) * Fraction(bytes_per_number)
    slope = 2 * d_model * d_hidden - need * (d_model + d_hidden)
    if slope <= 0:
        return 0
    rows = need * d_model * d_hidden / slope
    return max(1, math.ceil(rows / n_tokens))


# %% 12.ridge | wrong | reckons only with the weights' bytes, as if tokens and results were free | names=weights-alone
def smallest_batch(n_tokens, d_model, d_hidden, bytes_per_number, ridge):
    rows = ridge * bytes_per_number / 2
    return max(1, math.ceil(rows / n_tokens))


# %% 12.ridge | wrong | takes the first batch above the ridge (one too many where a batch reaches it exactly) | names=above-the-ridge
def smallest_batch(n_tokens, d_model, d_hidden, bytes_per_number, ridge):
    rb = ridge * bytes_per_number
    denominator = 2 * d_model * d_hidden - rb * (d_model + d_hidden)
    if denominator <= 0:
        return 0
    return math.floor(rb * d_model * d_hidden / denominator / n_tokens) + 1


# %% 12.ridge | wrong | 0 only below the limit (division by zero where the ridge is just the limit, e.g. D = F = 64, two bytes, ridge 32)
def smallest_batch(n_tokens, d_model, d_hidden, bytes_per_number, ridge):
    left = 2 / (bytes_per_number * ridge) - 1 / d_model - 1 / d_hidden
    if left < 0:
        return 0
    return max(1, math.ceil(1 / left / n_tokens))


# %% 12.states | right | widths of numpy's dtypes, and zip
def state_bytes(n_parameters, recipe):
    import numpy

    half, single = numpy.dtype("float16").itemsize, numpy.dtype("float32").itemsize
    width = half if recipe == "master" else single
    master = single * (recipe == "master")
    return tuple(int(each) * n_parameters for each in (width, width, master, 2 * single))


# %% 12.states | wrong | autocast is treated as half precision with a float32 master copy | names=autocast-halves
def state_bytes(n_parameters, recipe):
    n = n_parameters
    if recipe == "float32":
        return 4 * n, 4 * n, 0, 8 * n
    return 2 * n, 2 * n, 4 * n, 8 * n


# %% 12.step | right | works with nanoseconds and times of a single sequence, sorted
def decode_step(batch, weight_bytes, cache_bytes, token_flops, gb_per_s, tflop_per_s):
    moving_ns = (weight_bytes + batch * cache_bytes) / gb_per_s
    computing_ns = batch * token_flops / tflop_per_s / 1000
    longest = sorted([moving_ns, computing_ns])[-1]
    return longest / 1e9, batch * 1e9 / longest


# %% 12.step | wrong | the operations are not multiplied by the batch (wrong only where the step is limited by computing) | names=one-token-computed
def decode_step(batch, weight_bytes, cache_bytes, token_flops, gb_per_s, tflop_per_s):
    t_mem = (weight_bytes + batch * cache_bytes) / (gb_per_s * 1e9)
    t_ops = token_flops / (tflop_per_s * 1e12)
    t = max(t_mem, t_ops)
    return t, batch / t


# %% 12.step | wrong | adds the two times | names=one-after-the-other
def decode_step(batch, weight_bytes, cache_bytes, token_flops, gb_per_s, tflop_per_s):
    seconds = (weight_bytes + batch * cache_bytes) / gb_per_s / 1e9 + batch * token_flops / tflop_per_s / 1e12
    return seconds, batch / seconds


# %% 12.table | right | one table of (inner size, factors, results) and a generic helper; elementwise rows appended by position
def layer_table(batch, n_tokens, n_heads, head_width, bytes_per_number):
    R, D = batch * n_tokens, n_heads * head_width
    pairs = batch * n_heads * n_tokens * n_tokens
    heads = batch * n_heads * n_tokens * head_width
    F = 4 * D
    numbers = [
        (3 * 2 * R * D * D, 3 * (R * D + D * D + R * D)),
        (2 * pairs * head_width, heads + heads + pairs),
        (6 * pairs, pairs + pairs),
        (2 * pairs * head_width, pairs + heads + heads),
        (2 * R * D * D, R * D + D * D + R * D),
        (2 * R * D * F, R * D + D * F + R * F),
        (R * F, R * F + R * F),
        (2 * R * F * D, R * F + F * D + R * D),
    ]
    return [[ops, n * bytes_per_number, ops / (n * bytes_per_number)] for ops, n in numbers]


# %% 12.table | wrong | queries, keys and values: the tokens are read only once for the three products | names=qkv-fused
def layer_table(batch, n_tokens, n_heads, head_width, bytes_per_number):
    b, t, n, h = batch, n_tokens, n_heads, head_width
    d = n * h
    f = 4 * d
    ops = [
        6 * b * t * d * d,
        2 * b * n * t * t * h,
        6 * b * n * t * t,
        2 * b * n * t * t * h,
        2 * b * t * d * d,
        2 * b * t * d * f,
        b * t * f,
        2 * b * t * d * f,
    ]
    moved = [
        b * t * d + 3 * d * d + 3 * b * t * d,
        2 * b * t * d + b * n * t * t,
        2 * b * n * t * t,
        2 * b * t * d + b * n * t * t,
        2 * b * t * d + d * d,
        b * t * d + d * f + b * t * f,
        2 * b * t * f,
        b * t * d + d * f + b * t * f,
    ]
    return [[o, m * bytes_per_number, o / (m * bytes_per_number)] for o, m in zip(ops, moved)]


# %% 12.table | wrong | counts one sequence and multiplies operations and bytes by the batch: weights are read once per sequence (wrong only for batch > 1) | names=matrix-for-each
def layer_table(batch, n_tokens, n_heads, head_width, bytes_per_number):
    T, N, H = n_tokens, n_heads, head_width
    D = N * H
    F = 4 * D

    def prod(r, i, o, times=1):
        return times * 2 * r * i * o, times * (r * i + i * o + r * o)

    rows = [
        prod(T, D, D, 3),
        prod(T, H, T, N),
        (6 * N * T * T, 2 * N * T * T),
        prod(T, T, H, N),
        prod(T, D, D),
        prod(T, D, F),
        (T * F, 2 * T * F),
        prod(T, F, D),
    ]
    out = []
    for f, n in rows:
        out.append([f * batch, n * batch * bytes_per_number, f / (n * bytes_per_number)])
    return out


# %% 12.token | wrong | the backward pass doubles only the weights' operations, not those of scores and mixing | names=attention-not-trained
def token_flops(n_weights, n_layers, n_heads, head_width, context):
    pairs = 4 * n_layers * n_heads * head_width * context
    forward = 2 * n_weights + pairs
    return forward, 6 * n_weights + pairs


# %% 12.token | wrong | scores and mixing are counted together as 2 H for each pair instead of 2 H for each of the two | names=mixing-forgotten
def token_flops(n_weights, n_layers, n_heads, head_width, context):
    fwd = 2 * n_weights + n_layers * 2 * n_heads * head_width * context
    return fwd, 3 * fwd
