"""Settings of nbgrader for a course of these notebooks.

`softlookup sample` and `softlookup release` copy this file into a course's folder, where nbgrader's own
commands read it too.
"""

from softlookup_grader.feedback.page_head import TEMPLATE

c = get_config()  # noqa: F821  (nbgrader defines it when it reads this file)

c.CourseDirectory.course_id = "softlookup"

# The course's time zone, such as "Europe/London": times that name no zone are read in it, and times are shown in it,
# in the formgrader too.
c.NbGraderAPI.timezone = "UTC"

# A check takes a tenth of a second; the first cell imports torch, which can take long on a slow disk.
c.Execute.timeout = 60

# nbgrader's own autograde, and the formgrader's button for it, would run students' code without a sandbox. They refuse,
# and name the command to run. Without this line they work as in nbgrader.
c.Autograde.exporter_class = "softlookup_grader.platforms.for_nbgrader.NoAutograde"

# Feedback goes back through the exchange to those whose notebook came through it.
c.ExchangeFactory.release_feedback = "softlookup_grader.platforms.for_nbgrader.ReleaseFeedback"

# Of an assignment that was released for each student, everybody fetches their own notebook. The students' own
# configuration needs this line, too.
c.ExchangeFactory.fetch_assignment = "softlookup_grader.platforms.for_nbgrader.FetchOwn"

# A link in a hand-in is not followed: it could lead to what only the instructor may read.
c.ExchangeFactory.collect = "softlookup_grader.platforms.for_nbgrader.CollectNoLinks"

# The formgrader loads nothing from other machines: formulas are MathML, which needs no script. It shows code in
# colours, and would take hours over some that a student may hand in.
c.HTMLExporter.template_file = str(TEMPLATE)
c.HTMLExporter.filters = {
    "local_head": "softlookup_grader.feedback.page_head.formgrader_head",
    "markdown2html": "softlookup_grader.feedback.page_markdown.page_markdown",
    "highlight_code": "softlookup_grader.feedback.page_code.highlighted",
}
