"""Mutants of chapter 20 that are right: task, changed statement, and why nothing tells them apart."""

from equal_mutants_20_scores import SCORES

EQUAL = [*SCORES]
