"""One submission: rebuilt from the release, run, and judged task by task."""
