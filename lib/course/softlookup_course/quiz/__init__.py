"""Questions that a page asks and answers by itself: a number, a guess, a shape, a row, or a cell to point at.

The right answer and those of the known mistakes are computed from the descriptions that the notebooks' checks use, so
that a wrong answer which equals a known mistake's is called by that mistake's name, with no server.
"""

from softlookup_course.quiz.asking import Question, ask
from softlookup_course.quiz.kinds import Cell, Guess, Number, Row, Shape

__all__ = ["Cell", "Guess", "Number", "Question", "Row", "Shape", "ask"]
