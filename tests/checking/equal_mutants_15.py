"""Chapter 15: mutants that are right, and why."""

EQUAL = {}
