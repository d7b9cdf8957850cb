"""Mutants of chapter 0 that are right: task, changed statement, and why nothing tells them apart."""

TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
SQUARED = "a difference that is squared may be taken either way round"
ONE_COLUMN = "predictions have one column: the first is the last"
AS_MANY_ROWS = "all of them have one row for each example of the batch"

EQUAL: list[tuple[str, ...]] = [
    ("00.error", "difference = target - predicted[:, 0]", SQUARED),
    ("00.error", "difference = predicted[:, -1] - target", ONE_COLUMN),
    ("00.softmax", "return (e / e.sum(axis=-1, keepdims=True)).tolist()", TWO_AXES),
    ("00.cross-entropy", "log_p = torch.log_softmax(logits, dim=1)", TWO_AXES),
    ("00.cross-entropy", "picked = log_p[torch.arange(len({})), target]", AS_MANY_ROWS, "log_p; logits"),
    ("00.gradient", "return 2 * x.T @ error / len({})", AS_MANY_ROWS, "error; x"),
]
