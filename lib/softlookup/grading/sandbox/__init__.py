"""Where submissions run: bubblewrap, a preloaded zygote in it, and a process of its own for each submission.

What lies in ``inside`` runs beside the submission and knows no right answer; ``outside`` is the judge's side. This file
imports nothing.
"""
