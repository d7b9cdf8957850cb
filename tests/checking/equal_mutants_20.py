"""Mutants of chapter 20 that are right: task, changed statement, and why nothing tells them apart."""

EQUAL: list[tuple[str, str, str]] = []
