# %% 07.encoder | wrong | the last norm comes after all layers also without pre_norm, with gain 1 and shift 0 (as F.layer_norm does)
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden, n_layers, pre_norm):
        super().__init__()
        self.n_heads, self.pre_norm = n_heads, pre_norm
        self.attention = nn.Parameter(torch.empty(n_layers, 4, d_model, d_model))
        self.w_1 = nn.Parameter(torch.empty(n_layers, d_model, d_hidden))
        self.b_1 = nn.Parameter(torch.empty(n_layers, d_hidden))
        self.w_2 = nn.Parameter(torch.empty(n_layers, d_hidden, d_model))
        self.b_2 = nn.Parameter(torch.empty(n_layers, d_model))
        self.norms = nn.Parameter(torch.empty(n_layers, 4, d_model))
        self.gain = self.shift = None
        if pre_norm:
            self.gain = nn.Parameter(torch.empty(d_model))
            self.shift = nn.Parameter(torch.empty(d_model))

    def forward(self, x, mask=None):
        for i in range(len(self.w_1)):
            weights = self.attention[i], self.w_1[i], self.b_1[i], self.w_2[i], self.b_2[i], self.norms[i]
            x = encoder_layer(x, *weights, self.n_heads, self.pre_norm, mask)
        return nn.functional.layer_norm(x, x.shape[-1:], self.gain, self.shift, 1e-5)


# %% 07.encoder | wrong | the mask goes to the first layer only ("after that padding is out") | names=mask-in-the-first-alone
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden, n_layers, pre_norm):
        super().__init__()
        new = lambda *s: nn.Parameter(torch.empty(*s))
        D, F, L = d_model, d_hidden, n_layers
        self.attention, self.norms = new(L, 4, D, D), new(L, 4, D)
        self.w_1, self.b_1, self.w_2, self.b_2 = new(L, D, F), new(L, F), new(L, F, D), new(L, D)
        self.n_heads, self.pre_norm = n_heads, pre_norm
        if pre_norm:
            self.gain, self.shift = new(D), new(D)

    def forward(self, x, mask=None):
        for ws in zip(self.attention, self.w_1, self.b_1, self.w_2, self.b_2, self.norms):
            x = encoder_layer(x, *ws, self.n_heads, self.pre_norm, mask)
            mask = None
        return layer_norm(x, self.gain, self.shift, 1e-5) if self.pre_norm else x


# %% 07.encoder | right | parameters registered from a dict of shapes; functools.reduce over the layers
class Encoder(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden, n_layers, pre_norm):
        super().__init__()
        self.n_heads = n_heads
        self.pre_norm = bool(pre_norm)
        shapes = {
            "attention": (4, d_model, d_model),
            "w_1": (d_model, d_hidden),
            "b_1": (d_hidden,),
            "w_2": (d_hidden, d_model),
            "b_2": (d_model,),
            "norms": (4, d_model),
        }
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.empty(n_layers, *shape)))
        if pre_norm:
            self.register_parameter("gain", nn.Parameter(torch.empty(d_model)))
            self.register_parameter("shift", nn.Parameter(torch.empty(d_model)))

    def forward(self, x, mask=None):
        from functools import reduce

        layers = zip(*(p.unbind(0) for p in (self.attention, self.w_1, self.b_1, self.w_2, self.b_2, self.norms)))
        out = reduce(lambda h, w: encoder_layer(h, *w, self.n_heads, self.pre_norm, mask), layers, x)
        if not self.pre_norm:
            return out
        return layer_norm(out, self.gain, self.shift, 1e-5)


# %% 07.encoder-layer | wrong | the mask is set on the queries, rows of padding attend to nothing, while tokens still attend to padding | names=padding-on-queries
def encoder_layer(x, attention, w_1, b_1, w_2, b_2, norms, n_heads, pre_norm, mask=None):
    may_look = None if mask is None else mask[:, None, :, None]
    gain_1, shift_1, gain_2, shift_2 = norms
    if pre_norm:
        x = x + self_attention(layer_norm(x, gain_1, shift_1, 1e-5), *attention, n_heads, may_look)
        return x + feed_forward(layer_norm(x, gain_2, shift_2, 1e-5), w_1, b_1, w_2, b_2)
    x = layer_norm(x + self_attention(x, *attention, n_heads, may_look), gain_1, shift_1, 1e-5)
    return layer_norm(x + feed_forward(x, w_1, b_1, w_2, b_2), gain_2, shift_2, 1e-5)


# %% 07.encoder-layer | wrong | with pre-norm the normed x is also what goes on the residual connection | names=residual-from-normed-in-pre
def encoder_layer(x, attention, w_1, b_1, w_2, b_2, norms, n_heads, pre_norm, mask=None):
    look = None if mask is None else mask[:, None, None, :]
    g1, s1, g2, s2 = norms
    if pre_norm:
        x = layer_norm(x, g1, s1, 1e-5)
        x = x + self_attention(x, *attention, n_heads, look)
        x = layer_norm(x, g2, s2, 1e-5)
        return x + feed_forward(x, w_1, b_1, w_2, b_2)
    x = layer_norm(x + self_attention(x, *attention, n_heads, look), g1, s1, 1e-5)
    return layer_norm(x + feed_forward(x, w_1, b_1, w_2, b_2), g2, s2, 1e-5)


# %% 07.encoder-layer | right | every step is a pair of functions, the mask is spelt out to (B, N, T, T)
def encoder_layer(x, attention, w_1, b_1, w_2, b_2, norms, n_heads, pre_norm, mask=None):
    n_batch, n_tokens = x.shape[0], x.shape[1]
    if mask is None:
        mask = torch.ones(n_batch, n_tokens, dtype=torch.bool)
    table = mask.reshape(n_batch, 1, 1, n_tokens).expand(n_batch, n_heads, n_tokens, n_tokens)
    w_q, w_k, w_v, w_o = attention.unbind(0)

    def attend(h):
        return self_attention(h, w_q, w_k, w_v, w_o, n_heads, table)

    def think(h):
        return feed_forward(h, w_1, b_1, w_2, b_2)

    for i, step in enumerate([attend, think]):
        gain, shift = norms[2 * i], norms[2 * i + 1]
        if pre_norm:
            x = x + step(layer_norm(x, gain, shift, 1e-5))
        else:
            x = layer_norm(x + step(x), gain, shift, 1e-5)
    return x


# %% 07.feed-forward | wrong | negative numbers are set to 0 after narrowing too | names=bent-twice
def feed_forward(x, w_1, b_1, w_2, b_2):
    hidden = torch.relu(x @ w_1 + b_1)
    return torch.relu(hidden @ w_2 + b_2)


# %% 07.feed-forward | right | einsum, and the hidden numbers multiplied by (h > 0)
def feed_forward(x, w_1, b_1, w_2, b_2):
    h = torch.einsum("...d,df->...f", x, w_1) + b_1
    return torch.einsum("...f,fd->...d", h * (h > 0), w_2) + b_2


# %% 07.gelu | right | Phi by torch.special.ndtr; 1 + tanh u as twice the sigmoid of 2u
def gelu(x):
    exact = x * torch.special.ndtr(x)
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return exact, x * torch.sigmoid(u + u)


# %% 07.gelu | wrong | tanh written out with exp: inf / inf = nan for x of about 20 and more (up to 1,000 allowed)
def gelu(x):
    exact = x * (1 + torch.erf(x / 2**0.5)) / 2
    e = torch.exp(2 * (2 / math.pi) ** 0.5 * (x + 0.044715 * x**3))
    return exact, x / 2 * (1 + (e - 1) / (e + 1))


# %% 07.layer-norm | right | centred by a matrix I - 1/D, in float64 and back
def layer_norm(x, gain, shift, eps):
    d = x.shape[-1]
    centre = torch.eye(d, dtype=torch.float64) - 1 / d
    c = x.double() @ centre
    power = torch.einsum("...d,...d->...", c, c)[..., None]
    return (c * torch.rsqrt(power / d + eps) * gain.double() + shift.double()).to(x.dtype)


# %% 07.layer-norm | wrong | mean of the squares minus square of the mean: cancels in float32 where the mean is thousands of times the deviations | names=variance-by-squares
def layer_norm(x, gain, shift, eps):
    m = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - m * m
    return (x - m) / (var.clamp(min=0) + eps).sqrt() * gain + shift


# %% 07.layer-norm | wrong | eps as a lower limit of the variance (max), not added: shows only for eps about as large as the variance | names=eps-as-floor
def layer_norm(x, gain, shift, eps):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    return centred / torch.sqrt(variance.clamp(min=eps)) * gain + shift


# %% 07.layer-norm-backward | right | the Jacobian of each token written out, token by token, in float64
def layer_norm_backward(g, x, gain, eps):
    d = x.shape[1]
    dx, dgain = [], torch.zeros(d, dtype=torch.float64)
    for g_t, x_t in zip(g.double(), x.double()):
        c = x_t - x_t.sum() / d
        s = math.sqrt(float(c @ c) / d + eps)
        n = c / s
        jacobian = (torch.eye(d, dtype=torch.float64) - 1 / d - torch.outer(n, n) / d) / s
        dx.append((g_t * gain.double()) @ jacobian)
        dgain = dgain + g_t * n
    return torch.stack(dx).to(x.dtype), dgain.to(x.dtype), g.double().sum(0).to(x.dtype)


# %% 07.layer-norm-backward | wrong | the gradient is multiplied by the gain at the end, after the two means, not before them (right for equal gains) | names=gain-last
def layer_norm_backward(g, x, gain, eps):
    c = x - x.mean(dim=-1, keepdim=True)
    inverse = 1 / torch.sqrt((c**2).mean(dim=-1, keepdim=True) + eps)
    n = c * inverse
    dx = inverse * (g - g.mean(dim=-1, keepdim=True) - n * (g * n).mean(dim=-1, keepdim=True)) * gain
    return dx, (g * n).sum(dim=0), g.sum(dim=0)


# %% 07.parameters | wrong | every bias of the network has D numbers, also those of the matrices with F columns | names=biases-of-the-width
def encoder_parameters(d_model, d_hidden, n_layers, gated, bias, pre_norm):
    matrices = 3 if gated else 2
    layer = 4 * d_model**2 + matrices * d_model * d_hidden + 4 * d_model
    if bias:
        layer += (4 + matrices) * d_model
    return n_layers * layer + (2 * d_model if pre_norm else 0)


# %% 07.parameters | wrong | the gate's bias is forgotten: wrong only where gated and bias are both True | names=gate-bias-forgotten
def encoder_parameters(d_model, d_hidden, n_layers, gated, bias, pre_norm):
    n = 4 * d_model * d_model + (2 + gated) * d_model * d_hidden + 4 * d_model
    n += bias * (5 * d_model + d_hidden)
    return n * n_layers + 2 * d_model * pre_norm


# %% 07.pooling | right | weights 1/n for real tokens, einsum
def mean_of_real(x, mask):
    weights = mask.to(x.dtype)
    weights = weights / weights.sum(dim=1, keepdim=True)
    return torch.einsum("bt,btd->bd", weights, x)


# %% 07.pooling | wrong | takes the first n rows, n the number of real tokens: wrong where padding is on the left or in the middle | names=counted-from-left
def mean_of_real(x, mask):
    lengths = mask.sum(dim=1)
    return torch.stack([row[: int(n)].mean(dim=0) for row, n in zip(x, lengths)])


# %% 07.residual | right | recursion over the list of matrices
def through_layers(x, w):
    if len(w) == 0:
        return x
    return through_layers(x + torch.clamp(x @ w[0], min=0), w[1:])


# %% 07.residual | wrong | every layer's output is added to the first input, not to the layer's own input | names=start-again
def through_layers(x, w):
    h = x
    for matrix in w:
        h = x + torch.relu(h @ matrix)
    return h


# %% 07.rms-norm | wrong | Gemma's convention: multiplies by 1 + gain | names=other-variant
def rms_norm(x, gain, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * (1 + gain)


# %% 07.rms-norm | wrong | sum of the squares instead of their mean (unit length) | names=sum-of-squares
def rms_norm(x, gain, eps):
    return gain * x / torch.sqrt((x**2).sum(dim=-1, keepdim=True) + eps)


# %% 07.sublayer | wrong | norm of the network's output, then the sum (norm inside the residual branch) | names=sum-not-normed
def sublayer(x, w_1, b_1, w_2, b_2, gain, shift):
    return x + layer_norm(feed_forward(x, w_1, b_1, w_2, b_2), gain, shift, 1e-5)


# %% 07.sublayer | wrong | pre-LN: the norm goes before the network | names=other-variant
def sublayer(x, w_1, b_1, w_2, b_2, gain, shift):
    h = layer_norm(x, gain, shift, 1e-5)
    return x + feed_forward(h, w_1, b_1, w_2, b_2)


# %% 07.swiglu | right | z / (1 + exp(-z)), whose gradient is NaN where z is below about -90, which no sentence rules out
def swiglu(x, w_gate, w_1, w_2):
    z = x @ w_gate
    return (z / (1 + torch.exp(-z)) * (x @ w_1)) @ w_2


# %% 07.swiglu | right | both matrices in one product; the sigmoid by way of tanh
def swiglu(x, w_gate, w_1, w_2):
    z, h = (x @ torch.cat([w_gate, w_1], dim=1)).chunk(2, dim=-1)
    return (h * z * 0.5 * (1 + torch.tanh(0.5 * z))) @ w_2
