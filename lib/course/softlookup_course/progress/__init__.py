"""A student's own way: copies of the notebooks to work on, what they say of how far one is, and what comes next."""

from softlookup_course.progress.advice import Advice, advise
from softlookup_course.progress.reading import ChapterState, TaskState, read_chapter, read_file_of, read_folder
from softlookup_course.progress.report import as_json, as_script, as_text, chapter_as_text

__all__ = [
    "Advice",
    "ChapterState",
    "TaskState",
    "advise",
    "as_json",
    "as_script",
    "as_text",
    "chapter_as_text",
    "read_chapter",
    "read_file_of",
    "read_folder",
]
