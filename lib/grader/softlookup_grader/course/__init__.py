"""A course's folder: who is in it, what was handed in and when, and how files are written."""
