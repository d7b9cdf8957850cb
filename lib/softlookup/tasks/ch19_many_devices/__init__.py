"""Chapter 19, many devices: its tasks in the order of the notebook."""

TASKS = ()
