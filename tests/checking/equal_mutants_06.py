"""Mutants of chapter 6 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum or a product of numbers does not depend on the order"
FLOAT32 = "the result is then a float32 one, and is held to what float32 can do"
FLOAT_ONES = "ones are exact in every dtype, and torch.cat takes the wider of the two"
FOUR_AXES = "the task's arrays have four axes, so axis 2 is the last but one"
TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
TWO_NUMBERS = "points have two numbers, so the second is the last one"
SAME_DTYPE = "all vectors of a question have one dtype"
SAME_WIDTH = "queries, keys and vectors of distances have one width"
AS_MANY = "there are as many values as keys"
ONE_ROW = "there is one position, so its row is the first and the last"
NOT_TAKEN = "near distances have a bucket each, so what the logarithm makes of them is not taken"
HALF = "half of an even number of buckets is as many as the other half"
FIRST_BUCKET = "the first logarithm is 0, which gives the same bucket"
ONES = "x, new = (torch.cat([a, torch.ones(len(a), 1, dtype={}.dtype)], dim=1) for a in (x, new))"

EQUAL: list[tuple[str, ...]] = [
    ("06.angles", "i = torch.arange((width + 1) // 2)", FLOAT32),
    ("06.sinusoids", "table = torch.zeros(length, d_model)", FLOAT32),
    ("06.add", "rows = table[start:length + start].to(x.dtype)", COMMUTES),
    ("06.probe", "x, new = (torch.cat([a, torch.ones(len(a), 1)], dim=1) for a in (x, new))", FLOAT_ONES),
    ("06.probe", "x, new = (torch.cat([a, torch.ones(len(a), 1, dtype=a.dtype)], dim=-1) for a in (x, new))", TWO_AXES),
    ("06.probe", ONES.format("labels"), FLOAT_ONES),
    ("06.probe", ONES.format("new"), SAME_DTYPE),
    ("06.probe", ONES.format("x"), SAME_DTYPE),
    ("06.probe", "wanted = nn.functional.one_hot(labels).to(new.dtype)", SAME_DTYPE),
    ("06.shift", "turned = position_angles(torch.tensor([steps]), d_model, base)[-1]", ONE_ROW),
    ("06.shift", "matrix = torch.zeros(d_model, d_model)", FLOAT32),
    ("06.shaw", "content = q @ k.transpose(2, -1)", FOUR_AXES),
    ("06.shaw", "return (content + distance) / math.sqrt({}.shape[-1])", SAME_WIDTH, "k; own; table"),
    ("06.buckets", "ratio = torch.log(back.clamp(min={}) / alone) / math.log(farthest / alone)", NOT_TAKEN, "2; 0; -1"),
    ("06.buckets", "far = alone + (ratio * alone).long()", HALF),
    ("06.alibi", "head = torch.arange(1, n_heads + 1)", FLOAT32),
    ("06.turn", "a, b = (x[..., 0], x[..., -1])", TWO_NUMBERS),
    ("06.rotary", "where = torch.arange(start, x.shape[2] + start)", COMMUTES),
    ("06.rotary", "where = torch.arange(start, start + x.shape[-2])", FOUR_AXES),
    ("06.convert", "return pairs.transpose(2, -1).flatten(1)", FOUR_AXES),
    ("06.cached", "n_queries, n_keys = (q.shape[-2], k.shape[2])", FOUR_AXES),
    ("06.cached", "n_queries, n_keys = (q.shape[2], k.shape[-2])", FOUR_AXES),
    ("06.cached", "n_queries, n_keys = (q.shape[2], v.shape[2])", AS_MANY),
    ("06.cached", "s = q @ k.transpose(2, -1) / math.sqrt(q.shape[-1])", FOUR_AXES),
    ("06.cached", "s = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])", SAME_WIDTH),
    ("06.buckets", "return torch.where(back <= alone, back, far)", FIRST_BUCKET),
]
