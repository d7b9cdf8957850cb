"""Parallel programs, rank by rank: run on numpy, their messages delivered, checked and counted."""
