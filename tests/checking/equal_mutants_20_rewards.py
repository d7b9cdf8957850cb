"""Mutants of chapter 20's tasks on preferences and rewards that are right: task, changed statement, and why."""

REWARDS: list[tuple[str, str, str]] = []
