"""The order of a check: all tasks by id, whoever answers, and the judge."""
