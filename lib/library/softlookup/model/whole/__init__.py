"""Whole models, their description, and what training them needs."""
