"""The page of the book that the tasks of this chapter belong to, and names for what they pass around."""

Words = list[tuple[list[str], int]]
"""Words as symbols, each with how often it occurs."""
