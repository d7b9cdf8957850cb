# %% 07.residual | wrong | one residual connection goes around all layers together | names=one-road-around-all
def through_layers(x, w):
    y = x
    for m in w:
        y = torch.relu(y @ m)
    return x + y


# %% 07.layer-norm | wrong | the code computes one statistic over the whole tensor | names=whole-tensor
def layer_norm(x, gain, shift, eps):
    return gain * (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps) + shift


# %% 07.rms-norm | wrong | the code always uses eps = 1e-6 | names=fixed-eps
def rms_norm(x, gain, eps):
    return gain * x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6)


# %% 07.layer-norm-backward | wrong | the gradients of gain and shift are swapped | names=gain-and-shift-exchanged
def layer_norm_backward(g, x, gain, eps):
    c = x - x.mean(-1, keepdim=True)
    root = torch.sqrt(c.square().mean(-1, keepdim=True) + eps)
    y = c / root
    h = g * gain
    dx = (h - h.mean(-1, keepdim=True) - y * (h * y).mean(-1, keepdim=True)) / root
    return dx, g.sum(0), (g * y).sum(0)


# %% 07.feed-forward | wrong | `return torch.clamp(x @ w_1 + b_1, 0, 6) @ w_2 + b_2` in place of `hidden = torch.relu(x @ w_1 + b_1) return hidden @ w_2 + b_2`
def feed_forward(x, w_1, b_1, w_2, b_2):
    return torch.clamp(x @ w_1 + b_1, 0, 6) @ w_2 + b_2


# %% 07.feed-forward | wrong | `return torch.clamp(x @ w_1 + b_1, 0, 20) @ w_2 + b_2` in place of `hidden = torch.relu(x @ w_1 + b_1) return hidden @ w_2 + b_2`
def feed_forward(x, w_1, b_1, w_2, b_2):
    return torch.clamp(x @ w_1 + b_1, 0, 20) @ w_2 + b_2


# %% 07.swiglu | wrong | the gate has no activation function, so the code multiplies two plain products | names=gate-not-bent
def swiglu(x, w_gate, w_1, w_2):
    return ((x @ w_gate) * (x @ w_1)) @ w_2


# %% 07.sublayer | wrong | the code normalises the sublayer's output before the sum | names=sum-not-normed
def sublayer(x, w_1, b_1, w_2, b_2, gain, shift):
    w = w_1, b_1, w_2, b_2
    return x + layer_norm(feed_forward(x, *w), gain, shift, 1e-5)


# %% 07.parameters | wrong | the code counts the last norm in every layer | names=last-norm-in-every-layer
def encoder_parameters(d, f, n, gated, bias, pre):
    one = 4 * d * d + (2 + gated) * d * f + 4 * d
    last = 2 * d if pre else 0
    return n * (one + last + bias * (5 * d + (1 + gated) * f))


# %% 07.pooling | wrong | has `return torch.stack([one[:n].mean(0) for one, n in zip(x, mask.sum(1))])`
def mean_of_real(x, mask):
    return torch.stack([one[:n].mean(0) for one, n in zip(x, mask.sum(1))])


# %% 07.pooling | wrong | the code divides by the number of real tokens in the whole batch | names=all-counted-together
def mean_of_real(x, mask):
    return (x * mask[..., None]).sum(1) / mask.sum()
