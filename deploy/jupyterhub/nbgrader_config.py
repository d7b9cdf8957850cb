"""Settings of nbgrader for everybody on the hub: copy this file to .venv/etc/jupyter/ of the checkout."""

import os

c = get_config()  # noqa: F821  (nbgrader defines it when it reads this file)

c.CourseDirectory.course_id = "softlookup"

# A folder that everybody may write to: without it students see "Unwritable directory".
c.Exchange.root = os.environ.get("SOFTLOOKUP_EXCHANGE", "/srv/softlookup/exchange")

# Of an assignment that was released for each student, everybody fetches their own notebook.
c.ExchangeFactory.fetch_assignment = "softlookup_grader.platforms.for_nbgrader.FetchOwn"
