"""Mutants of chapter 2 that are right: task, changed statement, and why nothing tells them apart."""

TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
NO_LENGTH = "a dot product with a vector of zeros is 0, and 0 over any number is 0"
SAME_SHAPE = "scores and what is made of them have one shape"

EQUAL: list[tuple[str, ...]] = [
    ("02.mix", "weights = amounts / amounts.sum(axis=1, keepdims=True)", TWO_AXES),
    ("02.similarity", "lengths = np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=-1)[None, :]", TWO_AXES),
    ("02.similarity", "lengths = np.linalg.norm(q, axis=-1)[:, None] * np.linalg.norm(k, axis=1)[None, :]", TWO_AXES),
    ("02.similarity", "return dots / np.where(lengths == 0, {}, lengths)", NO_LENGTH, "2; -1"),
    ("02.similarity", "return dots / np.where(dots == 0, 1, lengths)", NO_LENGTH),
    ("02.limit", "best = scores == scores.max(axis=1, keepdims=True)", TWO_AXES),
    ("02.limit", "cold = best / best.sum(axis=1, keepdims=True) @ v", TWO_AXES),
    ("02.limit", "hot = np.full_like(scores, 1 / scores.shape[1]) @ v", TWO_AXES),
    ("02.limit", "hot = np.full_like(scores, 1 / best.shape[-1]) @ v", SAME_SHAPE),
    ("02.analogy", "cosines = table @ target / (np.linalg.norm(table, axis=-1) * np.linalg.norm(target))", TWO_AXES),
    ("02.analogy", "cosines[[a, b, c]] = -10000.0", "no cosine is below -1"),
]
