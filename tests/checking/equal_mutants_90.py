"""Mutants of the capstone that are right: those of the parts' own chapters, and those of what is new."""

import equal_mutants_05
import equal_mutants_08
from softlookup_judge.chapters.ch90_capstone import FROM_EARLIER

HERE = {description.task_id: f"90.{description.task_id.split('.')[1]}" for description in FROM_EARLIER}

FOUR_AXES = "heads have four axes here, so the last but one is axis 2"
SAME_WIDTH = "values have the head width of the queries"
COMMUTES = "or, sum and product do not depend on the order of their operands"
AS_MANY = "there are as many batches as rates"
LAST = "of two axes, axis 1 is the last"
AS_MANY_IDS = "embedded ids are as many as the ids"

EQUAL: list[tuple[str, ...]] = [
    (HERE[task_id], *rest) for task_id, *rest in equal_mutants_05.EQUAL + equal_mutants_08.EQUAL if task_id in HERE
] + [
    ("90.loss", "own = log_p.gather(-1, labels[..., None])[..., -1]", "the axis has one entry, the first and the last"),
    ("90.cross-attention", "s = q @ k.transpose(2, -1) / math.sqrt(q.shape[-1])", FOUR_AXES),
    ("90.cross-attention", "s = q @ k.transpose(-2, -1) / math.sqrt(v.shape[-1])", SAME_WIDTH),
    ("90.decoder-layer", "x = self.attention(normed, normed, mask) + x", COMMUTES),
    ("90.decoder-layer", "x = self.cross(self.norm_2(x), memory, memory_mask) + x", COMMUTES),
    ("90.decoder-layer", "return self.feed_forward(self.norm_3(x)) + x", COMMUTES),
    ("90.transformer", "return x + sinusoidal(x.shape[1], self.embedding.shape[1]).to(self.embedding)", AS_MANY_IDS),
    ("90.train", "for k, (ids, rows, rate) in enumerate(zip(source, target, rates), start=1):", AS_MANY),
    ("90.train", "for k, (ids, rows, rate) in enumerate(zip(source, target, rates, strict=False), start=1):", AS_MANY),
    ("90.greedy", "ended = torch.zeros(len(written), dtype=torch.bool)", "as many rows are written as are read"),
    ("90.greedy", "best = model(source, written)[:, -1].argmax(dim=1)", LAST),
    ("90.greedy", "written = torch.cat([written, best[:, None]], dim=-1)", LAST),
]
