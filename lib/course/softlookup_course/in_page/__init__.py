"""Graded tasks in the pages of the book: what is packed for a page, and what judges an answer there."""
