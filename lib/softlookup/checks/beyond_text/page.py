"""The page of the book that the tasks of this chapter belong to."""

PAGE = "13_beyond_text"
