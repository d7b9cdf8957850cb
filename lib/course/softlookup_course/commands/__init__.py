"""The course's commands, by audience. Each imports what it needs when it runs."""

from softlookup_course.commands import author, bench, course, handing_out, instructor, student, talk, vivas

AUDIENCES = {
    "For students": student.COMMANDS,
    "For readers": talk.COMMANDS,
    "For instructors": (*course.COMMANDS, *instructor.COMMANDS, *handing_out.COMMANDS, *vivas.COMMANDS),
    "For authors": author.COMMANDS,
    "Measurements": bench.COMMANDS,
}
