"""Mistakes in code, whatever the task: habits, slips, and the small edits that make them of right code."""
