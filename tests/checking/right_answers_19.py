"""Chapter 19: right answers written otherwise."""

from right_answers_collectives import COLLECTIVES
from right_answers_parallel import PARALLEL

RIGHT = {**COLLECTIVES, **PARALLEL}
