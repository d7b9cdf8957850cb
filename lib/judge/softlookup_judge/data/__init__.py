"""What a graded task is: its description, its notebook, its variants, what a check answers, and how results compare."""
