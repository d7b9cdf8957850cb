"""Mutants of chapter 13 that are right: task, changed statement, and why nothing tells them apart."""

DEFAULT = "in the public variant it is the exact GELU, which is torch's default"
WIDTH = "all of these have the width D as their last axis"
TWO_AXES = "there are two axes, so the last one is axis 1, which is also normalize's default"
PAIRS = "there is one text for each picture, so both are counted"
SIGN = "in the public variant the sign is 1"
FROM_BEHIND = "the same axis, counted from the other end"
PICTURES = "there is a row of patches for each picture"
SQUARE = "maps are squares, and mean keeps their dtype"
HEADS = "queries, keys and values have the same head width here"
ONE_ROW = "the axis has one row, the first and the last"
BLIND = "where nothing is seen exp(-inf) is 0, whatever finite number is taken off"

EQUAL: list[tuple[str, ...]] = [
    ("13.patches", "order = (0, 2, 4, 1, -3, 5)", FROM_BEHIND),
    ("13.tokens", "first = class_token.expand(len(patches), 1, -1)", PICTURES),
    ("13.frames", "begins = range(0, samples.shape[-1] - width + 1, hop)", TWO_AXES),
    ("13.look", "s = q @ k.transpose(2, -1) / math.sqrt(q.shape[-1])", FROM_BEHIND),
    ("13.look", "s = q @ k.transpose(-2, -1) / math.sqrt({}.shape[-1])", HEADS, "k; v"),
    ("13.contrastive", "i = F.normalize(images)", TWO_AXES),
    ("13.contrastive", "i = F.normalize(images, dim=1)", TWO_AXES),
    ("13.contrastive", "t = F.normalize(texts)", TWO_AXES),
    ("13.contrastive", "t = F.normalize(texts, dim=1)", TWO_AXES),
    ("13.contrastive", "s = i @ t.T * torch.exp(log_scale)", SIGN),
    ("13.contrastive", "own = torch.arange(len({}))", PAIRS, "i; images; t; texts"),
    ("13.zero-shot", "i = F.normalize(images)", TWO_AXES),
    ("13.zero-shot", "i = F.normalize(images, dim=1)", TWO_AXES),
    ("13.zero-shot", "t = F.normalize(t.mean(dim=1))", TWO_AXES),
    ("13.zero-shot", "t = F.normalize(t.mean(dim=1), dim=1)", TWO_AXES),
    ("13.zero-shot", "return torch.softmax(i @ t.T * scale, dim=1)", TWO_AXES),
    ("13.rollout", "itself = torch.eye(a.shape[{}], dtype=a.dtype)", SQUARE, "1; -2"),
    ("13.rollout", "itself = torch.eye(maps.shape[-1], dtype=a.dtype)", SQUARE),
    ("13.rollout", "itself = torch.eye(a.shape[-1], dtype=maps.dtype)", SQUARE),
    ("13.step", "y = (f[..., None, :] @ key_values)[..., -1, :] / (f * keys).sum(dim=-1, keepdim=True)", ONE_ROW),
    ("13.merge", "level = m.masked_fill(m == float('-inf'), {})", BLIND, "1.0; -1.0"),
    ("13.published", "h = F.gelu(x @ w_in.T + b_in)", DEFAULT),
    ("13.published", "return F.layer_norm(y, {}.shape[-1:], gain, bias, eps=1e-12)", WIDTH, "b_out; bias; gain; w_in"),
    ("13.published", "return F.layer_norm(y, x.shape[-1:], gain, bias, eps=1e-12)", WIDTH),
]
