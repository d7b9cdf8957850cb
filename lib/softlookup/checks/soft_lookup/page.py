"""The page of the book that the tasks of this chapter belong to."""

PAGE = "02_soft_lookup"
