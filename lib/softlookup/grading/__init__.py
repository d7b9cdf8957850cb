"""Grading: a course's folder, the class in it, and what the grader says about each submission."""

from softlookup.grading.course import Course, CourseError, new_course
from softlookup.grading.engine import Order, Watcher, grade_assignment
from softlookup.grading.notebooks import BadNotebook, read_notebook
from softlookup.grading.peer import Autograder, grade_class
from softlookup.grading.records import HandMark, Record, Report, TaskMark

__all__ = [
    "Autograder",
    "BadNotebook",
    "Course",
    "CourseError",
    "HandMark",
    "Order",
    "Record",
    "Report",
    "TaskMark",
    "Watcher",
    "grade_assignment",
    "grade_class",
    "new_course",
    "read_notebook",
]
