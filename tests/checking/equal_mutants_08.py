"""Mutants of chapter 8 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "and, sum and product do not depend on the order of their operands"
SQUARE = "masks of tokens that look at each other have as many rows as columns"
ANY = "the product holds counts of paths, and any() asks only whether one is not zero"
UNIT = "in the public variant the unit is 1"
WIDTH = "keys and values have the head width of the queries, so their last axis is as long"
TWO_AXES = "ids and the table have two axes, so axis 1 is the last one"
FOUR_AXES = "the arrays have four axes, so axis 2 is the last but one"
MASKED_FIRST = "masked positions are taken out of it where the inputs are made"
ONE_EACH = "there are as many rows of inputs and of labels as sentences"
VECTORS = "a token has one vector, so there are as many vectors as ids"
FUTURE = "the future leaks through a path where, and only where, one mask lets it"

EQUAL: list[tuple[str, ...]] = [
    ("08.leak", "reached = ((mask | itself).float() @ reached).clamp(max=2)", ANY),
    ("08.leak", "return (seen, reached.triu(1).any())", ANY),
    ("08.logits", "return torch.log_softmax(x @ table.T, dim=-1)", UNIT),
    ("08.cross-attention", "s = q @ k.transpose(-2, -1) / math.sqrt({}.shape[-1])", WIDTH, "k; v"),
    ("08.transformer", "x = self.embedding[ids] * math.sqrt(self.embedding.shape[-1])", TWO_AXES),
    ("08.transformer", "return x + sinusoidal(ids.shape[-1], self.embedding.shape[1]).to(self.embedding)", TWO_AXES),
    ("08.transformer", "return x + sinusoidal(ids.shape[1], self.embedding.shape[-1]).to(self.embedding)", TWO_AXES),
    ("08.transformer", "length = target_ids.shape[-1]", TWO_AXES),
    ("08.combine", "length = ids.shape[-1]", TWO_AXES),
    ("08.leak", "itself = torch.eye(masks.shape[{}], dtype=torch.bool)", SQUARE, "1; -2"),
    ("08.leak", "return (seen, masks.triu(1).any())", FUTURE),
    ("08.labels", "{} = torch.full((len(sentences), longest), pad_id)", ONE_EACH, "inputs; labels"),
    ("08.labels", "labels = torch.full((len(inputs), longest), pad_id)", ONE_EACH),
    ("08.masked-tokens", "exchanged = chosen & (u < 0.9 * share)", MASKED_FIRST),
    ("08.masked-tokens", "exchanged = chosen & ~special & (u < 0.9 * share)", MASKED_FIRST),
    ("08.logits", "return torch.log_softmax(x @ table.T, dim=-1) * unit", UNIT),
    ("08.cross-attention", "s = q @ k.transpose(2, -1) / math.sqrt(q.shape[-1])", FOUR_AXES),
    ("08.decoder-layer", "x = self.attention(normed, normed, mask) + x", COMMUTES),
    ("08.decoder-layer", "x = self.cross(self.norm_2(x), memory, memory_mask) + x", COMMUTES),
    ("08.decoder-layer", "return self.feed_forward(self.norm_3(x)) + x", COMMUTES),
    ("08.transformer", "return x + sinusoidal(x.shape[1], self.embedding.shape[1]).to(self.embedding)", VECTORS),
]
