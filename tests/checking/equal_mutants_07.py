"""Mutants of chapter 7 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum or product of numbers does not depend on the order of its terms"
TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
PUBLIC = "the public variant has this constant at the value that changes nothing; another variant would tell"
OTHER_BRANCH = "the public variant, norm after the sum, never comes here; the other variant does"

_ELSEWHERE = {
    "inside = layer_norm({}, gain, shift, 1e-05) if norm_first else x": (
        "b_1 b_2 gain inside norm_first shift w_1 w_2 y"
    ),
    "inside = layer_norm(x, {}, shift, 1e-05) if norm_first else x": "b_1 b_2 inside norm_first shift w_1 w_2 x y",
    "inside = layer_norm(x, gain, {}, 1e-05) if norm_first else x": "b_1 b_2 gain inside norm_first w_1 w_2 x y",
    "inside = layer_norm(x, gain, shift, {}) if norm_first else x": "1.00001 5e-06",
    "return {} if norm_first else layer_norm(y, gain, shift, 1e-05)": "b_1 b_2 gain inside norm_first shift w_1 w_2 x",
}

EQUAL: list[tuple[str, str, str]] = [
    *(
        ("07.sublayer", line.replace("{}", name), OTHER_BRANCH)
        for line, names in _ELSEWHERE.items()
        for name in names.split()
    ),
    (
        "07.sublayer",
        "y = inside + feed_forward(inside, w_1, b_1, w_2, b_2)",
        "with the norm after the sum, inside is x by another name",
    ),
    (
        "07.sublayer",
        "y = x + feed_forward(x, w_1, b_1, w_2, b_2)",
        "with the norm after the sum, inside is x by another name",
    ),
    ("07.rms-norm", "return x / torch.sqrt(mean_square + eps) * gain", PUBLIC),
    ("07.layer-norm-backward", "mean = x.mean(dim=1, keepdim=True)", TWO_AXES),
    ("07.layer-norm-backward", "mean = x.mean(dim=--1, keepdim=True)", TWO_AXES),
    ("07.layer-norm-backward", "root = torch.sqrt((x - mean).square().mean(dim=1, keepdim=True) + eps)", TWO_AXES),
    ("07.layer-norm-backward", "root = torch.sqrt((x - mean).square().mean(dim=--1, keepdim=True) + eps)", TWO_AXES),
    ("07.layer-norm-backward", "share = (h * y).mean(dim=1, keepdim=True)", TWO_AXES),
    ("07.layer-norm-backward", "share = (h * y).mean(dim=--1, keepdim=True)", TWO_AXES),
    ("07.layer-norm-backward", "dx = (h - h.mean(dim=1, keepdim=True) - y * share) / root", TWO_AXES),
    ("07.layer-norm-backward", "dx = (h - h.mean(dim=--1, keepdim=True) - y * share) / root", TWO_AXES),
    ("07.swiglu", "gate = z * torch.sigmoid(z)", PUBLIC),
    ("07.pooling", "count = mask.sum(dim=-1, keepdim=True)", TWO_AXES),
    ("07.residual", "x = torch.relu(x @ w_l) + x", COMMUTES),
    ("07.layer-norm", "y = centred / torch.sqrt(eps + variance)", COMMUTES),
    ("07.layer-norm", "return shift + y * gain", COMMUTES),
    ("07.layer-norm", "return gain * y + shift", COMMUTES),
    ("07.rms-norm", "return (base + gain) * (x / torch.sqrt(mean_square + eps))", COMMUTES),
    ("07.rms-norm", "return x / torch.sqrt(mean_square + eps) * (gain + base)", COMMUTES),
    ("07.rms-norm", "return x / torch.sqrt(eps + mean_square) * (base + gain)", COMMUTES),
    ("07.layer-norm-backward", "root = torch.sqrt(eps + (x - mean).square().mean(dim=-1, keepdim=True))", COMMUTES),
    ("07.layer-norm-backward", "root = torch.sqrt((mean - x).square().mean(dim=-1, keepdim=True) + eps)", COMMUTES),
    ("07.layer-norm-backward", "h = gain * g", COMMUTES),
    ("07.layer-norm-backward", "share = (y * h).mean(dim=-1, keepdim=True)", COMMUTES),
    ("07.layer-norm-backward", "dx = (h - h.mean(dim=-1, keepdim=True) - share * y) / root", COMMUTES),
    ("07.layer-norm-backward", "return (dx, (y * g).sum(dim=0), g.sum(dim=0))", COMMUTES),
    ("07.feed-forward", "hidden = torch.relu(b_1 + x @ w_1)", COMMUTES),
    ("07.feed-forward", "return b_2 + hidden @ w_2", COMMUTES),
    ("07.gelu", "exact = (1 + torch.erf(x / math.sqrt(2))) * x / 2", COMMUTES),
    ("07.gelu", "exact = x * (torch.erf(x / math.sqrt(2)) + 1) / 2", COMMUTES),
    ("07.gelu", "inner = (x + 0.044715 * x ** 3) * math.sqrt(2 / math.pi)", COMMUTES),
    ("07.gelu", "inner = math.sqrt(2 / math.pi) * (0.044715 * x ** 3 + x)", COMMUTES),
    ("07.gelu", "inner = math.sqrt(2 / math.pi) * (x + x ** 3 * 0.044715)", COMMUTES),
    ("07.gelu", "by_tanh = (1 + torch.tanh(inner)) * x / 2", COMMUTES),
    ("07.gelu", "by_tanh = x * (torch.tanh(inner) + 1) / 2", COMMUTES),
    ("07.swiglu", "gate = torch.sigmoid(beta * z) * z", COMMUTES),
    ("07.swiglu", "gate = z * torch.sigmoid(z * beta)", COMMUTES),
    ("07.swiglu", "return x @ w_1 * gate @ w_2", COMMUTES),
    ("07.sublayer", "y = feed_forward(inside, w_1, b_1, w_2, b_2) + x", COMMUTES),
    ("07.parameters", "attention = d_model ** 2 * 4", COMMUTES),
    ("07.parameters", "hidden = d_hidden * ((wide + 1) * d_model)", COMMUTES),
    ("07.parameters", "hidden = d_model * (wide + 1) * d_hidden", COMMUTES),
    ("07.parameters", "hidden = (1 + wide) * d_model * d_hidden", COMMUTES),
    ("07.parameters", "biases = d_model + (4 * d_model + wide * d_hidden) if bias else 0", COMMUTES),
    ("07.parameters", "biases = wide * d_hidden + 4 * d_model + d_model if bias else 0", COMMUTES),
    ("07.parameters", "biases = d_model * 4 + wide * d_hidden + d_model if bias else 0", COMMUTES),
    ("07.parameters", "biases = 4 * d_model + d_hidden * wide + d_model if bias else 0", COMMUTES),
    ("07.parameters", "norm = d_model * 2", COMMUTES),
    ("07.parameters", "return last + n_layers * (attention + hidden + biases + 2 * norm)", COMMUTES),
    ("07.parameters", "return (attention + hidden + biases + 2 * norm) * n_layers + last", COMMUTES),
    ("07.parameters", "return n_layers * (2 * norm + (attention + hidden + biases)) + last", COMMUTES),
    ("07.parameters", "return n_layers * (biases + (attention + hidden) + 2 * norm) + last", COMMUTES),
    ("07.parameters", "return n_layers * (attention + hidden + biases + norm * 2) + last", COMMUTES),
    ("07.parameters", "return n_layers * (hidden + attention + biases + 2 * norm) + last", COMMUTES),
    ("07.encoder-layer", "x = look(layer_norm(x, gain_1, shift_1, 1e-05)) + x", COMMUTES),
    ("07.encoder-layer", "return think(layer_norm(x, gain_2, shift_2, 1e-05)) + x", COMMUTES),
    ("07.encoder-layer", "x = layer_norm(look(x) + x, gain_1, shift_1, 1e-05)", COMMUTES),
    ("07.encoder-layer", "return layer_norm(think(x) + x, gain_2, shift_2, 1e-05)", COMMUTES),
]
