"""Grading: a course's folder, the class in it, and what the grader says about each submission."""

from softlookup.grading.course.folder import Course, new_course
from softlookup.grading.course.notebooks import BadNotebook, read_notebook
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.records import HandMark, Record, Report, TaskMark
from softlookup.grading.run.engine import grade_assignment
from softlookup.grading.run.request import GradeRequest, Watcher

__all__ = [
    "BadNotebook",
    "Course",
    "CourseError",
    "HandMark",
    "GradeRequest",
    "Record",
    "Report",
    "TaskMark",
    "Watcher",
    "grade_assignment",
    "new_course",
    "read_notebook",
]
