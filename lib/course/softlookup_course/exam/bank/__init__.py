"""The bank: questions on every chapter, one module for each."""

from importlib import import_module
from pkgutil import iter_modules

from softlookup_course.exam.question import ExamQuestion

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
QUESTIONS: tuple[ExamQuestion, ...] = tuple(
    sorted(
        (question for module in _MODULES for question in module.ask.questions), key=lambda question: question.chapter
    )
)
"""All questions, by chapter."""
