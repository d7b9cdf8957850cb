"""What judges need, imported once by the process that they are forked from; importing this module is all it is for."""

import gc

gc.disable()  # all of this stays; to look for garbage in it takes a fifth of the time

import nbconvert.filters.markdown_mistune  # noqa: E402, F401

import softlookup_grader.judging.examine  # noqa: E402, F401

gc.enable()
gc.freeze()  # no judge looks for garbage in it either: that would give each a copy of its own
