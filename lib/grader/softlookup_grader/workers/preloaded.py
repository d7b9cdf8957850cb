"""What judges need, made ready by the process that they are forked from; importing this module is all it is for."""

import gc

gc.disable()  # all of this stays; to look for garbage in it takes a fifth of the time

import nbformat  # noqa: E402

import softlookup_grader.judging.examine  # noqa: E402, F401
from softlookup_grader.judging.cleaning import safe_markdown  # noqa: E402

nbformat.validate(nbformat.v4.new_notebook())  # the first one compiles a schema
safe_markdown("*an answer*")  # the first one imports the programs that render it

gc.enable()
gc.freeze()  # no judge looks for garbage in it either: that would give each a copy of its own
