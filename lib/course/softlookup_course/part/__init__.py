"""A part of the course in a lecturer's own folder: its pages, its schedule, and what its book is built from."""

from softlookup_course.part.building import keep_to_notebook, own_settings, prepare
from softlookup_course.part.contents import chapters_of, contents
from softlookup_course.part.folder import Written, write_pages
from softlookup_course.part.schedule import left_out_sentence, schedule_page

__all__ = [
    "Written",
    "chapters_of",
    "contents",
    "keep_to_notebook",
    "left_out_sentence",
    "own_settings",
    "prepare",
    "schedule_page",
    "write_pages",
]
