"""The page of the book that the tasks of this chapter belong to, and names for what they pass around."""

PAGE = "03_tokens_and_embeddings"

Words = list[tuple[list[str], int]]
"""Words as symbols, each with how often it occurs."""
