"""Exam questions that are drawn anew from a seed, with answers that are computed, and hints for marking."""

from softlookup_course.exam.printed import write_exam, write_page
from softlookup_course.exam.question import Drawn, ExamQuestion, ExpectedMistake
from softlookup_course.exam.sheet import ExamError, Placed, Sheet, draw_sheet, parse_chapters
from softlookup_course.exam.written import key_markdown, sheet_markdown

__all__ = [
    "Drawn",
    "ExamError",
    "Placed",
    "ExamQuestion",
    "Sheet",
    "ExpectedMistake",
    "draw_sheet",
    "key_markdown",
    "parse_chapters",
    "sheet_markdown",
    "write_exam",
    "write_page",
]
