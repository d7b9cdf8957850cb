"""Mutants of chapter 20's tasks on scores that are right: task, changed statement, and why nothing tells them apart."""

LAST_OF_TWO = "of two axes 1 is the last one"

SCORES = [
    ("20.pass-at-k", "misses = np.ones(len(wrong))", "there are as many counts of wrong samples as of correct ones"),
    ("20.paired", "means = gains[draws].mean(axis=-1)", LAST_OF_TWO),
    ("20.choice", "by_sum = log_probs.argmax(axis=-1)", LAST_OF_TWO),
    ("20.choice", "by_byte = (log_probs / lengths).argmax(axis=-1)", LAST_OF_TWO),
    ("20.choice", "return np.stack([by_sum, by_byte], axis=-1)", LAST_OF_TWO),
]
