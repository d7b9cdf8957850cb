"""The page of the book that the tasks of this chapter belong to."""

PAGE = "02_soft_lookup"

ONE_MAX = (
    "One maximum is subtracted from the whole table: rows far below it underflow to 0/0. Each row has its own maximum."
)
"""What is said of a softmax with the maximum of the whole table, in two tasks."""
