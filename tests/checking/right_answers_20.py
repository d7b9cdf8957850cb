"""Chapter 20: right answers written otherwise, by the part of the chapter."""

from right_answers_20_scores import SCORES

RIGHT = {**SCORES}
