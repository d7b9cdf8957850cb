"""The page of the book that the tasks of this chapter belong to, and a name for what switches mistakes on."""

PAGE = "13_beyond_text"

Flags = frozenset[str]
