"""Chapter 19: right answers written otherwise."""

from right_answers_collectives import COLLECTIVES

RIGHT = {**COLLECTIVES}
