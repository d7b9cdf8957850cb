"""Mutants of chapter 17 that are right: task, changed statement, and why nothing tells them apart."""

EQUAL: list[tuple[str, str, str]] = []
