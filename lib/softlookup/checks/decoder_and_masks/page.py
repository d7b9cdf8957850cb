"""The page of the book that the tasks of this chapter belong to, and a name for what switches mistakes on."""

PAGE = "08_decoder_and_masks"

Flags = frozenset[str]
