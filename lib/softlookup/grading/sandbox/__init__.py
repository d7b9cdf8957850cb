"""Where submissions run: bubblewrap, a preloaded zygote in it, and a process of its own for each submission.

Two sides read this package. frames.py, held.py, inside.py, sound_calls.py and zygote.py run in the sandbox and know no
right answer; the others stay outside. This file so imports nothing.
"""
