"""Mutants of chapter 20's supervised half that are right: task, changed statement, and why nothing tells them apart."""

SFT: list[tuple[str, str, str]] = []
