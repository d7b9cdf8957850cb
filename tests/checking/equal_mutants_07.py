"""Mutants of chapter 7 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum or product of numbers does not depend on the order of its terms"
TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
PUBLIC = "the public variant has this constant at the value that changes nothing; another variant would tell"
OTHER = "the public variant, norm after the sum, never comes here; the other variant does"

SAME = "with the norm after the sum, inside is x by another name"
NORM = "inside = layer_norm({}) if norm_first else x"

EQUAL: list[tuple[str, ...]] = [
    ("07.sublayer", "y = {} + feed_forward({}, w_1, b_1, w_2, b_2)", SAME, "inside; x"),
    (
        "07.sublayer",
        NORM.format("{}, gain, shift, 1e-05"),
        OTHER,
        "b_1; b_2; gain; inside; norm_first; shift; w_1; w_2; y",
    ),
    ("07.sublayer", NORM.format("x, {}, shift, 1e-05"), OTHER, "b_1; b_2; inside; norm_first; shift; w_1; w_2; x; y"),
    ("07.sublayer", NORM.format("x, gain, {}, 1e-05"), OTHER, "b_1; b_2; gain; inside; norm_first; w_1; w_2; x; y"),
    ("07.sublayer", NORM.format("x, gain, shift, {}"), OTHER, "1.00001; 5e-06"),
    (
        "07.sublayer",
        "return {} if norm_first else layer_norm(y, gain, shift, 1e-05)",
        OTHER,
        "b_1; b_2; gain; inside; norm_first; shift; w_1; w_2; x",
    ),
    ("07.rms-norm", "return x / torch.sqrt(mean_square + eps) * gain", PUBLIC),
    ("07.layer-norm-backward", "mean = x.mean(dim=1, keepdim=True)", TWO_AXES),
    ("07.layer-norm-backward", "root = torch.sqrt((x - mean).square().mean(dim=1, keepdim=True) + eps)", TWO_AXES),
    ("07.layer-norm-backward", "share = (h * y).mean(dim=1, keepdim=True)", TWO_AXES),
    ("07.layer-norm-backward", "dx = (h - h.mean(dim=1, keepdim=True) - y * share) / root", TWO_AXES),
    ("07.swiglu", "gate = z * torch.sigmoid(z)", PUBLIC),
    ("07.pooling", "count = mask.sum(dim=-1, keepdim=True)", TWO_AXES),
    ("07.rms-norm", "return x / torch.sqrt(eps + mean_square) * (base + gain)", COMMUTES),
    ("07.sublayer", "y = feed_forward(inside, w_1, b_1, w_2, b_2) + x", COMMUTES),
    ("07.encoder-layer", "x = look(layer_norm(x, gain_1, shift_1, 1e-05)) + x", COMMUTES),
    ("07.encoder-layer", "return think(layer_norm(x, gain_2, shift_2, 1e-05)) + x", COMMUTES),
    ("07.encoder-layer", "x = layer_norm(look(x) + x, gain_1, shift_1, 1e-05)", COMMUTES),
    ("07.encoder-layer", "return layer_norm(think(x) + x, gain_2, shift_2, 1e-05)", COMMUTES),
]
